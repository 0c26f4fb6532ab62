"""The saved questions give equal answers in DuckDB and Spark: captures, generated traffic, a simulated fleet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession
from simulated_fleet import Mesh, Traffic, write_fleet
from test_ends import counted
from test_fim import Fabric, fabric  # noqa: F401

from rocescope_fleet import open_dataset, saved_questions
from rocescope_fleet.dataset import WINDOWED
from rocescope_fleet.schema import columns, table_names

_DUCKDB = {
    "int64": "BIGINT",
    "float64": "DOUBLE",
    "bool": "BOOLEAN",
    "utf8": "VARCHAR",
    "timestamp[us, UTC]": "TIMESTAMPTZ",
    "binary": "BLOB",
    "list<int64>": "BIGINT[]",
}
ANSWERS = {
    "captures": {
        "capture_health",
        "lossy_connections",
        "receivers_not_ready",
        "failed_connections",
        "slow_connections",
    },
    "rails": {
        "congested_windows",
        "marked_flows",
        "top_flows",
        "events_by_kind",
        "lossy_pairs",
        "retransmitting_hosts",
    },
    "fleet": {"mesh_loss", "mesh_latency", "host_errors", "top_senders", "opcode_mix", "busiest_windows"},
    "loads": {"uneven_links"},
}
"""Which datasets must have an answer to which question: an empty one proves nothing."""


@pytest.fixture(scope="module")
def roots(rails: Path, captures: Path, fabric: Fabric, place: Path) -> dict[str, list[Path]]:  # noqa: F811
    fleet = place / "simulated"
    mesh = Mesh(hosts=4, seconds=30, rails=3, rate=5.0, nic_loss={"10.0.1.2": 0.2})
    write_fleet(fleet, Traffic(boxes=4, seconds=30), mesh, workers=1)
    counted(fleet / "counters", "host-1", "10.0.1.1", 1_767_225_600_000_000_000, {"out_of_sequence": (4, 2)})
    return {
        "captures": [captures],
        "rails": sorted(rails.iterdir()),
        "fleet": sorted(fleet.iterdir()),
        "loads": [fabric.root / "loads"],
    }


def test_there_are_twenty_with_a_sentence_each() -> None:
    questions = saved_questions()
    assert len(questions) == 20
    for question in questions:
        assert question.sentence.endswith("?"), question.name
        assert question.sql.startswith(f"-- {question.sentence}\n") and ";" not in question.sql


@pytest.mark.parametrize("name", list(ANSWERS))
def test_duckdb_and_spark_give_equal_answers(spark: SparkSession, roots: dict[str, list[Path]], name: str) -> None:
    open_dataset(spark, [str(root) for root in roots[name]]).create_views()
    theirs = in_duckdb(roots[name])
    answered = set()
    for question in saved_questions():
        ours = [tuple(row) for row in spark.sql(question.sql).collect()]
        expected = theirs.execute(question.sql).fetchall()
        assert equal(ours, expected), (question.name, ours[:3], expected[:3])
        if ours:
            answered.add(question.name)
    assert answered >= ANSWERS[name], ANSWERS[name] - answered


def in_duckdb(roots: Sequence[Path]) -> duckdb.DuckDBPyConnection:
    """The tables of datasets as views, without the windows that a kill cut off."""
    connection = duckdb.connect()
    for table in table_names():
        files = [str(file) for root in roots for file in sorted(root.glob(f"{table}/*/*/*.parquet"))]
        if not files:
            fields = ", ".join(f'"{column}" {_DUCKDB[kind]}' for column, kind in columns(table))
            connection.execute(f"CREATE TABLE {table} ({fields})")
            continue
        rows = f"SELECT * FROM read_parquet({files}, union_by_name = true)"
        if table in WINDOWED:
            rows += " WHERE (observer, window_start_ns) IN (SELECT (observer, window_start_ns) FROM windows)"
        connection.execute(f"CREATE VIEW {table} AS {rows}")
    return connection


def equal(ours: Sequence[tuple[Any, ...]], theirs: Sequence[tuple[Any, ...]]) -> bool:
    """The same rows in the same order; floating-point sums may differ in the order of their parts."""
    return len(ours) == len(theirs) and all(
        same(one, other)
        for row, expected in zip(ours, theirs, strict=True)
        for one, other in zip(row, expected, strict=True)
    )


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12)
    return bool(one == other)
