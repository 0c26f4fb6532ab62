"""Wire and hosts: what the network lost of a connection, beside what the NICs at its two ends counted."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

DIRECTION = ("dataset", "observer", "connection", "role")
"""What identifies a direction of a connection in all its rows."""


def latest_connections(connections: DataFrame) -> DataFrame:
    """The valid row of each direction: `connections` holds totals, a row a minute, so the latest counts.

    Adds `fabric_lost_packets`: packets that the network dropped upstream or downstream of the tap.
    """
    newest = Window.partitionBy(*DIRECTION).orderBy(F.col("time_ns").desc())
    lost = F.col("fabric_lost_upstream_packets") + F.col("fabric_lost_downstream_packets") + F.col("unanswered_packets")
    rows = connections.withColumn("_newest", F.row_number().over(newest)).where(F.col("_newest") == 1)
    return rows.drop("_newest").withColumn("fabric_lost_packets", lost)


def port_addresses(counters: DataFrame) -> DataFrame:
    """Whose an address is: `address`, `host` (the observer of its counters), `device`, `port`.

    From the metric `addresses`, the latest of each port. An address that two ports have belongs to neither.
    """
    newest = Window.partitionBy("observer", "device", "port").orderBy(F.col("time_ns").desc())
    stated = counters.where((F.col("metric") == "addresses") & F.col("text").isNotNull())
    latest = stated.withColumn("_newest", F.row_number().over(newest)).where(F.col("_newest") == 1)
    each = latest.select(
        F.explode(F.split("text", " ")).alias("address"), F.col("observer").alias("host"), "device", "port"
    ).distinct()
    owners = F.count(F.lit(1)).over(Window.partitionBy("address"))
    return each.withColumn("_owners", owners).where(F.col("_owners") == 1).drop("_owners")


def port_increases(counters: DataFrame, sign: str = "negative") -> DataFrame:
    """What grew at each port: `host`, `device`, `port`, and `counters`, a map from metric to its increase.

    Increases are those of all rows, in the unit of the metric (`rocescope dataset schema`); rows of a port with the
    same metric add up, as drivers count IPv4 and IPv6 apart. With `sign` `negative`, only metrics that state trouble.
    """
    grown = (
        counters.where((F.col("sign") == sign) & (F.col("increase") > 0))
        .groupBy(F.col("observer").alias("host"), "device", "port", "metric")
        .agg(F.sum("increase").alias("increase"))
    )
    entry = F.struct("metric", "increase")
    return grown.groupBy("host", "device", "port").agg(
        F.map_from_entries(F.array_sort(F.collect_list(entry))).alias("counters")
    )


def losses_beside_counters(connections: DataFrame, counters: DataFrame) -> DataFrame:
    """Directions of connections that lost or retransmitted packets, beside the counters of both ends.

    `connections` and `counters` are tables of a `Dataset`, of capture boxes and of hosts, of the same time.

    Returns for each direction: `DIRECTION`, `src`, `dst`, `src_qpn`, `dst_qpn`, `packets`, `fabric_lost_packets`,
    `retransmitted_packets`, `timeouts`; `src_host`, `src_device`, `src_port_number`, `src_counters` and the same of
    `dst`: null where no host states the address, or nothing grew there. Counters are of a port, not of a connection.
    """
    rows = latest_connections(connections)
    rows = rows.where((F.col("fabric_lost_packets") > 0) | (F.col("retransmitted_packets") > 0))
    figures = ("packets", "fabric_lost_packets", "retransmitted_packets", "timeouts")
    found = rows.select(*DIRECTION, "src", "dst", "src_qpn", "dst_qpn", *figures)
    owned, grown = port_addresses(counters), port_increases(counters)
    same_port = [owned[name].eqNullSafe(grown[name]) for name in ("host", "device", "port")]
    ports = owned.join(grown, same_port, "left").select(
        owned["address"], *(owned[n] for n in ("host", "device", "port")), "counters"
    )
    for end in ("src", "dst"):
        of_end = ports.select(
            F.col("address").alias(end),
            F.col("host").alias(f"{end}_host"),
            F.col("device").alias(f"{end}_device"),
            F.col("port").alias(f"{end}_port_number"),
            F.col("counters").alias(f"{end}_counters"),
        )
        found = found.join(F.broadcast(of_end), end, "left")
    order = [F.col("fabric_lost_packets").desc(), F.col("retransmitted_packets").desc(), *map(F.col, DIRECTION)]
    return found.orderBy(*order)
