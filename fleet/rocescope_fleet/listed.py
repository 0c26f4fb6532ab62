"""Which windows list all their flows, and what the others do not list."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rocescope_fleet.dataset import WINDOW_KEY

SIZES = (("packets", "error_packets"), ("frame_bytes", "error_frame_bytes"))
"""Sizes of a flow, each with its error."""


def unlisted(flows: DataFrame, windows: DataFrame, by: Sequence[str] = ()) -> DataFrame:
    """What the windows of each box have beyond their listed flows: `rest_packets`, `rest_frame_bytes`.

    A window of a box that lists all its flows exactly has no row: where there is none, `flows` is complete.
    """
    key = cell(by)
    whole = windows.groupBy(*key).agg(F.sum("roce_packets").alias("packets"), F.sum("frame_bytes").alias("frame_bytes"))
    listed = flows.groupBy(*key).agg(*(F.sum(_lower(*pair)).alias(f"listed_{pair[0]}") for pair in SIZES))
    rest = [
        F.greatest(F.lit(0), F.col(size) - F.coalesce(f"listed_{size}", F.lit(0))).alias(f"rest_{size}")
        for size, _ in SIZES
    ]
    found = whole.join(listed, key, "left").select(*key, *rest)
    return found.where((F.col("rest_packets") > 0) | (F.col("rest_frame_bytes") > 0))


def cell(by: Sequence[str]) -> list[str]:
    """What identifies a window in a group `by`."""
    return [*WINDOW_KEY, *(name for name in by if name not in WINDOW_KEY)]


def _lower(size: str, error: str) -> Column:
    """What a flow had at least."""
    return F.greatest(F.lit(0), F.col(size) - F.col(error))
