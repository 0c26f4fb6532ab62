"""Which link or switch drops the probes of a fleet: Algorithm 1 of Hostmesh.

Every drop that is no problem of a NIC votes for each link and each switch of its path; the place with the most votes is
the suspect. `weighted_votes` shares one vote among the links of a path (007: Arzani and others, NSDI 2018, section
5.1). docs/hostmesh-analysis-method.md describes where these rules mislead; `rocescope diagnose mesh` adds verdicts of
its own to them, which need the rows of a mesh in one place.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from rocescope_fleet.mesh import TUPLE, MeshSettings, judged_probes, with_path


def vote_links(
    probes: DataFrame,
    hops: DataFrame,
    nodes: DataFrame | None = None,
    settings: MeshSettings = MeshSettings(),  # noqa: B008
) -> DataFrame:
    """Votes for the links that the drops of each window crossed.

    `probes` and `hops` are the tables `probes` and `paths`. `nodes` (columns `address`, `node`) names the switches of a
    topology; without it each address is a switch of its own. It is sent to all tasks.

    Returns a row for each window in which more than `max_ignored` drops are problems of switches, and link that has
    votes: `window_start_ns`; `from` (the node before, if `nodes` names it; otherwise null); `to`; `address`, which
    identifies the link; `votes` (drops), `weighted_votes`; `is_first`: no other link has more. The columns have the
    values of the table `links`, exact but for the order in which `weighted_votes` are added.
    """
    drops = _switch_drops(probes, hops, settings)
    crossed = _links(drops, nodes, F.col("drops"), F.col("drops") / F.size("links"))
    votes = crossed.groupBy("window_start_ns", "from", "to", "address").agg(
        F.sum("_count").alias("votes"), F.sum("_weight").alias("weighted_votes")
    )
    most = F.max("votes").over(Window.partitionBy("window_start_ns"))
    return votes.withColumn("is_first", F.col("votes") == most)


def vote_switches(
    probes: DataFrame,
    hops: DataFrame,
    nodes: DataFrame | None = None,
    settings: MeshSettings = MeshSettings(),  # noqa: B008
) -> DataFrame:
    """Votes for switches: `window_start_ns`, `switch`, `votes`, `weighted_votes`, `is_first`.

    As `vote_links`, with each link's vote for the switch that it leads to; the last link leads to a NIC.
    """
    drops = _switch_drops(probes, hops, settings)
    crossed = _links(drops, nodes, F.col("drops"), F.col("drops") / F.size("links"))
    votes = (
        crossed.where(F.col("address") != F.col("dst"))
        .groupBy("window_start_ns", F.col("to").alias("switch"))
        .agg(F.sum("_count").alias("votes"), F.sum("_weight").alias("weighted_votes"))
    )
    most = F.max("votes").over(Window.partitionBy("window_start_ns"))
    return votes.withColumn("is_first", F.col("votes") == most)


def link_coverage(
    probes: DataFrame,
    hops: DataFrame,
    nodes: DataFrame | None = None,
    settings: MeshSettings = MeshSettings(),  # noqa: B008
) -> DataFrame:
    """How often the probes of a window crossed each link: `tuples`, `probes`, `drops` of the table `links`.

    Returns `window_start_ns`, `from`, `to`, `address` as `vote_links` and these three, for links that were crossed.
    """
    rows = judged_probes(probes, settings).where("is_sent OR outcome = 'unsent'")
    cells = (
        with_path(rows, hops)
        .where(F.col("links").isNotNull())
        .groupBy("window_start_ns", *TUPLE, "path_from_ns")
        .agg(
            F.first("links").alias("links"),
            F.count_if("is_sent").alias("sent"),
            F.count_if("is_drop").alias("dropped"),
        )
    )
    crossed = _links(cells, nodes, F.col("sent"), F.col("dropped"))
    return crossed.groupBy("window_start_ns", "from", "to", "address").agg(
        F.count(F.lit(1)).alias("tuples"), F.sum("_count").alias("probes"), F.sum("_weight").alias("drops")
    )


def _switch_drops(probes: DataFrame, hops: DataFrame, settings: MeshSettings) -> DataFrame:
    """Drops by window and path that are problems of switches, of windows with enough of them to vote."""
    drops = judged_probes(probes, settings).where(F.col("cause") == "switch")
    # Only drops need their paths: they are few, so only their 5-tuples are looked up.
    counted = with_path(drops.select("window_start_ns", "time_ns", *TUPLE), hops)
    cells = counted.groupBy("window_start_ns", *TUPLE, "path_from_ns").agg(
        F.first("links").alias("links"), F.count(F.lit(1)).alias("drops")
    )
    enough = F.sum("drops").over(Window.partitionBy("window_start_ns")) > settings.max_ignored
    return cells.withColumn("_enough", enough).where(F.col("_enough") & F.col("links").isNotNull())


def _links(cells: DataFrame, nodes: DataFrame | None, count: Column, weight: Column) -> DataFrame:
    """A row for each link that a cell crosses."""
    each = cells.select(
        "window_start_ns", "dst", count.alias("_count"), weight.alias("_weight"), F.explode("links").alias("_link")
    ).select("window_start_ns", "dst", "_count", "_weight", "_link.previous", "_link.address")
    if nodes is None:
        return each.withColumns({"from": F.lit(None).cast("string"), "to": F.col("address")})
    known = nodes.select("address", "node").dropDuplicates(["address"])
    before = known.select(F.col("address").alias("previous"), F.col("node").alias("from"))
    after = known.select("address", F.col("node").alias("_node"))
    named = each.join(F.broadcast(before), "previous", "left").join(F.broadcast(after), "address", "left")
    return named.withColumn("to", F.coalesce("_node", "address")).drop("_node", "previous")
