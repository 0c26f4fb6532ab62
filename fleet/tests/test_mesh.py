"""Service levels and votes over a simulated mesh, beside what `rocescope diagnose mesh --write` stores."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from conftest import Rocescope
from pyspark.sql import SparkSession
from simulated_fleet import START_NS, Mesh, text, write_host, write_rows

from rocescope_fleet import (
    Dataset,
    judged_probes,
    link_coverage,
    open_dataset,
    sla,
    untraced_drops,
    vote_links,
    vote_switches,
    with_date,
    with_racks,
)
from rocescope_fleet.mesh import MeshSettings

RACK, SPINE = 4, 3
SICK_NIC = "10.0.5.2"

MESH = Mesh(hosts=12, seconds=200, rails=4, rack=RACK, spines=4, ports=4, rate=8.0, seed=3, nic_loss={SICK_NIC: 0.4})
SICK_PORT = MESH.leaf_port(1, 2, SPINE)


@pytest.fixture(scope="module")
def mesh(rocescope: Rocescope, place: Path) -> Path:
    """A mesh with a sick NIC and a sick link; a host without traces; probes that were not sent; another path later."""
    root = place / "mesh"
    sick = Mesh(**{**vars(MESH), "link_loss": {SICK_PORT: 0.2}})
    for host in range(sick.hosts):
        write_host(sick, host, root)
    unsent(root)
    rerouted(root)
    [untraced] = root.glob("paths/*/*/host-00006-*.parquet")
    untraced.unlink()
    nodes = "".join(
        f'[[node]]\nname = "{node}"\nkind = "switch"\naddresses = [{", ".join(addresses)}]\n'
        for node, addresses in by_node(sick).items()
    )
    (place / "mesh.toml").write_text(nodes)
    rocescope("diagnose", "hostmesh", root, "--write")
    named = ("--topology", place / "mesh.toml", "--observer", "named")
    rocescope("diagnose", "hostmesh", root, "--write", *named)
    return root


def by_node(mesh: Mesh) -> dict[str, list[str]]:
    nodes: dict[str, list[str]] = {}
    for address, node in mesh.nodes():
        nodes.setdefault(node, []).append(f'"{address}"')
    return nodes


def unsent(root: Path) -> None:
    """Probes of a host of its own that could not leave, and some that arrived damaged."""
    count = 40
    number = list(range(count))
    zeros = [0] * count
    nics = [MESH.nic(20, 0), MESH.nic(20, 1)]
    outcomes = ["unsent", "corrupt", "received", "timeout"]
    at = START_NS + np.arange(count) * 1_000_000_000
    kind = np.array([0, 1, 2, 2, 2, 2, 2, 2, 2, 3] * 4)
    sent = kind == 2
    write_rows(
        root,
        "probes",
        "odd",
        {
            "time_ns": at,
            "src_nic": text(["a", "b"], np.zeros(count, np.int64)),
            "dst_nic": text(["a", "b"], np.ones(count, np.int64)),
            "src": text(nics, np.zeros(count, np.int64)),
            "dst": text(nics, np.ones(count, np.int64)),
            "udp_src_port": np.full(count, 50_000),
            "udp_dst_port": np.full(count, 4_791),
            "sequence": number,
            "outcome": text(outcomes, kind.astype(np.int64)),
            # A time that exceeds 32 bits counts as the longest one.
            "network_latency_ns": [5_000_000_000 if is_sent else None for is_sent in sent],
            "processing_delay_ns": [7_000 if is_sent else None for is_sent in sent],
            "clock_source": text(["simulated"], np.zeros(count, np.int64)),
            "clock_error_ns": zeros,
        },
    )


def rerouted(root: Path) -> None:
    """A second trace of each 5-tuple of a host, at 100 s: through another spine; then one that stops midway."""
    [first] = root.glob("paths/*/*/host-00004-*.parquet")
    known = pq.ParquetFile(first).read()
    old, new = MESH.spine_port(1, 0, 0), MESH.spine_port(1, 0, 1)
    for seconds, keep in ((100, True), (150, False)):
        rows = known.to_pylist()
        columns: dict[str, Any] = {
            name: [row[name] for row in rows] for name in known.column_names if name not in ("time", "observer")
        }
        columns["time_ns"] = np.full(len(rows), START_NS + seconds * 1_000_000_000)
        swapped = [new if address == old else address for address in columns["address"]]
        columns["address"] = (
            swapped
            if keep
            else [address if row["hop"] < 3 else None for address, row in zip(swapped, rows, strict=True)]
        )
        write_rows(root, "paths", "host-00004", columns)


def opened(spark: SparkSession, mesh: Path) -> Dataset:
    return open_dataset(spark, str(mesh))


SLA = (
    "hosts", "probes", "timeouts", "corrupt", "unsent", "rnic_drops", "switch_drops", "rnic_drop_ratio",
    "switch_drop_ratio", "clock_error_ns",
    *(f"{time}_{share}_ns" for time in ("network", "processing") for share in ("p50", "p90", "p99", "p999")),
)  # fmt: skip


def test_sla_of_windows_is_that_of_diagnose_to_the_digit(spark: SparkSession, mesh: Path) -> None:
    fleet = opened(spark, mesh)
    judged = judged_probes(fleet.probes)
    ours = {row.window_start_ns: row for row in sla(judged).collect()}
    untraced = {row.window_start_ns: row.untraced_drops for row in untraced_drops(judged, fleet.path_hops).collect()}
    theirs = fleet.table("sla").where("observer = 'diagnose'").collect()
    assert len(ours) == len(theirs) == 10
    for row in theirs:
        found = ours[row.window_start_ns]
        for name in SLA:
            assert found[name] == row[name], (name, found, row)
        assert untraced.get(row.window_start_ns, 0) == row.untraced_drops
    assert sum(row.rnic_drops for row in theirs) > 100 and sum(row.switch_drops for row in theirs) > 100
    assert sum(untraced.values()) > 0 and sum(row.unsent for row in theirs) > 0


@pytest.mark.parametrize("observer", ["diagnose", "named"])
def test_votes_and_coverage_are_those_of_diagnose(spark: SparkSession, mesh: Path, observer: str) -> None:
    fleet = opened(spark, mesh)
    nodes = spark.createDataFrame(MESH.nodes(), "address string, node string") if observer == "named" else None
    votes = vote_links(fleet.probes, fleet.path_hops, nodes).collect()
    crossed = link_coverage(fleet.probes, fleet.path_hops, nodes).collect()
    theirs = {}
    for row in fleet.table("links").where(f"observer = '{observer}'").collect():
        before = row["from"] if observer == "named" and row["from"].startswith(("leaf", "spine")) else None
        theirs[(row.window_start_ns, before, row.address)] = row

    def key(row: object) -> tuple[int, str | None, str]:
        return (row["window_start_ns"], row["from"], row["address"])  # type: ignore[index]

    for row in votes:
        link = theirs[key(row)]
        assert row.votes == link.votes, (row, link)
        assert math.isclose(row.weighted_votes, link.weighted_votes, rel_tol=1e-12)
    assert {key(row) for row in votes} == {place for place, link in theirs.items() if link.votes > 0}
    for row in crossed:
        link = theirs[key(row)]
        assert (row.tuples, row.probes, row.drops) == (link.tuples, link.probes, link.drops), (row, link)
    assert {key(row) for row in crossed} == {place for place, link in theirs.items() if link.tuples > 0}
    first = {row.address for row in votes if row.is_first}
    assert SICK_PORT in first


def test_the_switches_at_both_ends_of_a_sick_link_are_first(spark: SparkSession, mesh: Path) -> None:
    fleet = opened(spark, mesh)
    nodes = spark.createDataFrame(MESH.nodes(), "address string, node string")
    found = vote_switches(fleet.probes, fleet.path_hops, nodes).where("is_first").collect()
    # The same drops cross both: the paper names all places with the most votes.
    assert len(found) == 2 * 10
    assert {row.switch for row in found} == {"leaf-1-2", f"spine-{SPINE}"}


def test_few_drops_do_not_vote(spark: SparkSession, mesh: Path) -> None:
    fleet = opened(spark, mesh)
    strict = MeshSettings(max_ignored=1_000_000)
    assert vote_links(fleet.probes, fleet.path_hops, settings=strict).count() == 0


def test_sla_of_racks_and_days_adds_up(spark: SparkSession, mesh: Path) -> None:
    fleet = opened(spark, mesh)
    racks = spark.createDataFrame(
        [(f"host-{host:05}", f"rack-{host // RACK}") for host in range(12)], "host string, rack string"
    )
    judged = with_date(with_racks(judged_probes(fleet.probes), racks), "time_ns")
    rows = {row.rack: row for row in sla(judged, ("rack", "date")).collect()}
    assert set(rows) == {"rack-0", "rack-1", "rack-2", None}
    [whole] = sla(judged, ()).collect()
    theirs = fleet.table("sla").where("observer = 'diagnose'").collect()
    for name in ("probes", "timeouts", "corrupt", "rnic_drops", "switch_drops"):
        assert sum(row[name] for row in rows.values()) == whole[name] == sum(row[name] for row in theirs)
    # The sick NIC and the sick link are in rack 1.
    assert rows["rack-1"].availability_ratio < 0.95 < 0.999 < rows["rack-0"].availability_ratio


def test_an_hour_must_be_whole_windows() -> None:
    with pytest.raises(ValueError, match="whole number of windows"):
        MeshSettings(window_ns=7_000_000_000)
