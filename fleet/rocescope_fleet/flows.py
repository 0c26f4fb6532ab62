"""The largest flows of a fleet.

A window lists its largest flows (`capture --flow-rows`, 1,000). A flow that a window does not list may have had traffic
in it: as much as the window has beyond its listed flows, and no more than its Count-Min sketch shows. Both go into the
error columns, as in `rocescope dataset merge`, so that sizes are never below the truth.

Boxes are taken to see different packets: a packet that passed two boxes counts twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from rocescope_fleet.count_min import stored_estimates
from rocescope_fleet.listed import SIZES, cell, unlisted

FLOW_KEY = ("flow_hash", "src", "dst", "udp_src_port", "dst_qpn", "vlan", "inner_vlan", "vni")
"""What identifies a flow; `udp_src_port` is null for a direction that is sprayed over several."""


def top_flows(
    flows: DataFrame, windows: DataFrame, limit: int = 20, by: Sequence[str] = (), sketches: bool = True
) -> DataFrame:
    """The `limit` largest flows of all boxes and windows, or of each group `by`.

    `flows` and `windows` are those of a `Dataset`, with the columns `by` added to both: `("window_start_ns",)` gives
    what `rocescope dataset merge` writes for each window, `("date",)` the flows of a day (`with_date`), `("rack",)` of
    a rack.

    Returns for each flow, the largest first by its lower bound `frame_bytes - error_frame_bytes`:

    - `by`, `rank` (from 1), `FLOW_KEY`, `service`, `windows` (of all boxes, that list it);
    - `packets`, `frame_bytes`: upper bounds, in packets and bytes; `error_packets`, `error_frame_bytes`: how far the
      truth may be below them. 0 if every window lists all its flows: then the sums are exact;
    - `payload_bytes`, `messages`: those of the windows that list the flow;
    - `first_ns`, `last_ns`: first and last packet in these windows, ns since 1970.

    With `sketches`, the bounds of these flows use the Count-Min sketches of the windows that do not list them all:
    half a megabyte for each such window is read. Without, the bounds rest on `flows` and the totals alone. Which flows
    are returned does not depend on it.
    """
    cells = unlisted(flows, windows, by)
    largest = _bounded(flows, cells, by)
    order = Window.partitionBy(*by).orderBy(*_largest_first())
    found = largest.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= limit)
    if not by:
        # A window over all rows would be sorted in one task: this keeps `limit` rows of each.
        found = largest.orderBy(*_largest_first()).limit(limit).withColumn("rank", F.row_number().over(order))
    if sketches:
        found = _tightened(found, flows, windows, cells, by)
    columns = [*by, "rank", *FLOW_KEY, "service", "windows", *_MEASURED]
    return found.select(*columns).orderBy(*by, "rank")


_MEASURED = (
    *(name for pair in SIZES for name in pair),
    "payload_bytes",
    "messages",
    "first_ns",
    "last_ns",
)


def _bounded(flows: DataFrame, cells: DataFrame, by: Sequence[str]) -> DataFrame:
    """All flows with the bounds that follow from `flows` and the totals of windows.

    A flow may have had the whole rest of each window that does not list it: the rest of all windows less that of those
    that list it. So no flow meets every window, and `flows` is summed in one pass.
    """
    key = cell(by)
    sums = flows.groupBy(*by, *FLOW_KEY).agg(
        F.max("service").alias("service"),
        F.count(F.lit(1)).alias("windows"),
        *(F.sum(name).alias(name) for pair in SIZES for name in pair),
        F.sum("payload_bytes").alias("payload_bytes"),
        F.sum("messages").alias("messages"),
        F.min("first_ns").alias("first_ns"),
        F.max("last_ns").alias("last_ns"),
    )
    rests = [f"rest_{size}" for size, _ in SIZES]
    totals = cells.groupBy(*by).agg(*(F.sum(rest).alias(f"all_{rest}") for rest in rests))
    # A flow may have several rows in a window, one for each row of `windows` after a restart: its rest counts once.
    listing = _of_boxes(flows, cells).select(*key, *FLOW_KEY).join(cells, key).distinct()
    listed = listing.groupBy(*by, *FLOW_KEY).agg(*(F.sum(rest).alias(f"listed_{rest}") for rest in rests))
    found = _join(sums, listed, [*by, *FLOW_KEY])
    found = found.join(F.broadcast(totals), list(by), "left") if by else found.crossJoin(F.broadcast(totals))
    for size, error in SIZES:
        all_rest, listed_rest = (F.coalesce(f"{of}_rest_{size}", F.lit(0)) for of in ("all", "listed"))
        beyond = all_rest - listed_rest
        found = found.withColumn(size, F.col(size) + beyond).withColumn(error, F.col(error) + beyond)
    return found


def _tightened(
    found: DataFrame, flows: DataFrame, windows: DataFrame, cells: DataFrame, by: Sequence[str]
) -> DataFrame:
    """The same flows, with the smaller of two bounds in each window that does not list them: its rest, its sketch."""
    key = cell(by)
    listing = _of_boxes(flows, cells).select(*key, *FLOW_KEY).distinct().withColumn("listed", F.lit(True))
    each = found.select(*by, *FLOW_KEY).join(cells, list(by)) if by else found.select(*FLOW_KEY).crossJoin(cells)
    missed = _join(each, listing, [*key, *FLOW_KEY]).where(F.col("listed").isNull())
    short = _of_boxes(windows, cells).join(cells.select(*key), key, "left_semi")
    spare = []
    for size, _ in SIZES:
        column = "count_min_packets" if size == "packets" else "count_min_bytes"
        estimates = stored_estimates(_whole(short, column, key), found, column, key)
        missed = missed.join(
            estimates.select(*key, "flow_hash", F.col("estimate").alias(f"at_most_{size}")), [*key, "flow_hash"], "left"
        )
        rest = F.col(f"rest_{size}")
        # `least` skips nulls: without a sketch the rest is the bound.
        spare.append(F.sum(rest - F.least(rest, f"at_most_{size}")).alias(f"spare_{size}"))
    spared = missed.groupBy(*by, *FLOW_KEY).agg(*spare)
    tight = _join(found, spared, [*by, *FLOW_KEY])
    for size, error in SIZES:
        less = F.coalesce(f"spare_{size}", F.lit(0))
        tight = tight.withColumn(size, F.col(size) - less).withColumn(error, F.col(error) - less)
    return tight


def _of_boxes(rows: DataFrame, cells: DataFrame) -> DataFrame:
    """The rows of boxes with windows that do not list all their flows: often none, so that no row moves for nothing."""
    boxes = cells.select("dataset", "observer").distinct()
    return rows.join(F.broadcast(boxes), ["dataset", "observer"], "left_semi")


def _whole(windows: DataFrame, column: str, key: list[str]) -> DataFrame:
    """The windows of which every row has the sketch: one that lacks a part bounds nothing."""
    part = windows.where(F.col(column).isNull()).select(*key)
    return windows.join(part, key, "left_anti").select(*key, column)


def _join(left: DataFrame, right: DataFrame, key: Sequence[str]) -> DataFrame:
    """A left join in which null equals null, as in the VLAN of an untagged flow."""
    renamed = right.select(*(F.col(name).alias(f"_{name}") if name in key else F.col(name) for name in right.columns))
    equal = [F.col(name).eqNullSafe(F.col(f"_{name}")) for name in key]
    return left.join(renamed, equal, "left").drop(*(f"_{name}" for name in key))


def _largest_first() -> list[Column]:
    lower = F.col("frame_bytes") - F.col("error_frame_bytes")
    return [lower.desc(), *(F.col(name).asc_nulls_last() for name in FLOW_KEY[1:])]
