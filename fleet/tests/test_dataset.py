"""Readers: several boxes, partitions, versions, windows that a kill cut off."""

from __future__ import annotations

import json
import os
import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from conftest import Rocescope
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from simulated_fleet import SECOND, START_NS, Traffic, write_box, write_rows

from rocescope_fleet import open_dataset, with_date
from rocescope_fleet.dataset import partitions
from rocescope_fleet.schema import FORMAT_VERSION, columns, spark_schema, table_names

TABLES = Path(__file__).resolve().parents[1] / "rocescope_fleet/tables.json"


def test_the_schema_is_that_of_the_binary(rocescope: Rocescope) -> None:
    """With UPDATE_SNAPSHOTS=1 it is written instead."""
    known = rocescope.json("dataset", "schema")
    tables = {table["name"]: [[c["name"], c["type"]] for c in table["columns"]] for table in known["tables"]}
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(of)}" for name, of in tables.items())
    document = f'{{\n  "format_version": {known["format_version"]},\n  "tables": {{\n{lines}\n  }}\n}}\n'
    if os.environ.get("UPDATE_SNAPSHOTS"):
        TABLES.write_text(document)
    assert TABLES.read_text() == document, "run with UPDATE_SNAPSHOTS=1"
    assert known["format_version"] == FORMAT_VERSION


def test_rows_of_several_datasets_keep_their_box(spark: SparkSession, rails: Path, captures: Path) -> None:
    fleet = open_dataset(spark, [f"{rails}/*", str(captures)])
    boxes = {
        (row.dataset.rsplit("/", 1)[1], row.observer)
        for row in fleet.windows.select("dataset", "observer").distinct().collect()
    }
    assert {("rail-1", "rail-1"), ("rail-2", "rail-2"), ("captures", "rnr_nak")} <= boxes
    for table in ("windows", "flows", "connections", "events", "opcodes"):
        stored = sum(
            pq.read_metadata(file).num_rows
            for root in (rails, captures)
            for file in root.glob(f"**/{table}/**/*.parquet")
        )
        rows = fleet.complete(table) if table in ("flows", "opcodes") else fleet.table(table)
        assert rows.count() == stored > 0
        assert rows.schema.names == [*spark_schema(table).names, "dataset"]


def test_only_the_partitions_of_the_time_are_read(spark: SparkSession, scratch: Path) -> None:
    traffic = Traffic(boxes=2, seconds=3 * 3_600, flows=2)
    for box in range(2):
        write_box(traffic, box, scratch / f"box-{box}")
    since, until = datetime(2026, 1, 1, 1, tzinfo=timezone.utc), datetime(2026, 1, 1, 1, 30)
    hour = open_dataset(spark, f"{scratch}/*", since, until)
    assert len(hour.windows.inputFiles()) == 2
    assert hour.windows.count() == 2 * 1_800
    assert hour.flows.count() == 2 * 2 * 1_800
    night = open_dataset(spark, f"{scratch}/*", datetime(2025, 12, 31, 23, 59, 59), datetime(2026, 1, 1, 0, 0, 10))
    assert night.windows.count() == 2 * 10
    assert [row.date for row in with_date(night.windows).select("date").distinct().collect()] == ["2026-01-01"]
    assert open_dataset(spark, f"{scratch}/*", since).windows.count() == 2 * 2 * 3_600


def test_a_resolution_has_the_sums_of_the_captured_rows(
    spark: SparkSession, rocescope: Rocescope, rails: Path, scratch: Path
) -> None:
    root = shutil.copytree(rails, scratch / "rails")
    for dataset in root.iterdir():
        rocescope("dataset", "rollup", dataset)
    captured = open_dataset(spark, f"{root}/*")
    sums = [F.sum(name) for name in ("roce_packets", "frame_bytes", "messages")]
    [expected] = captured.windows.agg(*sums).collect()
    [of_flows] = captured.flows.agg(F.sum("frame_bytes")).collect()
    # A time that begins within the day and the month whose partitions have the rows.
    [first] = captured.windows.agg(F.min("window_start").alias("first")).collect()
    since = first.asDict()["first"].replace(tzinfo=timezone.utc)
    for resolution in ("1m", "1h", "1d"):
        whole = open_dataset(spark, f"{root}/*", resolution=resolution)
        assert whole.windows.count() == 2
        assert whole.windows.agg(*sums).collect() == [expected]
        assert whole.flows.agg(F.sum("frame_bytes")).collect() == [of_flows]
        at = open_dataset(spark, f"{root}/*", since, since + timedelta(seconds=1), resolution)
        assert at.windows.count() == 2, resolution
    with pytest.raises(ValueError, match="no rollups of 2h"):
        open_dataset(spark, f"{root}/*", resolution="2h")
    with pytest.raises(FileNotFoundError, match="holds no table"):
        open_dataset(spark, f"{rails}/*", resolution="1h")


