"""Time and memory of fleet questions over simulated boxes, for several numbers of boxes.

    python fleet/bench/measure.py --boxes 250 500 1000 --place /tmp
    python fleet/bench/measure.py --vote-hosts 10000 --seconds 20 --place /tmp
    python fleet/bench/measure.py --boxes 1000 --resolution 1h --flows 1000 --place /tmp

Each number of boxes is written, asked and deleted. Each question runs in a Spark of its own (`local[2]`), so that peaks
of memory are those of the question: the largest resident set of the JVM and the Python driver together. Answers are
compared with the truth of the simulation.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from simulated_fleet import Mesh, Traffic, write_fleet

QUESTIONS = ("top_flows", "flow_counts", "vote")
WINDOWS = {"1s": 1, "1m": 60, "1h": 3_600}
"""Seconds of a window by resolution."""
SICK = (0, 2, 5)
"""Rack, rail and spine of the link that loses probes."""


def ask(question: str, root: Path, memory: str, resolution: str) -> dict[str, Any]:
    """Asks a question in this process, in a Spark of its own."""
    from pyspark.sql import SparkSession

    from rocescope_fleet import flow_counts, open_dataset, top_flows, vote_links

    began = time.monotonic()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": memory,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "32",
        "spark.local.dir": str(root.parent),
    }
    builder = SparkSession.builder.master("local[2]").appName("rocescope-fleet")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    started = time.monotonic()
    fleet = open_dataset(spark, f"{root}/*", resolution=None if resolution == "1s" else resolution)
    answer: list[list[Any]]
    if question == "top_flows":
        rows = top_flows(fleet.flows, fleet.windows, limit=20).collect()
        answer = [[row.flow_hash, row.frame_bytes, row.error_frame_bytes] for row in rows]
    elif question == "flow_counts":
        rows = flow_counts(fleet.windows, fleet.flows).collect()
        answer = [[row.estimated_flows, row.estimated_flows_stderr_ratio] for row in rows]
    else:
        votes = vote_links(fleet.probes, fleet.path_hops).where("is_first").groupBy("address").count()
        answer = [[row.address, row["count"]] for row in votes.orderBy("count", ascending=False).limit(5).collect()]
    asked = time.monotonic() - started
    spark.stop()
    return {"answer": answer, "seconds": asked, "start_seconds": started - began}


def measured(question: str, root: Path, memory: str, resolution: str) -> dict[str, Any]:
    """Asks in a child process, and watches the memory of the child and of its JVM."""
    command = [sys.executable, __file__, "--ask", question, "--place", str(root), "--memory", memory]
    command += ["--resolution", resolution]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = 0

    def watch() -> None:
        nonlocal peak
        while child.poll() is None:
            peak = max(peak, resident(child.pid))
            time.sleep(0.2)

    watcher = threading.Thread(target=watch)
    watcher.start()
    output, _ = child.communicate()
    watcher.join()
    if child.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed")
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return {**found, "peak_bytes": peak}


def resident(pid: int) -> int:
    """Bytes of memory of a process and those below it."""
    total, left = 0, [pid]
    while left:
        process = left.pop()
        try:
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()
            for task in Path(f"/proc/{process}/task").iterdir():
                left += [int(word) for word in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total


def compare(question: str, answer: list[list[Any]], sizes: dict[int, int], mesh: Mesh) -> None:
    if question == "top_flows":
        largest = sorted(sizes.values(), reverse=True)[:20]
        assert [size for _, size, _ in answer] == largest, (answer, largest)
        assert all(sizes[flow] == size and error == 0 for flow, size, error in answer), answer
    elif question == "flow_counts":
        ((estimate, error),) = answer
        assert abs(estimate - len(sizes)) <= 5 * error * estimate, (answer, len(sizes))
    else:
        assert answer[0][0] == mesh.leaf_port(*SICK), answer


def folder_bytes(root: Path) -> int:
    return sum(path.stat().st_size for path in root.rglob("*.parquet"))


def run(boxes: int, arguments: argparse.Namespace) -> None:
    window = WINDOWS[arguments.resolution]
    mesh = Mesh(boxes, arguments.seconds, rate=arguments.rate, seed=arguments.seed)
    mesh = replace(mesh, link_loss={mesh.leaf_port(*SICK): 0.05}, nic_loss={mesh.nic(1, 1): 0.3})
    traffic = None
    if arguments.flows:
        traffic = Traffic(boxes, arguments.seconds, arguments.flows, seed=arguments.seed, window=window)
    # Rollups have no probes.
    questions = [name for name in QUESTIONS if (traffic or name == "vote") and (window == 1 or name != "vote")]
    root = Path(tempfile.mkdtemp(prefix="fleet-", dir=arguments.place))
    try:
        began = time.monotonic()
        sizes, probes = write_fleet(root / "boxes", traffic, mesh if window == 1 else None)
        windows = boxes * arguments.seconds // window if traffic else 0
        rows = {"flows": windows * arguments.flows, "windows": windows, "opcodes": windows, "probes": probes}
        wrote = time.monotonic() - began
        size = folder_bytes(root)
        print(
            f"{boxes} boxes, {sum(rows.values()):,} rows ({', '.join(f'{n} {c:,}' for n, c in rows.items())}), "
            f"{size / 1e9:.2f} GB, written in {wrote:.0f} s",
            flush=True,
        )
        for question in questions:
            found = measured(question, root / "boxes", arguments.memory, arguments.resolution)
            compare(question, found["answer"], sizes, mesh)
            print(
                f"  {question:<10} {found['seconds']:7.1f} s  peak {found['peak_bytes'] / 2**30:5.2f} GiB  "
                f"(start of Spark {found['start_seconds']:.1f} s)",
                flush=True,
            )
    finally:
        shutil.rmtree(root)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure questions over a simulated fleet")
    parser.add_argument("--boxes", type=int, nargs="+", default=[10], help="numbers of boxes [%(default)s]")
    parser.add_argument("--vote-hosts", type=int, help="only the vote, over this many hosts")
    parser.add_argument("--seconds", type=int, default=3_600, help="length of the recording [%(default)s]")
    parser.add_argument("--flows", type=int, default=18, help="flows of a box in each window [%(default)s]")
    parser.add_argument("--rate", type=float, default=1.25, help="probes of a NIC each second [%(default)s]")
    parser.add_argument("--resolution", choices=WINDOWS, default="1s", help="rows of windows or rollups [%(default)s]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory", default="3g", help="heap of Spark [%(default)s]")
    parser.add_argument("--place", type=Path, default=Path(tempfile.gettempdir()), help="folder for the data")
    parser.add_argument("--ask", choices=QUESTIONS, help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    if arguments.ask:
        print(json.dumps(ask(arguments.ask, arguments.place, arguments.memory, arguments.resolution)))
        return
    if arguments.vote_hosts:
        arguments.flows = 0
        arguments.boxes = [arguments.vote_hosts]
    print(f"{os.cpu_count()} processors, local[2], heap {arguments.memory}")
    for boxes in arguments.boxes:
        run(boxes, arguments)


if __name__ == "__main__":
    main()
