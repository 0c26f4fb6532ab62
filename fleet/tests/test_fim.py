"""The Flow Imbalance Metric, beside `rocescope paths fim`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Rocescope
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F
from simulated_fleet import START_NS, Traffic, write_box, write_rows

from rocescope_fleet import fim, fim_layers, open_dataset, path_loads, with_date, with_racks

FLOWS = 24


@dataclass(frozen=True)
class Fabric:
    root: Path
    run: Any
    windows: Any


def topology() -> str:
    """Two leaves with two links to each of two spines, one host at each leaf, and two links between the spines."""
    kinds = {"h1": "host", "h2": "host", "leaf1": "leaf", "leaf2": "leaf", "spine1": "spine", "spine2": "spine"}
    nodes = [
        f'[[node]]\nname = "{name}"\nkind = "{"host" if tier == "host" else "switch"}"\ntier = "{tier}"\n'
        for name, tier in kinds.items()
    ]
    ends = [("h1:eth0", "leaf1:h"), ("h2:eth0", "leaf2:h"), ("spine1:x1", "spine2:x1"), ("spine1:x2", "spine2:x2")]
    ends += [
        (f"leaf{leaf}:s{spine}{link}", f"spine{spine}:l{leaf}{link}")
        for leaf in (1, 2)
        for spine in (1, 2)
        for link in (1, 2)
    ]
    return "\n".join(nodes) + "".join(f'\n[[link]]\nends = ["{one}", "{other}"]\n' for one, other in ends)


def paths_of(flows: list[Row]) -> dict[str, Any]:
    """A path of each flow from h1 to h2: some over both spines, two that end early."""
    rows: dict[str, list[Any]] = {
        name: [] for name in ("src", "dst", "src_port", "hop", "node", "egress", "outcome", "hops")
    }
    for number, flow in enumerate(flows):
        spine, up, down = 1 + number % 3 // 2, 1 + number % 5 // 3, 1 + number % 2
        hops = [("h1", "eth0"), ("leaf1", f"s{spine}{up}"), (f"spine{spine}", f"l2{down}"), ("leaf2", "h")]
        if number % 7 == 3:
            hops[2:3] = [(f"spine{spine}", "x1"), (f"spine{3 - spine}", f"l2{down}")]
        outcome = "complete" if number % 11 != 9 else "unanswered"
        for hop, (node, egress) in enumerate(hops, 1):
            values = (flow.src, flow.dst, flow.udp_src_port, hop, node, egress, outcome, len(hops))
            for column, value in zip(rows.values(), values, strict=True):
                column.append(value)
    count = len(rows["src"])
    fixed = {"protocol": np.full(count, 17), "dst_port": np.full(count, 4_791), "detail": [""] * count}
    return {**rows, **fixed, "time_ns": np.full(count, START_NS)}


@pytest.fixture(scope="module")
def fabric(spark: SparkSession, rocescope: Rocescope, tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    # Two modules use it, each its own.
    place = tmp_path_factory.mktemp("fabric")
    root = place / "fabric"
    write_box(Traffic(boxes=1, seconds=3, flows=FLOWS), 0, root)
    flows = open_dataset(spark, str(root)).flows.select("src", "dst", "udp_src_port").distinct()
    ordered = flows.orderBy("src", "dst", "udp_src_port").collect()
    assert len(ordered) == FLOWS
    # A flow whose path no run found.
    write_rows(root, "flow_paths", "paths", paths_of(ordered[:-1]))
    (place / "fabric.toml").write_text(topology())
    asked = ("paths", "fim", "--topology", place / "fabric.toml", "--paths", root)
    windows = rocescope.json(*asked, "--windows", "--out", place / "loads")
    run = rocescope.json(*asked, "--out", place / "loads-of-run", "--observer", "run")
    return Fabric(place, run, windows)


def test_fim_of_windows_is_that_of_the_binary(spark: SparkSession, fabric: Fabric) -> None:
    loads = open_dataset(spark, str(fabric.root / "loads")).link_loads
    found = fim(loads).orderBy("window_start_ns").collect()
    assert len(found) == len(fabric.windows["windows"]) == 3
    for row, window in zip(found, fabric.windows["windows"], strict=True):
        assert row.fim_percent == pytest.approx(window["fim_percent"], rel=1e-12)
        assert row.bytes_fim_percent == pytest.approx(window["bytes_fim_percent"], rel=1e-12)
        assert 10 < row.fim_percent != row.bytes_fim_percent


def test_layers_are_those_of_the_binary(spark: SparkSession, fabric: Fabric) -> None:
    loads = open_dataset(spark, str(fabric.root / "loads-of-run")).link_loads
    layers = {(row.from_tier, row.to_tier, row.within): row for row in fim_layers(loads).collect()}
    theirs = fabric.run["layers"]
    assert len(theirs) == len(layers) == 6
    directions = [layer for layer in theirs if layer["from"] == layer["to"] == "spine"]
    for layer in theirs:
        within = ("forth", "back")[directions.index(layer)] if layer in directions else None
        row = layers[(layer["from"], layer["to"], within)]
        for name in ("flows", "unused_links", "min_flows", "max_flows"):
            assert row[name] == layer[name], (name, row, layer)
        assert row.fim_percent == pytest.approx(layer["fim_percent"], rel=1e-12)
    [row] = fim(loads).collect()
    assert row.fim_percent == pytest.approx(fabric.run["fim_percent"], rel=1e-12)


def test_loads_of_paths_are_those_of_the_binary(spark: SparkSession, fabric: Fabric) -> None:
    stored = open_dataset(spark, str(fabric.root / "loads-of-run")).link_loads
    ours = path_loads(open_dataset(spark, str(fabric.root / "fabric")).flow_paths, stored)
    key = ("from", "from_port", "to", "to_port")
    theirs = {tuple(row[name] for name in key): (row.flows, row.ideal_flows) for row in stored.collect()}
    assert {tuple(row[name] for name in key): (row.flows, row.ideal_flows) for row in ours.collect()} == theirs
    [row] = fim(ours).collect()
    assert row.fim_percent == pytest.approx(fabric.run["fim_percent"], rel=1e-12)
    assert row.bytes_fim_percent is None


def test_fim_of_racks_and_days_is_the_mean_of_their_links(spark: SparkSession, fabric: Fabric) -> None:
    loads = open_dataset(spark, str(fabric.root / "loads")).link_loads
    racks = spark.createDataFrame([("leaf1", "a"), ("leaf2", "b")], "host string, rack string")
    by_rack = fim(with_date(with_racks(loads, racks, host="from")), ("date", "rack")).collect()
    found = {row.rack: row for row in by_rack}
    links = loads.where("from_tier = 'leaf' AND to_tier = 'spine' AND `from` = 'leaf1'")
    [mean] = links.agg((F.avg(F.abs("deviation_ratio")) * 100).alias("percent")).collect()
    assert found["a"].links == 3 * 4
    assert found["a"].fim_percent == pytest.approx(mean.percent, rel=1e-12)
    # All flows go from h1 to h2: the uplinks of the other leaf are unused.
    assert found["b"].fim_percent == pytest.approx(100.0)
