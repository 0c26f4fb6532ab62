"""Everything about one address in 30 days of 100 boxes: what sorting, bloom filters and page indexes save.

    python fleet/bench/lookup.py FOLDER [--boxes 100] [--days 30] [--flows 100]

Writes rows of `flows` as `rollups/1h` has them, a file for each box and day, in several ways, and asks DuckDB for the
rows of an address. Bytes are what the process reads from files (`rchar`), so those of the page cache count too; each
question runs in a process of its own. Removes what it wrote.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HOUR = 3_600_000_000_000
START = 1_794_700_800_000_000_000
"""2026-11-15 00:00:00 UTC."""
TABLES = Path(__file__).resolve().parents[1] / "rocescope_fleet/tables.json"
LOOKED_UP = ("src", "dst", "direction_key")
HOSTS = 256
"""Of each box; of one /16, so that the addresses of all boxes span the same range."""

WAYS: dict[str, dict[str, object]] = {
    "by time and rank": {},
    "by time and rank, bloom filters": {"bloom": True},
    "by address and time": {"sort": ("src", "dst", "window_start_ns")},
    "by address and time, bloom filters, pages of 512 rows": {
        "sort": ("src", "dst", "window_start_ns"),
        "bloom": True,
        "page": 512,
    },
}

QUESTIONS = {
    "src": "SELECT count(*), sum(frame_bytes) FROM {files} WHERE src = '{address}'",
    "src or dst": "SELECT count(*), sum(frame_bytes) FROM {files} WHERE src = '{address}' OR dst = '{address}'",
    "src, then dst": (
        "SELECT sum(n), sum(bytes) FROM ("
        "SELECT count(*) AS n, sum(frame_bytes) AS bytes FROM {files} WHERE src = '{address}' UNION ALL "
        "SELECT count(*), sum(frame_bytes) FROM {files} WHERE dst = '{address}' AND src <> '{address}')"
    ),
}


def address(host: int) -> str:
    return f"10.1.{host >> 8}.{host & 255}"


def hosts(box: int) -> np.ndarray:
    """The hosts of a box: every one of the fleet is at one box, and those of a box are no range."""
    return np.random.default_rng(7).permutation(65_536)[box * HOSTS : (box + 1) * HOSTS]


def day(box: int, number: int, flows: int) -> pa.Table:
    """The rows of a day: the same flows in each hour, with other sizes."""
    random = np.random.default_rng(box * 1_000 + number)
    known = np.random.default_rng(box)
    of_box = hosts(box)
    src = np.array([address(host) for host in known.choice(of_box, flows)])
    dst = np.array([address(host) for host in known.choice(of_box, flows)])
    qpn, key = known.integers(0, 1 << 24, flows), known.integers(-(2**62), 2**62, flows)
    hours = np.repeat(np.arange(24), flows)
    start = START + number * 24 * HOUR + hours * HOUR
    rows = len(start)
    bytes_ = random.integers(1, 1 << 34, rows)
    # The largest first in each hour, as a capture lists them.
    order = np.lexsort((-bytes_, hours))
    values: dict[str, object] = {
        "observer": pa.array([f"box-{box}"] * rows),
        "window_start": pa.array(start // 1000, pa.timestamp("us", "UTC")),
        "window_start_ns": start,
        "window_ns": np.full(rows, HOUR),
        "rank": np.tile(np.arange(1, flows + 1), 24),
        "frame_bytes": bytes_[order],
        "packets": bytes_[order] // 4_166 + 1,
        "payload_bytes": bytes_[order] - bytes_[order] // 70,
        "messages": bytes_[order] // 65_536,
        "first_ns": start + random.integers(0, HOUR, rows),
        "last_ns": start + random.integers(0, HOUR, rows),
        "service": pa.array(["RC"] * rows),
        "elephant": pa.array(np.zeros(rows, dtype=bool)),
    }
    flow = np.tile(np.arange(flows), 24)[order]
    per_flow = {"src": src, "dst": dst, "dst_qpn": qpn, "flow_hash": key, "direction_key": key // 3}
    values |= {name: of[flow] for name, of in per_flow.items()}
    names = json.loads(TABLES.read_text())["tables"]["flows"]
    kinds = {"int64": pa.int64(), "float64": pa.float64(), "boolean": pa.bool_(), "string": pa.string()}
    columns = {
        name: pa.array(values[name]) if name in values else pa.nulls(rows, kinds.get(kind, pa.int64()))
        for name, kind in names
    }
    return pa.table(columns)


def write(folder: Path, way: dict[str, object], boxes: int, days: int, flows: int) -> tuple[int, float]:
    """Writes all files; returns their bytes and the time for it."""
    total, began = 0, time.process_time()
    for box in range(boxes):
        for number in range(days):
            rows = day(box, number, flows)
            if "sort" in way:
                rows = rows.sort_by([(name, "ascending") for name in way["sort"]])  # type: ignore[attr-defined]
            file = folder / f"box-{box}/{number}.parquet"
            file.parent.mkdir(parents=True, exist_ok=True)
            bloom = {name: {"ndv": 4_096, "fpp": 0.01} for name in LOOKED_UP} if "bloom" in way else None
            pq.write_table(
                rows,
                file,
                compression="lz4",
                bloom_filter_options=bloom,
                write_page_index="page" in way,
                max_rows_per_page=way.get("page", 2_048),
            )
            total += file.stat().st_size
    return total, time.process_time() - began


def ask(files: str, question: str) -> None:
    """Runs a question, and prints the answer, the time, and the bytes that were read."""
    import duckdb

    def read() -> int:
        return int(Path("/proc/self/io").read_text().split()[1])

    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    before, began = read(), time.monotonic()
    answer = connection.execute(question.format(files=f"read_parquet('{files}')", address=ADDRESS)).fetchall()
    print(json.dumps([answer, time.monotonic() - began, read() - before], default=str))


ADDRESS = address(int(hosts(17)[3]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder")
    parser.add_argument("--boxes", type=int, default=100)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--flows", type=int, default=100)
    parser.add_argument("--ask")
    arguments = parser.parse_args()
    if arguments.ask:
        ask(arguments.folder, arguments.ask)
        return
    print(f"{arguments.boxes} boxes, {arguments.days} days, {arguments.flows} flows in each hour; {ADDRESS}")
    answers: dict[str, object] = {}
    for name, way in WAYS.items():
        folder = Path(arguments.folder) / "lookup"
        shutil.rmtree(folder, ignore_errors=True)
        total, seconds = write(folder, way, arguments.boxes, arguments.days, arguments.flows)
        print(f"| {name} | {total / 1e6:.1f} MB, {seconds:.0f} s of CPU to make and write |")
        for question, text in QUESTIONS.items():
            command = [sys.executable, __file__, f"{folder}/*/*.parquet", "--ask", text]
            runs = [json.loads(subprocess.check_output(command)) for _ in range(3)]
            answer, read = runs[0][0], runs[0][2]
            if answers.setdefault(question, answer) != answer:
                sys.exit(f"{name}: {question}: {answer}, not {answers[question]}")
            fastest = min(run[1] for run in runs)
            print(f"| | {question}: {read / 1e6:.2f} MB read | {fastest:.2f} s | {answer} |", flush=True)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
