"""The tables of a dataset and their columns, as Spark types.

`tables.json` is what `rocescope dataset schema -o json` prints, without the texts; `cargo xtask docs` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

_TYPES: Mapping[str, DataType] = {
    "int64": LongType(),
    "float64": DoubleType(),
    "bool": BooleanType(),
    "utf8": StringType(),
    "timestamp[us, UTC]": TimestampType(),
    "binary": BinaryType(),
    "list<int64>": ArrayType(LongType()),
}

FORMAT_VERSION = 1
"""The version of the format that this package reads, `rocescope.format_version` of a footer."""


@cache
def columns(table: str) -> tuple[tuple[str, str], ...]:
    """Names and types (those of docs/formats.md) of the columns of a table, in order."""
    known = _tables()
    if table not in known:
        raise ValueError(f"unknown table {table!r}; the tables are: {', '.join(known)}")
    return tuple((name, kind) for name, kind in known[table])


@cache
def table_names() -> tuple[str, ...]:
    """All tables, in the order of docs/formats.md."""
    return tuple(_tables())


@cache
def spark_schema(table: str) -> StructType:
    """The columns of a table; all nullable, because a segment of an earlier version may lack a column."""
    return StructType([StructField(name, _TYPES[kind]) for name, kind in columns(table)])


@cache
def _tables() -> dict[str, list[tuple[str, str]]]:
    stored = json.loads(files("rocescope_fleet").joinpath("tables.json").read_text())
    tables: dict[str, list[tuple[str, str]]] = stored["tables"]
    return tables
