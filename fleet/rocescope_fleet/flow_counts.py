"""How many flows a fleet had, from the sketches of windows.

Bitmaps merge by a bitwise or, so a flow that many boxes or windows saw counts once: `bitmap_or_agg` and `bitmap_count`
of Spark read ours as they are. `hll_union_agg` merges the HyperLogLogs of windows with more than 32,768 flows.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rocescope_fleet.dataset import WINDOW_KEY
from rocescope_fleet.listed import unlisted

BITS = 32_768
"""Bits of a bitmap, `rocescope.linear_counting.bits`."""
HLL_ERROR = 1.04 / 128
"""Standard error of a HyperLogLog of 2^14 registers, relative: 0.81 %."""


def flow_counts(windows: DataFrame, flows: DataFrame, by: Sequence[str] = ()) -> DataFrame:
    """The number of distinct flows in the windows of each group `by`; of all windows without.

    Returns for each group:

    - `estimated_flows`: the estimate with the smaller standard error; null if a window has no bitmap;
      `estimated_flows_stderr_ratio`: its standard error, relative to it; `estimated_by`: `bitmap` or `hll`;
    - `bitmap_flows`: by Linear Counting, `-m ln(z / m)` with `z` of `m` bits zero, to the digit what
      `rocescope dataset merge` computes of the same bitmaps; `bitmap_saturated`: the bitmap may be full, and the number
      a lower bound (beyond about 280,000 flows);
    - `hll_flows`: by HyperLogLog, rounded, within a standard error of 0.81 %; null unless every window has one or lists
      all its flows. DataSketches' estimator and ours differ by less than that error for the same sketch.
    """
    counted = windows.groupBy(*by).agg(
        F.bitmap_count(F.bitmap_or_agg("linear_counting")).alias("_ones"),
        F.count_if(F.col("linear_counting").isNull()).alias("_without"),
    )
    zeros = F.lit(BITS) - F.col("_ones")
    load = -F.log(F.greatest(zeros, F.lit(1)) / F.lit(float(BITS)))
    counted = counted.withColumn("_load", load).withColumn("_known", F.col("_without") == 0)
    bitmap = counted.select(
        *by,
        F.when(F.col("_known"), F.lit(float(BITS)) * F.col("_load")).alias("bitmap_flows"),
        F.when(F.col("_known"), _stderr_ratio(F.col("_load"))).alias("_bitmap_error"),
        F.when(F.col("_known"), (zeros == 0) | _fills_up(F.col("_load"))).alias("bitmap_saturated"),
    )
    both = _beside(bitmap, _hyper_log_log(windows, flows, by), by)
    by_hll = F.col("hll_flows").isNotNull() & (F.col("bitmap_saturated") | (F.col("_bitmap_error") > HLL_ERROR))
    by_hll = F.coalesce(by_hll, F.lit(False))
    return both.select(
        *by,
        F.when(by_hll, F.col("hll_flows").cast("double")).otherwise(F.col("bitmap_flows")).alias("estimated_flows"),
        F.when(by_hll, F.lit(HLL_ERROR)).otherwise(F.col("_bitmap_error")).alias("estimated_flows_stderr_ratio"),
        F.when(by_hll, "hll").when(F.col("bitmap_flows").isNotNull(), "bitmap").alias("estimated_by"),
        "bitmap_flows",
        "bitmap_saturated",
        "hll_flows",
    )


def _hyper_log_log(windows: DataFrame, flows: DataFrame, by: Sequence[str]) -> DataFrame:
    """`hll_flows` of the groups in which every window has a HyperLogLog or lists all its flows."""
    key = [*WINDOW_KEY, *(name for name in by if name not in WINDOW_KEY)]
    stored = windows.where(F.col("hll_flows").isNotNull()).select(*key, F.col("hll_flows").alias("sketch"))
    others = windows.join(stored.select(*key), key, "left_anti").select(*key).distinct()
    short = unlisted(flows, windows, by)
    listed = (
        flows.join(others, key, "left_semi")
        .join(short.select(*key), key, "left_anti")
        .groupBy(*by)
        .agg(F.hll_sketch_agg("flow_hash", 14).alias("sketch"))
    )
    unknown = others.join(short.select(*key), key, "left_semi").groupBy(*by).agg(F.lit(True).alias("unknown"))
    sketches = stored.select(*by, "sketch").unionByName(listed.select(*by, "sketch").where("sketch IS NOT NULL"))
    merged = sketches.groupBy(*by).agg(F.hll_sketch_estimate(F.hll_union_agg("sketch")).alias("hll_flows"))
    # A bitmap of few flows is exact or nearly so: no sketch is made of groups that store none.
    large = stored.groupBy(*by).agg(F.lit(True).alias("large"))
    found = _beside(_beside(merged, large, by), unknown, by)
    return found.where(F.col("large") & F.col("unknown").isNull()).select(*by, "hll_flows")


def _beside(left: DataFrame, right: DataFrame, by: Sequence[str]) -> DataFrame:
    """The groups of `left`, with what `right` has of them; both have one row without groups."""
    return left.join(right, list(by), "left") if by else left.join(right, F.lit(True), "left")


def _excess(load: Column) -> Column:
    return F.expm1(load) - load


def _stderr_ratio(load: Column) -> Column:
    """`√m √(e^t - t - 1) / n`: Whang, Vander-Zanden and Taylor 1990; 0 without flows."""
    error = F.sqrt(F.lit(float(BITS)) * _excess(load)) / (F.lit(float(BITS)) * load)
    return F.when(load > 0, error).otherwise(F.lit(0.0))


def _fills_up(load: Column) -> Column:
    """Whang's condition, negated: the expected zeros must exceed √5 of their standard deviations."""
    share = F.exp(-load)
    expected = F.lit(float(BITS)) * share
    variance = expected * (F.lit(1.0) - (F.lit(1.0) + load) * share)
    return expected * expected <= F.lit(5.0) * variance
