"""What the probes of a mesh have in common: windows, paths, and which drops are problems of a NIC.

The rules are those of Hostmesh (Liu and others, APNet 2024, sections 3.4 and 4), as `rocescope diagnose mesh`
applies them; docs/hostmesh-analysis.md defines the terms. An address identifies a NIC in the whole fleet.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

TUPLE = ("src", "dst", "udp_src_port", "udp_dst_port")
"""The 5-tuple of a probe; the protocol is UDP."""


@dataclass(frozen=True)
class MeshSettings:
    """Durations and thresholds, with the defaults of `rocescope diagnose mesh`."""

    window_ns: int = 20_000_000_000
    """Length of a window: 20 s; a whole number of windows in an hour."""
    sticky_ns: int = 60_000_000_000
    """How long a NIC stays anomalous after its window: 1 minute."""
    nic_percent: int = 10
    """A NIC is anomalous when more than this share of the probes to it drop, in percent."""
    min_probes: int = 10
    """The fewest probes by which a NIC is judged."""
    max_ignored: int = 4
    """Algorithm 1 votes only if more drops than this are problems of switches."""

    def __post_init__(self) -> None:
        if self.window_ns < 1_000 or _HOUR_NS % self.window_ns:
            raise ValueError(f"an hour must be a whole number of windows: {self.window_ns} ns")
        if self.sticky_ns < 0 or not 0 <= self.nic_percent < 100:
            raise ValueError("the time that a NIC stays anomalous, and its percentage below 100, cannot be negative")


_HOUR_NS = 3_600_000_000_000


def judged_probes(probes: DataFrame, settings: MeshSettings = MeshSettings()) -> DataFrame:
    """The probes of the table `probes`, with what the paper's rules make of each.

    Adds:

    - `window_start_ns`: start of its window;
    - `is_sent`: whether it left; `is_drop`: whether it left and did not arrive intact (`timeout` or `corrupt`);
    - `cause`, of a drop: `rnic` if the NIC at either end is anomalous in this window or was in the minute before,
      otherwise `switch`. A NIC is anomalous in a window in which more than 10 % of the probes *to* it drop.
    """
    window = F.col("time_ns") - F.pmod("time_ns", F.lit(settings.window_ns))
    known = probes.where(F.col("outcome").isin("received", "timeout", "corrupt", "unsent"))
    rows = known.withColumns(
        {
            "window_start_ns": window,
            "is_sent": F.col("outcome") != "unsent",
            "is_drop": F.col("outcome").isin("timeout", "corrupt"),
        }
    )
    until = _anomalous_until(anomalous_nics(rows, settings), settings)
    # The time to the microsecond, as the analyzer keeps it.
    at = F.col("time_ns") - F.pmod("time_ns", F.lit(1_000))
    for end in ("src", "dst"):
        of_end = until.select("window_start_ns", F.col("nic").alias(end), F.col("until_ns").alias(f"_{end}_until"))
        rows = rows.join(F.broadcast(of_end), ["window_start_ns", end], "left")
    is_rnic = F.coalesce(at < F.col("_src_until"), F.lit(False)) | F.coalesce(at < F.col("_dst_until"), F.lit(False))
    cause = F.when(F.col("is_drop"), F.when(is_rnic, F.lit("rnic")).otherwise(F.lit("switch")))
    return rows.withColumn("cause", cause).drop("_src_until", "_dst_until")


def anomalous_nics(probes: DataFrame, settings: MeshSettings) -> DataFrame:
    """NICs to which too many probes drop: `window_start_ns`, `nic` (its address), `probes`, `drops`.

    `probes` has `window_start_ns`, `is_sent` and `is_drop`.
    """
    to = probes.groupBy("window_start_ns", F.col("dst").alias("nic")).agg(
        F.count_if("is_sent").alias("probes"), F.count_if("is_drop").alias("drops")
    )
    is_anomalous = F.col("drops") * 100 > F.col("probes") * settings.nic_percent
    return to.where((F.col("probes") >= settings.min_probes) & is_anomalous)


def _anomalous_until(anomalous: DataFrame, settings: MeshSettings) -> DataFrame:
    """By window and NIC that is anomalous in it or in an earlier one: `until_ns`, when it is no longer."""
    length = settings.window_ns
    until = F.col("window_start_ns") + length + settings.sticky_ns
    later = F.sequence(F.col("window_start_ns"), until - 1, F.lit(length))
    each = anomalous.select("nic", until.alias("until_ns"), F.explode(later).alias("window_start_ns"))
    return each.groupBy("window_start_ns", "nic").agg(F.max("until_ns").alias("until_ns"))


def path_versions(hops: DataFrame) -> DataFrame:
    """The paths that each 5-tuple has had: `TUPLE` and `versions`, an array in the order of time.

    `hops` is the table `paths`. A version has `from_ns`, since when it holds; `hour`, that of its trace, in hours since
    1970; and `links`, an array of `previous` (the address of the hop before, null after a hop that did not answer and
    for the first) and `address` (the address that the link leads to). A trace that does not reach its destination
    changes nothing, and one that finds the same links makes no version.
    """
    traces = hops.groupBy(*TUPLE, "time_ns", "hops").agg(
        F.array_sort(F.collect_set(F.struct("hop", "address"))).alias("found")
    )
    last = F.element_at("found", -1)
    whole = traces.where(
        (F.size("found") == F.col("hops")) & (last["hop"] == F.col("hops")) & (last["address"] == F.col("dst"))
    )
    addresses = F.transform("found", lambda hop: hop["address"])

    def link(address: Column, number: Column) -> Column:
        before = F.when(number > 0, F.get("addresses", number - 1))
        return F.struct(before.alias("previous"), address.alias("address"))

    links = F.filter(F.transform("addresses", link), lambda one: one["address"].isNotNull())
    version = F.struct(
        F.col("time_ns").alias("from_ns"),
        F.floor(F.col("time_ns") / F.lit(_HOUR_NS)).alias("hour"),
        F.col("links"),
    )
    all_of = whole.withColumn("addresses", addresses).withColumn("links", links)
    sorted_ = all_of.groupBy(*TUPLE).agg(F.array_sort(F.collect_list(version)).alias("all"))

    def is_new(one: Column, number: Column) -> Column:
        # Compared by the addresses that links lead to.
        before = F.get("all", number - 1)
        return (number == 0) | (_addresses(one) != _addresses(before))

    return sorted_.select(*TUPLE, F.filter("all", is_new).alias("versions"))


def _addresses(version: Column) -> Column:
    return F.transform(version["links"], lambda link: link["address"])


def with_path(rows: DataFrame, hops: DataFrame, time: str = "time_ns") -> DataFrame:
    """Adds `path_from_ns` and `links` of the path that each row's 5-tuple has at its time; null without one.

    A path holds from its trace until the next; a row from before the first trace has that first path, if the trace is
    of the same hour or an earlier one. See `path_versions` for `links`.
    """
    at = F.col(time) - F.pmod(time, F.lit(1_000))
    hour = F.floor(F.col(time) / F.lit(_HOUR_NS))
    known = F.filter("versions", lambda version: version["hour"] <= hour)
    joined = rows.join(path_versions(hops), list(TUPLE), "left").withColumn("_known", known)
    held = F.filter("_known", lambda version: version["from_ns"] <= at)
    version = F.coalesce(F.try_element_at(held, F.lit(-1)), F.get("_known", F.lit(0)))
    return (
        joined.withColumn("_version", version)
        .withColumns({"path_from_ns": F.col("_version.from_ns"), "links": F.col("_version.links")})
        .drop("versions", "_known", "_version")
    )
