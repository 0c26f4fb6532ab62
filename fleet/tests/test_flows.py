"""Flows and their number, beside `rocescope dataset merge` and `rocescope report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conftest import Rocescope
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from rocescope_fleet import count_min_estimates, flow_counts, open_dataset, top_flows, with_date
from rocescope_fleet.flows import FLOW_KEY

SIZES = ("packets", "frame_bytes", "error_packets", "error_frame_bytes", "payload_bytes", "messages")


def test_top_flows_of_complete_windows_are_those_of_the_merged_report(
    spark: SparkSession, rocescope: Rocescope, rails: Path, merged: Path
) -> None:
    fleet = open_dataset(spark, f"{rails}/*")
    ours = top_flows(fleet.flows, fleet.windows, limit=50).collect()
    theirs = rocescope.json("report", merged, "--top", 50)["flows"]["top"]
    assert len(ours) == len(theirs) == 50
    by_key = {tuple(flow[name] for name in FLOW_KEY): flow for flow in theirs}
    for row in ours:
        flow = by_key[tuple(row[name] for name in FLOW_KEY)]
        for name in (*SIZES, "first_ns", "last_ns", "service"):
            assert row[name] == flow[name], (name, row, flow)
        assert row.error_packets == row.error_frame_bytes == 0
    assert [row.frame_bytes for row in ours] == [flow["frame_bytes"] for flow in theirs]
    assert sum(row.windows for row in ours) > 50


def test_bounds_of_a_window_are_those_of_merge(spark: SparkSession, short: dict[str, Path]) -> None:
    fleet, merged = (open_dataset(spark, path) for path in (f"{short['boxes']}/*", str(short["merged"])))
    ours = top_flows(fleet.flows, fleet.windows, limit=1_000, by=("window_start_ns",)).collect()
    key = ("window_start_ns", *FLOW_KEY)
    theirs = {tuple(row[name] for name in key): row for row in merged.flows.collect()}
    assert len(ours) == len(theirs) > 10
    uncertain = 0
    for row in ours:
        flow = theirs[tuple(row[name] for name in key)]
        # `payload_bytes` and `messages` of merge include the bound of flows that a box does not list.
        for name in SIZES[:4]:
            assert row[name] == flow[name], (name, row, flow)
        uncertain += row.error_frame_bytes > 0
    assert uncertain > 0, "no bound was compared"


def test_bounds_over_all_windows_hold_the_truth(spark: SparkSession, short: dict[str, Path]) -> None:
    fleet, whole = (open_dataset(spark, f"{short[name]}/*") for name in ("boxes", "truth"))
    loose = top_flows(fleet.flows, fleet.windows, limit=30, sketches=False).collect()
    tight = top_flows(fleet.flows, fleet.windows, limit=30).collect()
    truth = {
        row.flow_hash: row
        for row in whole.flows.groupBy("flow_hash")
        .agg(F.sum("packets").alias("packets"), F.sum("frame_bytes").alias("frame_bytes"))
        .collect()
    }
    assert [row.flow_hash for row in loose] == [row.flow_hash for row in tight]
    gained = 0
    for wide, row in zip(loose, tight, strict=True):
        for size, error in (("packets", "error_packets"), ("frame_bytes", "error_frame_bytes")):
            true = truth[row.flow_hash][size]
            assert row[size] - row[error] <= true <= row[size] <= wide[size], (size, row, true)
            assert row[size] - row[error] == wide[size] - wide[error]
        gained += row.error_frame_bytes < wide.error_frame_bytes
    assert gained > 0, "no sketch helped"
    assert truth[tight[0].flow_hash].frame_bytes == max(row.frame_bytes for row in truth.values())


def test_groups_of_flows_are_those_of_their_rows(spark: SparkSession, rails: Path) -> None:
    fleet = open_dataset(spark, f"{rails}/*")
    days = top_flows(with_date(fleet.flows), with_date(fleet.windows), limit=3, by=("date",)).collect()
    assert [(row.date, row["rank"]) for row in days] == [("2026-01-01", rank) for rank in (1, 2, 3)]
    boxes = top_flows(fleet.flows, fleet.windows, limit=3, by=("observer",)).collect()
    assert [row.observer for row in boxes] == ["rail-1"] * 3 + ["rail-2"] * 3


def test_merged_count_min_gives_the_estimates_of_the_merged_table(spark: SparkSession, short: dict[str, Path]) -> None:
    fleet, merged = (open_dataset(spark, path) for path in (f"{short['boxes']}/*", str(short["merged"])))
    whole = open_dataset(spark, f"{short['truth']}/*").flows
    flows = whole.select("flow_hash").distinct().orderBy("flow_hash").limit(200).collect()
    asked = spark.createDataFrame(flows)
    truth = {
        (row.window_start_ns, row.flow_hash): row.frame_bytes
        for row in whole.groupBy("window_start_ns", "flow_hash")
        .agg(F.sum("frame_bytes").alias("frame_bytes"))
        .collect()
    }
    by = ("window_start_ns",)
    rows = count_min_estimates(fleet.windows, fleet.flows, asked, "count_min_bytes", by).collect()
    sketches = {row.window_start_ns: jvm_sketch(spark, row.count_min_bytes) for row in merged.windows.collect()}
    assert len(rows) == len(flows) * len(sketches) == 400
    within = 0
    for row in rows:
        sketch = sketches[row.window_start_ns]
        assert row.estimate == sketch.estimateCount(row.flow_hash), row
        assert row.total == sketch.totalCount(), row
        true = truth.get((row.window_start_ns, row.flow_hash), 0)
        assert row.estimate >= true
        within += row.estimate <= true + row.slack
    assert within >= 0.98 * len(rows)


def test_windows_that_list_all_flows_give_the_estimates_of_those_that_do_not(
    spark: SparkSession, rocescope: Rocescope, short: dict[str, Path]
) -> None:
    fleet, whole = (open_dataset(spark, f"{short[name]}/*") for name in ("boxes", "truth"))
    assert whole.windows.where("count_min_bytes IS NOT NULL OR count_min_packets IS NOT NULL").count() == 0
    assert fleet.windows.where("count_min_bytes IS NULL OR count_min_packets IS NULL").count() == 0
    flows = whole.flows.select("flow_hash").distinct().orderBy("flow_hash").limit(200).collect()
    # One that no window has.
    asked = spark.createDataFrame([*flows, (7,)], "flow_hash bigint")
    by: tuple[str, ...]
    for column, by in (("count_min_packets", ()), ("count_min_bytes", ("window_start_ns", "observer"))):
        stored, made = (
            {
                tuple(row[name] for name in (*by, "flow_hash")): row
                for row in count_min_estimates(of.windows, of.flows, asked, column, by).collect()
            }
            for of in (fleet, whole)
        )
        assert stored == made and len(stored) >= 201, (column, by)


def jvm_sketch(spark: SparkSession, data: bytes) -> Any:
    """Spark's own reader of the same bytes."""
    jvm: Any = spark.sparkContext._jvm
    stream = jvm.java.io.ByteArrayInputStream(bytes(data))
    return jvm.org.apache.spark.util.sketch.CountMinSketch.readFrom(stream)


