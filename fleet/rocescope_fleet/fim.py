"""How unevenly flows lie on the links of a fabric: the Flow Imbalance Metric of FlowTracer (Jamil and others).

FIM is the mean over links of |flows - ideal| / ideal, in percent; 0 is even. docs/paths.md defines layers and ideals.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

RUN = ("dataset", "observer", "window_start_ns")
"""What identifies a run or a window of `link_loads`."""
LAYER = ("from_tier", "to_tier", "within")
"""What identifies a layer: one direction between two tiers; within a tier, `forth` or `back`."""
LINK = ("from", "from_port", "to", "to_port")

_UNKNOWN = "unknown"


def fim(link_loads: DataFrame, by: Sequence[str] = RUN, host_tier: str = "host") -> DataFrame:
    """The metric of each group `by` of the rows of `link_loads`, over the layers between switches.

    By default a row for each run or window, with the values of `rocescope paths fim`. Group by `("date",)` after
    `with_date`, or by a rack of the nodes where links start (`with_racks(link_loads, racks, host="from")`): then it is
    the mean over the links of the rack, each against the ideal of its whole layer, in all runs of the group.

    Returns `links` that have an ideal; `fim_percent`: null without any; `bytes_fim_percent`: the same with the rates of
    flows in place of their number, null unless the rates of all flows are known. `host_tier` names the tier of the
    hosts, whose layers are left out: their loads follow from which hosts send.
    """
    at_hosts = (F.col("from_tier") == host_tier) | (F.col("to_tier") == host_tier)
    return _means(_deviations(link_loads).where(~at_hosts), by)


def fim_layers(link_loads: DataFrame, by: Sequence[str] = RUN) -> DataFrame:
    """The metric of each layer, those at hosts included: `by`, `LAYER`, `links`, `fim_percent`, `bytes_fim_percent`,
    and `flows`, `unused_links`, `min_flows`, `max_flows`, as `rocescope paths fim` prints them."""
    rows = _deviations(link_loads)
    key = [*by, *LAYER]
    loads = rows.groupBy(*key).agg(
        F.sum("flows").alias("flows"),
        F.count_if(F.col("flows") == 0).alias("unused_links"),
        F.min("flows").alias("min_flows"),
        F.max("flows").alias("max_flows"),
    )
    means = _means(rows, key)
    same = [F.col(f"l.{name}").eqNullSafe(F.col(f"r.{name}")) for name in key]
    figures = [name for name in means.columns if name not in key]
    return loads.alias("l").join(means.alias("r"), same).select("l.*", *(f"r.{name}" for name in figures))


def path_loads(flow_paths: DataFrame, links: DataFrame) -> DataFrame:
    """The rows of `link_loads` of each run of `flow_paths`, without rates: how many complete flows cross each link.

    `links` has a row for each direction of a link: `LINK`, `from_tier`, `to_tier`; for example those of an earlier
    `link_loads`. Unused ones get a row with 0 flows. A hop whose port `links` lacks is on no link.

    Returns `dataset`, `observer`, `window_start_ns` (the start of the run), `window_ns` (0), the columns of `links`,
    `flows`, `ideal_flows` and `flow_bps` (null).
    """
    key = [F.col("dataset"), F.col("observer"), F.col("time_ns").alias("window_start_ns")]
    flow = ("src", "dst", "protocol", "src_port", "dst_port", "dst_qpn")
    crossing = flow_paths.where((F.col("outcome") == "complete") & (F.col("hop") > 0) & F.col("egress").isNotNull())
    # A hop that was stored again counts once.
    hops = crossing.select(
        *key, *flow, "hop", F.col("node").alias("from"), F.col("egress").alias("from_port")
    ).dropDuplicates()
    loads = hops.groupBy(*RUN, "from", "from_port").agg(F.count(F.lit(1)).alias("flows"))
    known = links.select(*LINK, "from_tier", "to_tier").dropDuplicates()
    runs = flow_paths.select(*key).distinct()
    every = runs.crossJoin(F.broadcast(known)).join(loads, [*RUN, "from", "from_port"], "left")
    rows = every.withColumns(
        {
            "window_ns": F.lit(0).cast("bigint"),
            "flows": F.coalesce("flows", F.lit(0).cast("bigint")),
            "flow_bps": F.lit(None).cast("double"),
        }
    ).withColumn("within", _within())
    mean = F.avg("flows").over(_layer())
    ideal = F.when((mean > 0) & _is_known(), mean)
    return rows.withColumn("ideal_flows", ideal).drop("within")


def _deviations(link_loads: DataFrame) -> DataFrame:
    """Adds `within`, and how far each link is from the ideal, relative to it: by flows, and by rate."""
    rows = link_loads.withColumn("within", _within())
    # Of a run, the rates of all flows are known or those of none.
    rates = F.when(_is_known(), F.avg("flow_bps").over(_layer()))
    flows, ideal = F.col("flows"), F.col("ideal_flows")
    return rows.withColumn("_ideal_bps", rates).withColumns(
        {
            "_deviation": F.when(ideal > 0, F.abs((flows - ideal) / ideal)),
            "_bytes_deviation": F.when(
                F.col("_ideal_bps") > 0, F.abs((F.col("flow_bps") - F.col("_ideal_bps")) / F.col("_ideal_bps"))
            ),
        }
    )


def _means(rows: DataFrame, by: Sequence[str]) -> DataFrame:
    return rows.groupBy(*by).agg(
        F.count("_deviation").alias("links"),
        (F.avg("_deviation") * 100).alias("fim_percent"),
        (F.avg("_bytes_deviation") * 100).alias("bytes_fim_percent"),
    )


def _layer() -> WindowSpec:
    return Window.partitionBy(*RUN, *LAYER)


def _is_known() -> Column:
    return (F.col("from_tier") != _UNKNOWN) & (F.col("to_tier") != _UNKNOWN)


def _within() -> Column:
    """Links within a tier are two layers, one for each direction; null for links between tiers."""
    forth = F.struct(F.col("from").alias("node"), F.col("from_port").alias("port"))
    back = F.struct(F.col("to").alias("node"), F.col("to_port").alias("port"))
    is_within = (F.col("from_tier") == F.col("to_tier")) & _is_known()
    return F.when(is_within, F.when(forth <= back, F.lit("forth")).otherwise(F.lit("back")))
