"""The saved questions through `rocescope dataset sql` and DuckDB: equal answers, and the time of each.

Usage: sql.py PROGRAM DATASET…: `rocescope-sql`, and the datasets, read as one. DuckDB answers in this process, and the
program in one of its own, whose start counts. Fails if an answer differs, or if the program takes more than twice the
time of DuckDB for all questions together. Spark gives the same answers: `fleet/tests/test_questions.py`.
"""

import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

import duckdb

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = json.loads((ROOT / "fleet/rocescope_fleet/tables.json").read_text())["tables"]
TYPES = {
    "int64": "BIGINT",
    "float64": "DOUBLE",
    "bool": "BOOLEAN",
    "utf8": "VARCHAR",
    "timestamp[us, UTC]": "TIMESTAMPTZ",
    "binary": "BLOB",
    "list<int64>": "BIGINT[]",
}
# A window of these counts only if `windows` has it: a kill may have cut off the others.
WINDOWED = {"flows", "opcodes", "pdcs", "spread"}
RUNS = 5


def in_duckdb(roots):
    connection = duckdb.connect()
    connection.execute("SET threads = 2; SET TimeZone = 'UTC'")
    for table, columns in TABLES.items():
        files = [str(file) for root in roots for file in sorted(root.glob(f"{table}/*/*/*.parquet"))]
        if not files:
            fields = ", ".join(f'"{name}" {TYPES[kind]}' for name, kind in columns)
            connection.execute(f"CREATE TABLE {table} ({fields})")
            continue
        rows = f"SELECT * FROM read_parquet({files}, union_by_name = true)"
        if table in WINDOWED:
            rows += " WHERE (observer, window_start_ns) IN (SELECT (observer, window_start_ns) FROM windows)"
        connection.execute(f"CREATE VIEW {table} AS {rows}")
    return connection


def rows_of(program, roots, question):
    command = [program, *map(str, roots), "--question", question, "-o", "json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{question}: {ran.stderr}"
    return [tuple(row.values()) for row in json.loads(ran.stdout)]


def equal(one, other):
    if isinstance(one, float) or isinstance(other, float):
        if one is None or other is None:
            return one is other
        # Sums of doubles depend on the order of the rows.
        return math.isclose(one, other, rel_tol=1e-9)
    if hasattr(other, "isoformat"):
        return one is not None and one.rstrip("Z") == other.replace(tzinfo=None).isoformat()
    return one == other


def timed(run):
    times = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        rows = run()
        times.append(time.perf_counter() - begun)
    return rows, times


def main():
    program, *places = sys.argv[1:]
    roots = [pathlib.Path(place) for place in places]
    connection = in_duckdb(roots)
    totals = [0.0, 0.0]
    print(f"{'question':24}{'rows':>6}{'sql, ms: min':>14}{'median':>9}{'max':>9}{'DuckDB: min':>13}{'median':>9}{'max':>9}{'ratio':>7}")
    for file in sorted((ROOT / "fleet/rocescope_fleet/questions").glob("*.sql")):
        theirs, their_times = timed(lambda text=file.read_text(): connection.execute(text).fetchall())
        ours, our_times = timed(lambda name=file.stem: rows_of(program, roots, name))
        assert len(ours) == len(theirs), (file.stem, len(ours), len(theirs))
        for own, other in zip(ours, theirs):
            assert all(map(equal, own, other)), (file.stem, own, other)
        line = f"{file.stem:24}{len(ours):6}"
        for times, width in ((our_times, 14), (their_times, 13)):
            minimum, median, maximum = min(times), statistics.median(times), max(times)
            line += f"{minimum * 1e3:{width}.1f}{median * 1e3:9.1f}{maximum * 1e3:9.1f}"
        ratio = statistics.median(our_times) / statistics.median(their_times)
        print(f"{line}{ratio:7.2f}")
        totals[0] += statistics.median(our_times)
        totals[1] += statistics.median(their_times)
    ratio = totals[0] / totals[1]
    print(f"all: {totals[0]:.2f} s, DuckDB {duckdb.__version__} {totals[1]:.2f} s, ratio {ratio:.2f}")
    return 0 if ratio <= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
