"""Datasets of the `rocescope` binary, and a Spark session.

`ROCESCOPE_BINARY` names the binary; otherwise it is that of the tree's target folder. `FLEET_MASTER` is Spark's master:
`local[2]`, or `local-cluster[2,1,1024]` for two workers, each a process of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "userspace/cli/tests/captures"
SCENARIOS = ROOT / "userspace/generate/scenarios"

MANY_FLOWS = """
name = "many flows"
frames = 24_000
snaplen = 128

[[flows]]
count = 3_000
src = "10.1.0.1-10.1.0.250"
dst = "10.2.0.1-10.2.0.250"
service = "uc"
operation = "send"
message = 64
messages = 4
group_rate = "20Mbit/s"

[[flows]]
count = 8
src = "10.1.0.1-10.1.0.8"
dst = "10.2.0.1-10.2.0.8"
service = "uc"
operation = "send"
message = 65536
messages = 20
group_rate = "80Mbit/s"
"""


class Rocescope:
    """The binary."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, *arguments: object) -> str:
        command = [str(self.path), *map(str, arguments)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, f"{' '.join(command)}: {ran.stderr}"
        return ran.stdout

    def json(self, *arguments: object) -> Any:
        return json.loads(self(*arguments, "-o", "json"))

    def generate(self, scenario: Path, seed: int, pcap: Path) -> Path:
        self("generate", scenario, "--seed", seed, "--write", pcap)
        return pcap

    def capture(self, pcap: Path, out: Path, observer: str, *options: object) -> Path:
        self("capture", "--quiet", "--read", pcap, "--out", out, "--observer", observer, *options)
        return out


def binary() -> Path:
    """The binary under test; a missing one is an error, so that no test passes without it."""
    if named := os.environ.get("ROCESCOPE_BINARY"):
        if not Path(named).is_file():
            raise FileNotFoundError(f"ROCESCOPE_BINARY: {named} is no file")
        return Path(named)
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    candidates = [ROOT / target / kind / "rocescope" for kind in ("release", "debug")]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"no rocescope binary: build it with `cargo build`, or set ROCESCOPE_BINARY ({candidates})")


@pytest.fixture(scope="session")
def rocescope() -> Rocescope:
    return Rocescope(binary())


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from pyspark import __path__ as pyspark_home

    # `local-cluster` starts its workers with the scripts of this folder.
    os.environ.setdefault("SPARK_HOME", str(next(iter(pyspark_home))))
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.ansi.enabled": "true",
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        # Rows are few and plans are many: to compile each would take most of the time.
        "spark.sql.codegen.wholeStage": "false",
    }
    builder = SparkSession.builder.master(os.environ.get("FLEET_MASTER", "local[2]")).appName("rocescope-fleet")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fleet")


@pytest.fixture(scope="session")
def rails(rocescope: Rocescope, place: Path) -> Path:
    """Two boxes' datasets below one folder, of generated traffic with the same flows."""
    root = place / "rails"
    for seed in (1, 2):
        pcap = rocescope.generate(SCENARIOS / "demo.toml", seed, place / f"rail-{seed}.pcap")
        rocescope.capture(pcap, root / f"rail-{seed}", f"rail-{seed}")
    return root


@pytest.fixture(scope="session")
def merged(rocescope: Rocescope, rails: Path, place: Path) -> Path:
    """What the binary makes of `rails`."""
    rocescope("dataset", "merge", *sorted(rails.iterdir()), "--out", place / "merged")
    return place / "merged"


@pytest.fixture(scope="session")
def short(rocescope: Rocescope, place: Path) -> dict[str, Path]:
    """Two boxes that list few of their flows: `boxes`, what the binary merges of them, and `truth` with all flows."""
    scenario = place / "many.toml"
    scenario.write_text(MANY_FLOWS)
    boxes = place / "short"
    pcap = rocescope.generate(scenario, 1, place / "many.pcap")
    # Each box sees most of the traffic, and lists flows that the other has and does not list.
    for name, (one, other) in (("box-1", (1, 2)), ("box-2", (7, 8))):
        sees = ("--filter", f"not host 10.1.0.{one} and not host 10.1.0.{other}")
        rocescope.capture(pcap, boxes / name, name, *sees, "--flow-rows", 4)
        rocescope.capture(pcap, place / "all" / name, name, *sees, "--flow-rows", 50_000)
    rocescope("dataset", "merge", *sorted(boxes.iterdir()), "--out", place / "short-merged")
    return {"boxes": boxes, "merged": place / "short-merged", "truth": place / "all"}


@pytest.fixture(scope="session")
def captures(rocescope: Rocescope, place: Path) -> Path:
    """All recorded captures of the tree, each as an observer of one dataset."""
    root = place / "captures"
    files = sorted(CAPTURES.glob("*.pcap.gz"))
    assert len(files) > 20, CAPTURES
    for file in files:
        rocescope.capture(file, root, file.name.removesuffix(".pcap.gz"))
    return root


@pytest.fixture()
def scratch(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)
