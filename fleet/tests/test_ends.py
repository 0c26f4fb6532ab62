"""Losses on the wire beside counters of hosts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from conftest import Rocescope
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from simulated_fleet import write_rows

from rocescope_fleet import latest_connections, losses_beside_counters, open_dataset

CAPTURE = "loss1_egress_node1"


def test_losses_are_those_of_connections(spark: SparkSession, rocescope: Rocescope, captures: Path) -> None:
    fleet = open_dataset(spark, str(captures))
    rows = latest_connections(fleet.connections)
    theirs = rocescope.json("report", captures, "--observer", CAPTURE)["totals"]
    ours = rows.where(F.col("observer") == CAPTURE).agg(
        F.sum("fabric_lost_packets").alias("lost"), F.sum("retransmitted_packets").alias("retransmitted")
    )
    [row] = ours.collect()
    assert (row.lost, row.retransmitted) == (theirs["fabric_lost_packets"], theirs["retransmitted_packets"])
    assert row.lost > 0


def test_both_ends_stand_beside_a_loss(spark: SparkSession, captures: Path, scratch: Path) -> None:
    fleet = open_dataset(spark, str(captures))
    lossy = latest_connections(fleet.connections).where(
        (F.col("observer") == CAPTURE) & (F.col("fabric_lost_packets") > 0)
    )
    loss = lossy.orderBy(F.col("fabric_lost_packets").desc(), "role").first()
    assert loss is not None
    counted(scratch, "sender", loss.src, loss.time_ns, {"packet_seq_err": (7, 5), "local_ack_timeout_err": (0, 2)})
    counted(scratch, "receiver", loss.dst, loss.time_ns, {"out_of_sequence": (3, 0)})
    counted(scratch, "bystander", "192.0.2.1", loss.time_ns, {"out_of_sequence": (1, 1)})
    # Whose address this is, is unknown: two hosts state it.
    for host in ("twin-1", "twin-2"):
        counted(scratch, host, "192.0.2.9", loss.time_ns, {"out_of_sequence": (1, 1)})
    both = open_dataset(spark, [str(captures), str(scratch)])
    rows = losses_beside_counters(both.connections.where(F.col("observer") == CAPTURE), both.counters).collect()
    [row] = [row for row in rows if (row.connection, row.role) == (loss.connection, loss.role)]
    assert (row.src, row.dst, row.fabric_lost_packets) == (loss.src, loss.dst, loss.fabric_lost_packets)
    assert (row.src_host, row.dst_host, row.src_device) == ("sender", "receiver", "mlx5_0")
    assert row.src_counters == {"packet_seq_err": 12, "local_ack_timeout_err": 2}
    assert row.dst_counters == {"out_of_sequence": 3}
    everywhere = losses_beside_counters(both.connections, both.counters).collect()
    lossless = (
        latest_connections(both.connections).where("fabric_lost_packets = 0 AND retransmitted_packets = 0").count()
    )
    assert len(everywhere) == latest_connections(both.connections).count() - lossless


def counted(root: Path, host: str, address: str, time_ns: int, increases: dict[str, tuple[int, int]]) -> None:
    """Two reads of the counters of a host with one port."""
    rows: list[tuple[str, int | None, str | None, str | None, int | None]] = [("addresses", 1, None, address, None)]
    rows += [(metric, None, "negative", None, grown) for metric, both in increases.items() for grown in both]
    metric, value, sign, text, increase = (list(column) for column in zip(*rows, strict=True))
    count = len(rows)
    write_rows(
        root,
        "counters",
        host,
        {
            "time_ns": np.full(count, time_ns),
            "device": ["mlx5_0"] * count,
            "port": np.ones(count, np.int64),
            "driver": ["mlx5"] * count,
            "source": ["hw_counters"] * count,
            "name": metric,
            "metric": metric,
            "sign": sign,
            "kind": ["counter"] * count,
            "value": [None if one is None else float(one) for one in value],
            "unit": ["packets"] * count,
            "text": text,
            "increase": increase,
        },
    )
