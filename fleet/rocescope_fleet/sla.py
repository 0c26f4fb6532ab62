"""Service levels of the fabric: which share of probes drops, because of whom, and how long the others take.

The figures are those of Hostmesh, section 4, and of the table `sla`, over any groups: windows, days, racks, hosts,
pairs of NICs. Quantiles are exact: the smallest value that the given share of the probes does not exceed.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from rocescope_fleet.mesh import MeshSettings, with_path

QUANTILES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999))

_LONGEST_NS = 2**31 - 1
"""Longer times are this long, as in the analyzer: 2.1 s, more than any timeout."""


def sla(judged: DataFrame, by: Sequence[str] = ("window_start_ns",)) -> DataFrame:
    """Service levels of each group `by` of the probes that `judged_probes` returns.

    Group by `("window_start_ns",)` for the rows of the table `sla`; by `("rack", "date")` after `with_racks` and
    `with_date(judged, "time_ns")`; by `("observer",)` for hosts; by `("src", "dst")` for pairs of NICs.

    Returns for each group: `hosts` that probed; `probes` sent; `timeouts` and `corrupt` among them; `unsent` ones
    beside them; `rnic_drops` and `switch_drops` by cause; `rnic_drop_ratio`, `switch_drop_ratio` and
    `availability_ratio` (probes that arrived intact) as shares of `probes`, null without probes; `network_…_ns` and
    `processing_…_ns`: P50, P90, P99 and P99.9 of the one-way latency of the network and of the delay in the host, in
    ns; `clock_error_ns`: the error of these latencies at most.

    A task keeps the distinct times of a group in nanoseconds with their counts: as many as the latencies of a fabric
    vary, whatever the number of probes.
    """
    drops = {cause: F.count_if(F.col("cause") == cause) for cause in ("rnic", "switch")}
    totals = judged.groupBy(*by).agg(
        F.count_distinct("observer").alias("hosts"),
        F.count_if("is_sent").alias("probes"),
        F.count_if(F.col("outcome") == "timeout").alias("timeouts"),
        F.count_if(F.col("outcome") == "corrupt").alias("corrupt"),
        F.count_if(~F.col("is_sent")).alias("unsent"),
        *(count.alias(f"{cause}_drops") for cause, count in drops.items()),
        F.max("clock_error_ns").alias("clock_error_ns"),
    )
    ratios = {f"{cause}_drop_ratio": F.try_divide(F.col(f"{cause}_drops"), F.col("probes")) for cause in drops}
    dropped = F.col("rnic_drops") + F.col("switch_drops")
    ratios["availability_ratio"] = F.try_divide(F.col("probes") - dropped, F.col("probes"))
    return _beside(totals.withColumns(ratios), _quantiles(judged, by), by)


def _quantiles(judged: DataFrame, by: Sequence[str]) -> DataFrame:
    """Quantiles apart from the counts: a count of distinct hosts would repeat each row for itself."""
    times = {
        "network": F.when(F.col("is_sent"), F.col("network_latency_ns")),
        "processing": F.col("processing_delay_ns"),
    }
    short = {name: F.greatest(F.lit(-_LONGEST_NS), F.least(F.lit(_LONGEST_NS), time)) for name, time in times.items()}
    # `least` of a null and a limit is the limit: a time that was not measured stays null.
    measured = {f"_{name}": F.when(times[name].isNotNull(), short[name]) for name in times}
    shares = ", ".join(f"{share}" for _, share in QUANTILES)
    found = [
        F.expr(f"percentile_disc(array({shares})) WITHIN GROUP (ORDER BY _{name})").alias(f"_{name}") for name in times
    ]
    arrays = judged.withColumns(measured).groupBy(*by).agg(*found)
    columns = [
        F.get(f"_{name}", F.lit(place)).alias(f"{name}_{share}_ns")
        for name in times
        for place, (share, _) in enumerate(QUANTILES)
    ]
    return arrays.select(*by, *columns)


def untraced_drops(judged: DataFrame, hops: DataFrame, by: Sequence[str] = ("window_start_ns",)) -> DataFrame:
    """`untraced_drops` of each group: drops that are problems of switches, of 5-tuples without a path in `paths`.

    They cast no votes. Groups without any have no row.
    """
    drops = with_path(judged.where(F.col("cause") == "switch"), hops)
    return drops.where(F.col("links").isNull()).groupBy(*by).agg(F.count(F.lit(1)).alias("untraced_drops"))


def _beside(left: DataFrame, right: DataFrame, by: Sequence[str]) -> DataFrame:
    if not by:
        return left.crossJoin(right)
    key = [F.col(f"l.{name}").eqNullSafe(F.col(f"r.{name}")) for name in by]
    columns = [name for name in right.columns if name not in by]
    return left.alias("l").join(right.alias("r"), key).select("l.*", *(f"r.{name}" for name in columns))


__all__ = ["QUANTILES", "MeshSettings", "sla", "untraced_drops"]
