"""The example script prints each section, with the figures of the functions."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from pyspark.sql import SparkSession
from simulated_fleet import Mesh, write_host

from rocescope_fleet import open_dataset, top_flows

EXAMPLE = Path(__file__).resolve().parents[1] / "examples/operator_report.py"


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("operator_report", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_report_has_all_sections(spark: SparkSession, rails: Path, scratch: Path) -> None:
    sick = Mesh(hosts=2, seconds=20, rails=3, spines=2, rate=10.0, link_loss={"13.0.0.1": 0.15})
    for host in range(sick.hosts):
        write_host(sick, host, scratch / f"box-{host}")
    fleet = open_dataset(spark, [f"{rails}/*", f"{scratch}/*"])
    text: str = example().report(fleet)
    largest = top_flows(fleet.flows, fleet.windows, limit=1).first()
    assert largest is not None
    assert "boxes         2, " in text
    assert "flows         " in text and " (bitmap)" in text
    assert f"  1  {largest.src}:{largest.udp_src_port} > {largest.dst} QP {largest.dst_qpn}  " in text
    assert "fabric loss   " in text and "unknown: no box" not in text
    assert "2026-01-01  " in text and " drops at NICs, " in text
    assert "link to 13.0.0.1  first in 1 windows" in text
    assert "Imbalance of links, by day\n  none (table `link_loads`)" in text
