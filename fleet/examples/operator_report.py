"""Prints an operator's report of a fleet: traffic, loss, and what fails in the mesh.

    python fleet/examples/operator_report.py 'boxes/*'
    python fleet/examples/operator_report.py s3a://bucket/fleet/* --since 2026-11-21T10:00 --until 2026-11-21T12:00

Run it with `spark-submit` to use a cluster.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import datetime

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from rocescope_fleet import (
    Dataset,
    fim,
    flow_counts,
    judged_probes,
    losses_beside_counters,
    open_dataset,
    sla,
    top_flows,
    vote_links,
    with_date,
)

ROWS = 10
"""Rows of each list."""


def totals(fleet: Dataset) -> list[str]:
    [row] = fleet.windows.agg(
        F.count_distinct("dataset", "observer").alias("boxes"),
        F.count(F.lit(1)).alias("windows"),
        F.sum("frames").alias("frames"),
        F.sum("frame_bytes").alias("frame_bytes"),
        F.sum("capture_lost_packets").alias("lost"),
        F.sum("fabric_lost_packets").alias("fabric_lost"),
    ).collect()
    if not row.windows:
        return ["no windows"]
    [count] = flow_counts(fleet.windows, fleet.flows).collect()
    flows = "unknown: a window has no bitmap"
    if count.estimated_flows is not None:
        flows = f"{count.estimated_flows:,.0f} ± {count.estimated_flows_stderr_ratio:.2%} ({count.estimated_by})"
    lost = "unknown: no box tracks connections" if row.fabric_lost is None else f"{row.fabric_lost:,} packets"
    return [
        f"boxes         {row.boxes:,}, {row.windows:,} windows",
        f"frames        {row.frames:,}, {row.frame_bytes / 1e9:,.1f} GB of RoCEv2",
        f"flows         {flows}",
        f"capture loss  {row.lost:,} packets",
        f"fabric loss   {lost}",
    ]


def largest_flows(fleet: Dataset) -> list[str]:
    def line(row: Row) -> str:
        port = "sprayed" if row.udp_src_port is None else row.udp_src_port
        slack = f" (at most {row.error_frame_bytes:,} less)" if row.error_frame_bytes else ""
        return f"{row['rank']:>3}  {row.src}:{port} > {row.dst} QP {row.dst_qpn}  {row.frame_bytes:,} bytes{slack}"

    return [line(row) for row in top_flows(fleet.flows, fleet.windows, limit=ROWS).collect()]


def lossy_connections(fleet: Dataset) -> list[str]:
    def line(row: Row) -> str:
        ends = [f"{end} {row[f'{end}_host'] or 'unknown'}: {grown(row[f'{end}_counters'])}" for end in ("src", "dst")]
        return (
            f"{row.src} > {row.dst} QP {row.dst_qpn}  {row.fabric_lost_packets:,} lost, "
            f"{row.retransmitted_packets:,} retransmitted; {'; '.join(ends)}"
        )

    found = losses_beside_counters(fleet.connections, fleet.counters).limit(ROWS)
    return [line(row) for row in found.collect()]


def grown(counters: dict[str, int] | None) -> str:
    return ", ".join(f"{metric} {increase:,}" for metric, increase in sorted((counters or {}).items())) or "no counter"


def service_levels(fleet: Dataset) -> list[str]:
    def line(row: Row) -> str:
        ratio = (
            "no probes" if row.availability_ratio is None else f"{row.availability_ratio:.5%} of {row.probes:,} arrived"
        )
        network = "" if row.network_p99_ns is None else f", P99 {row.network_p99_ns / 1e3:,.1f} µs"
        return f"{row.date}  {ratio}; {row.rnic_drops:,} drops at NICs, {row.switch_drops:,} in the network{network}"

    judged = with_date(judged_probes(fleet.probes), "time_ns")
    return [line(row) for row in sla(judged, ("date",)).orderBy("date").collect()]


def suspects(fleet: Dataset) -> list[str]:
    votes = vote_links(fleet.probes, fleet.path_hops).where("is_first")
    often = votes.groupBy("to").agg(F.count(F.lit(1)).alias("windows"), F.sum("votes").alias("votes"))
    rows = often.orderBy(F.col("windows").desc(), F.col("votes").desc(), "to").limit(ROWS).collect()
    return [f"link to {row.to}  first in {row.windows:,} windows, {row.votes:,} votes" for row in rows]


def imbalance(fleet: Dataset) -> list[str]:
    rows = fim(with_date(fleet.link_loads), ("date",)).where("fim_percent IS NOT NULL").orderBy("date").collect()
    return [f"{row.date}  FIM {row.fim_percent:.1f} % over {row.links:,} links" for row in rows]


SECTIONS: tuple[tuple[str, Callable[[Dataset], list[str]], str], ...] = (
    ("Traffic", totals, "windows"),
    ("Largest flows", largest_flows, "flows"),
    ("Connections that lost packets, and what their ends counted", lossy_connections, "connections"),
    ("Service levels of the mesh, by day", service_levels, "probes"),
    ("Links that most drops cross (Algorithm 1)", suspects, "probes"),
    ("Imbalance of links, by day", imbalance, "link_loads"),
)


def report(fleet: Dataset) -> str:
    """The report as text; a section without rows names the table that it needs."""
    lines: list[str] = []
    for heading, section, table in SECTIONS:
        found = section(fleet) if has_rows(fleet.table(table)) else []
        lines += [heading, *(f"  {line}" for line in found or [f"none (table `{table}`)"]), ""]
    return "\n".join(lines)


def has_rows(rows: DataFrame) -> bool:
    return bool(rows.limit(1).count())


def main() -> None:
    parser = argparse.ArgumentParser(description="Print an operator's report of a fleet")
    parser.add_argument("dataset", nargs="+", help="directory of a dataset, glob of them, or a URL such as s3a://…")
    parser.add_argument("--since", type=datetime.fromisoformat, help="read rows from this time on, in UTC")
    parser.add_argument("--until", type=datetime.fromisoformat, help="read rows before this time")
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("rocescope-fleet").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        print(report(open_dataset(spark, arguments.dataset, arguments.since, arguments.until)))
    except (FileNotFoundError, ValueError) as error:
        parser.exit(1, f"operator_report: {error}\n")
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