def test_flow_counts_are_those_of_merge_to_the_digit(spark: SparkSession, short: dict[str, Path]) -> None:
    fleet, merged = (open_dataset(spark, path) for path in (f"{short['boxes']}/*", str(short["merged"])))
    ours = {
        row.window_start_ns: row for row in flow_counts(fleet.windows, fleet.flows, by=("window_start_ns",)).collect()
    }
    theirs = merged.windows.collect()
    assert len(ours) == len(theirs) > 1
    for row in theirs:
        found = ours[row.window_start_ns]
        assert not row.flows_exact
        assert found.estimated_by == "bitmap" and not found.bitmap_saturated
        assert found.estimated_flows == row.estimated_flows
        assert found.estimated_flows_stderr_ratio == row.estimated_flows_stderr_ratio
        assert found.hll_flows is None
    truth = open_dataset(spark, f"{short['truth']}/*").flows.select("flow_hash").distinct().count()
    [whole] = flow_counts(fleet.windows, fleet.flows).collect()
    assert abs(whole.estimated_flows / truth - 1) < 4 * whole.estimated_flows_stderr_ratio


def test_windows_with_many_flows_are_counted_by_hyper_log_log(
    spark: SparkSession, rocescope: Rocescope, scratch: Path
) -> None:
    scenario = scratch / "crowd.toml"
    one_second = MANY.replace("COUNT", "40_000")
    for name, text, seed in (("crowd", one_second, 1), ("few", MANY.replace("COUNT", "500"), 2)):
        scenario.write_text(text)
        pcap = rocescope.generate(scenario, seed, scratch / f"{name}.pcap")
        rocescope.capture(pcap, scratch / "boxes" / name, name, "--flow-rows", 1_000, "--window", "10s")
    rocescope("dataset", "merge", *sorted((scratch / "boxes").iterdir()), "--out", scratch / "merged")
    fleet, merged = (open_dataset(spark, path) for path in (f"{scratch}/boxes/*", f"{scratch}/merged"))
    # One box has more flows than its bitmap has bits, the other lists all its flows.
    [found] = flow_counts(fleet.windows, fleet.flows, by=("window_start_ns",)).collect()
    [row] = merged.windows.collect()
    assert row.hll_flows is not None and found.hll_flows is not None
    assert found.bitmap_flows > 32_768
    assert abs(found.hll_flows / 40_500 - 1) < 3 * 1.04 / 128
    assert abs(found.estimated_flows / row.estimated_flows - 1) < 1.04 / 128


MANY = """
name = "crowd"
frames = 90_000
snaplen = 128

[[flows]]
count = COUNT
src = "10.1.0.1-10.1.0.250"
dst = "10.2.0.1-10.2.0.250"
service = "uc"
operation = "send"
message = 64
messages = 2
group_rate = "200Mbit/s"
"""
