"""Tables of one or many boxes' datasets as frames.

A path is the root of a dataset (the directory that holds `windows/`, `flows/` and so on), a glob of roots, or the same
in an object store. Spark lists only the partitions (`date=…/hour=…`) of the time that is asked for.

Every table has its columns of docs/formats.md, null where a segment of an earlier version lacks one, and one more:
`dataset`, the root that the row is from. `dataset` and `observer` together identify a box, because two boxes
may have the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from rocescope_fleet.schema import columns, spark_schema, table_names

WINDOW_KEY = ("dataset", "observer", "window_start_ns")
"""What identifies a window of a box."""

WINDOWED = ("flows", "opcodes", "pdcs", "spread")
"""Tables that a capture writes window by window: a window counts only if it is in `windows` as well."""

REVISED = ("sla", "verdicts", "links")
"""Tables with the rows of each analysis of a window: the latest one counts, and it is complete if `sla` has it."""

RESOLUTIONS = ("1m", "1h", "1d")
"""What `rocescope dataset rollup` makes."""

_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Dataset:
    """The tables of the datasets at `paths`, with the rows from `since` to before `until`.

    Frames are lazy, and each property makes a new one: cache what you ask more than once.
    """

    spark: SparkSession
    paths: tuple[str, ...]
    since: datetime | None = None
    until: datetime | None = None

    def table(self, name: str) -> DataFrame:
        """A table as stored, incomplete windows and replaced analyses included; without rows if no dataset has it.

        Raises ValueError if the format has no such table.
        """
        found = [pattern for pattern in self._patterns(name) if _matches(self.spark, pattern)]
        schema = spark_schema(name)
        if not found:
            return self.spark.createDataFrame([], schema).withColumn("dataset", F.lit(None).cast(StringType()))
        # Spark's reader cannot look into LZ4 dictionaries of more than 8 KiB: a filter on such a column would fail.
        reader = self.spark.read.option("parquet.filter.dictionary.enabled", "false")
        rows = reader.schema(schema).parquet(*found)
        rows = rows.withColumn("dataset", F.substring_index("_metadata.file_path", f"/{name}/date=", 1))
        time = "window_start" if "window_start" in dict(columns(name)) else "time"
        if self.since is not None:
            rows = rows.where(F.col(time) >= F.lit(self.since))
        if self.until is not None:
            rows = rows.where(F.col(time) < F.lit(self.until))
        return rows

    def complete(self, name: str) -> DataFrame:
        """A table of `WINDOWED` without the windows that a kill cut off, which are missing in `windows`."""
        return complete_windows(self.table(name), self.windows)

    def latest(self, name: str) -> DataFrame:
        """A table of `REVISED` without the rows that a later analysis of their window replaces."""
        return latest_revisions(self.table(name), self.table("sla"))

    @property
    def windows(self) -> DataFrame:
        """Totals, outcomes and sketches of each window."""
        return self.table("windows")

    @property
    def flows(self) -> DataFrame:
        """The largest flows of each complete window."""
        return self.complete("flows")

    @property
    def opcodes(self) -> DataFrame:
        """Packets of each opcode in each complete window."""
        return self.complete("opcodes")

    @property
    def events(self) -> DataFrame:
        """NAKs, losses, jumps of a rate and the like."""
        return self.table("events")

    @property
    def connections(self) -> DataFrame:
        """Totals of each direction of a connection, a row a minute: see `ends.latest_connections`."""
        return self.table("connections")

    @property
    def counters(self) -> DataFrame:
        """What the hosts counted."""
        return self.table("counters")

    @property
    def probes(self) -> DataFrame:
        """Probes between the NICs of a host."""
        return self.table("probes")

    @property
    def path_hops(self) -> DataFrame:
        """Hops of the traced paths of probes: the table `paths`."""
        return self.table("paths")

    @property
    def flow_paths(self) -> DataFrame:
        """Hops of the paths of flows, as `rocescope paths discover` found them."""
        return self.table("flow_paths")

    @property
    def link_loads(self) -> DataFrame:
        """Flows on each direction of each link, by window or run."""
        return self.table("link_loads")

    def create_views(self) -> None:
        """Makes a temporary view of each table, under its name, as the questions in `questions/` expect them."""
        for name in table_names():
            rows = self.complete(name) if name in WINDOWED else self.table(name)
            if name in REVISED:
                rows = self.latest(name)
            rows.createOrReplaceTempView(name)

    def _patterns(self, table: str) -> Iterator[str]:
        roots = (path.rstrip("/") for path in self.paths)
        return (f"{root}/{table}/{partitions(root, self.since, self.until)}" for root in roots)


def open_dataset(
    spark: SparkSession,
    paths: str | Iterable[str],
    since: datetime | None = None,
    until: datetime | None = None,
    resolution: str | None = None,
) -> Dataset:
    """The datasets at `paths`: directories, globs of directories, or URLs such as `s3a://bucket/fleet/*`.

    `since` and `until` choose rows by `window_start` or `time`, in UTC unless they state another zone: from `since` on
    and before `until`. With both, only the partitions of these hours are listed and read.

    `resolution` reads the rollups of the datasets instead: `"1m"`, `"1h"` or `"1d"`, rows of a minute, an hour or a
    day. `dataset` is then the directory of that resolution.

    Raises FileNotFoundError if a path holds no table of a dataset, ValueError if there is no path, no such resolution,
    or no time between the two.
    """
    roots = (paths,) if isinstance(paths, str) else tuple(paths)
    if not roots:
        raise ValueError("no dataset: name at least one directory")
    if resolution is not None:
        if resolution not in RESOLUTIONS:
            raise ValueError(f"no rollups of {resolution}: name one of {', '.join(RESOLUTIONS)}")
        roots = tuple(f"{root.rstrip('/')}/rollups/{resolution}" for root in roots)
    since, until = _utc(since), _utc(until)
    if since is not None and until is not None and until <= since:
        raise ValueError(f"no time between {since} and {until}")
    names = "{" + ",".join(table_names()) + "}"
    for root in roots:
        if not _matches(spark, f"{root.rstrip('/')}/{names}"):
            raise FileNotFoundError(f"{root} holds no table of a rocescope dataset, such as `windows`")
    return Dataset(spark, roots, since, until)


def complete_windows(rows: DataFrame, windows: DataFrame) -> DataFrame:
    """The rows whose window is in `windows`: `rocescope` writes that row last, so the window is complete.

    Windows that a kill cut off are few, so they are looked up first and sent to all tasks: no other row moves.
    """
    key = list(WINDOW_KEY)
    cut_off = rows.select(*key).distinct().join(windows.select(*key), key, "left_anti")
    return rows.join(F.broadcast(cut_off), key, "left_anti").select(*rows.columns)


def latest_revisions(rows: DataFrame, sla: DataFrame) -> DataFrame:
    """The rows of the latest analysis of each window in `sla`: a collector analyzes a window again when rows come late.

    Windows of earlier versions have no number: 0.
    """
    key = list(WINDOW_KEY)
    revision = F.coalesce(F.col("revision"), F.lit(0))
    last = sla.groupBy(*key).agg(F.max(revision).alias("_last"))
    return rows.join(last, key, "inner").where(revision == F.col("_last")).select(*rows.columns)


def with_date(rows: DataFrame, time: str = "window_start_ns") -> DataFrame:
    """Adds `date`, the day in UTC, of a column of nanoseconds since 1970: text such as `2026-11-21`."""
    day = F.date_add(F.to_date(F.lit("1970-01-01")), F.floor(F.col(time) / F.lit(_DAY_NS)).cast("int"))
    return rows.withColumn("date", F.date_format(day, "yyyy-MM-dd"))


_DAY_NS = 86_400_000_000_000


def with_racks(rows: DataFrame, racks: DataFrame, host: str = "observer") -> DataFrame:
    """Adds the column `rack` of `racks`, a frame of `host` and `rack`; null for hosts that it lacks.

    A datacentre's list of hosts is small: Spark sends it to all tasks instead of moving rows.
    """
    known = racks.select(F.col("host").alias(host), "rack").dropDuplicates([host])
    return rows.join(F.broadcast(known), host, "left")


def _utc(time: datetime | None) -> datetime | None:
    if time is None:
        return None
    return time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time.astimezone(timezone.utc)


def partitions(path: str, since: datetime | None, until: datetime | None) -> str:
    """A glob of the partitions from `since` to before `until`; of all days if one end is open.

    A partition is an hour; of rollups of an hour it is a day, of those of a day a month, under the name of its first
    hour.
    """
    if since is None or until is None:
        return "date=*/hour=*"
    start = since.replace(minute=0, second=0, microsecond=0)
    if path.endswith(("/rollups/1h", "/rollups/1d")):
        start = start.replace(hour=0)
    if path.endswith("/rollups/1d"):
        start = start.replace(day=1)
    days: dict[str, list[str]] = {}
    while start < until:
        days.setdefault(f"{start:%Y-%m-%d}", []).append(f"{start:%H}")
        start += _HOUR
    parts = [f"date={day}/hour={_either(hours)}" for day, hours in days.items()]
    return _either(parts)


def _either(words: Sequence[str]) -> str:
    """A glob of any of these words."""
    return words[0] if len(words) == 1 else "{" + ",".join(words) + "}"


def _matches(spark: SparkSession, pattern: str) -> bool:
    """Whether a glob of any file system that Spark knows matches something."""
    jvm: Any = spark.sparkContext._jvm
    path = jvm.org.apache.hadoop.fs.Path(pattern)
    files = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    found = files.globStatus(path)
    return found is not None and len(found) > 0
