"""Sizes of flows from the Count-Min sketches of windows, merged.

Spark reads these bytes as a `CountMinSketch`, but SQL has no function that merges or asks them (Spark 4.3), and a
function in Python would copy half a megabyte of each sketch. So this module takes the few counters that a flow needs
out of the bytes, with built-in functions, or makes them from the flows of a window that lists them all. The sum of
these counters over sketches is that of the merged table, and the smallest of the sums is its estimate, to the digit.

docs/formats.md, section Count-Min, has the layout and the formula.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rocescope_fleet.listed import cell, unlisted

_LOW_32 = 0xFFFFFFFF
_LOW_31 = 0x7FFFFFFF
WIDTH = 16_384
"""Counters in a row of the format's tables."""
MULTIPLIERS = (1562431130, 117392763, 1467211248, 102948884)
"""`hashA` of each row of the format's tables: those of seed 42."""
_DEPTH = len(MULTIPLIERS)
_HEADER = 20
"""Bytes before the multipliers: version, total, depth, width."""


def count_min_estimates(
    windows: DataFrame, flows: DataFrame, flow_hashes: DataFrame, column: str, by: Sequence[str] = ()
) -> DataFrame:
    """Upper bounds of the sizes of flows, from the sketches `column` of the rows of `windows`, merged by `by`.

    `column` is `count_min_packets` (packets) or `count_min_bytes` (frame bytes). `flow_hashes` has the column
    `flow_hash`, and is sent to all tasks: thousands of flows, not millions. A window that lists all its flows has no
    sketch: its counters are made from its rows of `flows`. Other rows without the sketch count for nothing.

    Returns a row for each flow and group that has a sketch:

    - `estimate`: at least the true size, unless the group has windows that neither have the sketch nor list all flows.
    - `total`: the sum of the sizes of all flows in these sketches.
    - `slack`: `estimate` exceeds the true size by at most this much, `⌈e total / width⌉`, with a probability of
      1 - e^-depth (98.2 % for a depth of 4); Cormode and Muthukrishnan 2005, section 3. With conservative update the
      merged table is looser than one that saw all packets, but within the same slack.

    Sketches of other parameters are merged apart and their estimates and slacks added: still an upper bound.
    """
    hashes = flow_hashes.select("flow_hash").distinct()
    made = _made(windows, flows, hashes, column, by)
    return _estimates(_stored(windows, hashes, column, by).unionByName(made), by)


def stored_estimates(windows: DataFrame, flow_hashes: DataFrame, column: str, by: Sequence[str]) -> DataFrame:
    """The same from stored sketches alone."""
    return _estimates(_stored(windows, flow_hashes.select("flow_hash").distinct(), column, by), by)


def _estimates(counters: DataFrame, by: Sequence[str]) -> DataFrame:
    """Merges the counters of flows, and takes the smallest of each."""
    group = [*by, "flow_hash", "_header"]
    merged = counters.groupBy(*group, "_row").agg(
        F.sum("_count").alias("_count"), F.sum("_total").alias("_total"), F.first("_width").alias("_width")
    )
    slack = F.ceil(F.lit(math.e) / F.col("_width") * F.col("total"))
    estimates = (
        merged.groupBy(*group)
        .agg(F.min("_count").alias("estimate"), F.first("_total").alias("total"), F.first("_width").alias("_width"))
        .withColumn("slack", slack)
    )
    return estimates.groupBy(*by, "flow_hash").agg(
        F.sum("estimate").alias("estimate"), F.sum("total").alias("total"), F.sum("slack").alias("slack")
    )


def _stored(windows: DataFrame, hashes: DataFrame, column: str, by: Sequence[str]) -> DataFrame:
    """The counters of flows in each stored sketch."""
    hashes = hashes.agg(F.collect_list("flow_hash").alias("_hashes"))
    sketch = F.col("_sketch")
    shaped = (
        windows.where(F.col(column).isNotNull())
        .select(*by, F.col(column).alias("_sketch"))
        .withColumn("_depth", _integer(sketch, 13, 4))
        .withColumn("_width", _integer(sketch, 17, 4))
        .withColumn("_total", _integer(sketch, 5, 8))
        .withColumn("_header", F.substring(sketch, F.lit(13), F.lit(8) + F.col("_depth") * 8))
    )
    asked = shaped.crossJoin(F.broadcast(hashes)).select(
        *by,
        "_header",
        "_width",
        "_total",
        F.transform("_hashes", lambda flow: F.struct(flow.alias("flow_hash"), _counters(flow).alias("row"))).alias(
            "_all"
        ),
    )
    each = asked.select(*by, "_header", "_width", "_total", F.inline("_all"))
    return each.select(*by, "_header", "_width", "_total", "flow_hash", F.posexplode("row").alias("_row", "_count"))