def test_a_partition_of_a_rollup_begins_before_its_rows() -> None:
    since, until = datetime(2026, 11, 21, 2, 30), datetime(2026, 11, 21, 3, 0)
    assert partitions("/d", since, until) == "date=2026-11-21/hour=02"
    assert partitions("/d/rollups/1m", since, until) == "date=2026-11-21/hour=02"
    assert partitions("/d/rollups/1h", since, until) == "date=2026-11-21/hour={00,01,02}"
    days = [f"2026-11-{day:02}" for day in range(1, 22)]
    assert all(f"date={day}/hour=" in partitions("/d/rollups/1d", since, until) for day in days)


def test_a_filter_on_a_column_with_many_values_works(spark: SparkSession, short: dict[str, Path]) -> None:
    """Plain Spark 4.3 fails: apache/parquet-java#3478."""
    flows = open_dataset(spark, f"{short['truth']}/*").flows
    assert flows.select("flow_hash").distinct().count() > 1_024
    assert flows.where("flow_hash >= 0").count() + flows.where("flow_hash < 0").count() == flows.count()


def test_windows_that_a_kill_cut_off_are_left_out(spark: SparkSession, scratch: Path) -> None:
    write_box(Traffic(boxes=1, seconds=5, flows=3), 0, scratch)
    late = np.full(3, START_NS + 5 * SECOND)
    cut = {name: late * 0 for name, kind in columns("flows") if kind == "int64"}
    write_rows(scratch, "flows", "box-00000", {**cut, "window_start_ns": late, "flow_hash": np.arange(3)})
    fleet = open_dataset(spark, str(scratch))
    assert (fleet.table("flows").count(), fleet.flows.count()) == (18, 15)


def test_only_the_latest_analysis_of_a_window_counts(spark: SparkSession, scratch: Path) -> None:
    def rows(*analyses: tuple[int, int, int]) -> dict[str, np.ndarray]:
        """Windows, numbers of the analysis, and probes."""
        start, revision, probes = np.array(analyses).T
        return {"window_start_ns": START_NS + start * SECOND, "revision": revision, "probes": probes}

    write_rows(scratch, "sla", "mesh", rows((0, 0, 10), (20, 0, 10), (20, 1, 16)))
    # The second analysis found nothing in one window, and is not complete in the other.
    write_rows(scratch, "verdicts", "mesh", rows((0, 0, 1), (0, 1, 2), (20, 0, 3)))
    fleet = open_dataset(spark, str(scratch))
    assert sorted(row.probes for row in fleet.latest("sla").collect()) == [10, 16]
    assert [row.probes for row in fleet.latest("verdicts").collect()] == [1]
    assert fleet.latest("verdicts").schema.names == fleet.table("verdicts").schema.names
    fleet.create_views()
    assert spark.sql("SELECT sum(probes) FROM sla").first()[0] == 26


def test_a_segment_of_an_earlier_version_has_nulls(spark: SparkSession, scratch: Path) -> None:
    write_box(Traffic(boxes=2, seconds=5, flows=3), 0, scratch)
    [segment] = scratch.glob("flows/*/*/*.parquet")
    rows = pq.read_table(segment, partitioning=None)
    older = rows.drop_columns(["direction_key", "udp_src_ports"]).append_column("of_later_version", rows["rank"])
    pq.write_table(older, segment.with_name("box-00000-20260101T000000Z-0001.parquet"))
    fleet = open_dataset(spark, str(scratch))
    assert fleet.flows.count() == 30
    assert fleet.flows.where("udp_src_ports IS NULL").count() == 15
    assert "of_later_version" not in fleet.flows.columns


def test_a_table_that_no_dataset_has_is_empty(spark: SparkSession, rails: Path) -> None:
    fleet = open_dataset(spark, f"{rails}/*")
    assert fleet.probes.count() == 0
    assert fleet.probes.schema.names == [*spark_schema("probes").names, "dataset"]
    assert len(table_names()) > 20


def test_bad_input_has_one_clear_error(spark: SparkSession, rails: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no table"):
        open_dataset(spark, [f"{rails}/*", f"{rails}/rail-1/flows"])
    with pytest.raises(FileNotFoundError, match="holds no table"):
        open_dataset(spark, "/no/such/folder")
    with pytest.raises(ValueError, match="at least one directory"):
        open_dataset(spark, [])
    with pytest.raises(ValueError, match="no time between"):
        open_dataset(spark, f"{rails}/*", datetime(2026, 1, 2), datetime(2026, 1, 1))
    with pytest.raises(ValueError, match="unknown table 'flow'"):
        open_dataset(spark, f"{rails}/*").table("flow")