def _made(windows: DataFrame, flows: DataFrame, hashes: DataFrame, column: str, by: Sequence[str]) -> DataFrame:
    """The counters of flows in the sketches of windows that list all their flows, added up for each group."""
    size = "packets" if column == "count_min_packets" else "frame_bytes"
    key = cell(by)
    without = windows.where(F.col(column).isNull()).select(*key).distinct()
    listing = without.join(unlisted(flows, windows, by).select(*key), key, "left_anti")
    rows = flows.join(listing, key, "left_semi").select(*by, "flow_hash", F.col(size).alias("_size"))
    sums = rows.groupBy(*by).agg(F.sum("_size").alias("_sum"))
    groups = listing.groupBy(*by).agg(F.count(F.lit(1)).alias("_windows")).where("_windows > 0")
    totals = groups.join(sums, list(by), "left") if by else groups.crossJoin(sums)
    asked = hashes.select("flow_hash", F.posexplode(_places(F.col("flow_hash"))).alias("_row", "_place"))
    # Each counter is there, also without a flow.
    empty = totals.crossJoin(F.broadcast(asked)).select(
        *by, "flow_hash", "_row", F.lit(0).cast("bigint").alias("_count"), F.coalesce("_sum", F.lit(0)).alias("_total")
    )
    placed = rows.select(*by, "_size", F.posexplode(_places(F.col("flow_hash"))).alias("_row", "_place"))
    sums = placed.groupBy(*by, "_row", "_place").agg(F.sum("_size").alias("_count"))
    found = sums.join(F.broadcast(asked), ["_row", "_place"]).select(
        *by, "flow_hash", "_row", "_count", F.lit(0).cast("bigint").alias("_total")
    )
    header = struct.pack(f">2i{_DEPTH}q", _DEPTH, WIDTH, *MULTIPLIERS)
    return empty.unionByName(found).select(
        *by,
        F.lit(header).alias("_header"),
        F.lit(WIDTH).cast("bigint").alias("_width"),
        "_total",
        "flow_hash",
        "_row",
        "_count",
    )


def _places(flow: Column) -> Column:
    """The counter of a flow in each row of a table of the format's shape."""
    return F.array(*(_place(flow, F.lit(multiplier), F.lit(WIDTH)) for multiplier in MULTIPLIERS))


def _integer(sketch: Column, first: int | Column, length: int) -> Column:
    """A big-endian integer of `length` bytes from byte `first` on, counted from 1; not negative."""
    at = F.lit(first) if isinstance(first, int) else first
    return F.conv(F.hex(F.substring(sketch, at, F.lit(length))), 16, 10).cast("bigint")


def _counters(flow: Column) -> Column:
    """The counter of a flow in each row of the table."""
    depth, width = F.col("_depth"), F.col("_width")

    def counter(row: Column) -> Column:
        multiplier = _integer(F.col("_sketch"), (F.lit(_HEADER + 1) + row * 8).cast("int"), 8)
        place = row * width + _place(flow, multiplier, width)
        return _integer(F.col("_sketch"), (F.lit(_HEADER + 1) + (depth + place) * 8).cast("int"), 8)

    return F.transform(F.sequence(F.lit(0).cast("bigint"), depth - 1), counter)


def _place(flow: Column, multiplier: Column, width: Column) -> Column:
    """`h = multiplier * flow; h += h >> 32; h &= 2^31 - 1; h % width` of wrapping 64-bit numbers.

    Spark's multiplication fails where it would wrap. A multiplier has 31 bits, so the products with the halves of the
    key do not; only the lower 32 bits of the upper one count.
    """
    low = multiplier * flow.bitwiseAND(_LOW_32)
    high = multiplier * F.shiftrightunsigned(flow, 32)
    upper = (F.shiftrightunsigned(low, 32) + high.bitwiseAND(_LOW_32)).bitwiseAND(_LOW_32)
    return (low.bitwiseAND(_LOW_32) + upper).bitwiseAND(_LOW_31) % width
