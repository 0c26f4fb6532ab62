"""Sketches in both directions: Spark reads, merges and estimates those of rocescope, and the reverse.

    pip install -r .ci/requirements-spark.txt       (and a Java 17 runtime)
    python3 .ci/spark.py

It generates, measures and merges two captures with the binary of this tree. Every check compares bytes or whole
numbers, except estimates of HyperLogLog, which have an error of their own. The first
difference or missing file ends the run with an exit code.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "userspace/generate/scenarios"
BITS = 32_768
# More flows in a window than its bitmap has bits: only then does a HyperLogLog exist.
MANY_FLOWS = """
name = "many flows"
frames = 90_000
snaplen = 128

[[flows]]
count = 40_000
src = "10.1.0.1-10.1.0.250"
dst = "10.2.0.1-10.2.0.250"
service = "uc"
operation = "send"
message = 64
messages = 2
group_rate = "200Mbit/s"
"""


def check(name, truth, detail=""):
    if not truth:
        sys.exit(f"spark: {name}: differs {detail}")
    print(f"ok  {name} {detail}".rstrip(), flush=True)


def cargo(*arguments):
    """Builds a binary or example and returns its path; debug, because it has little work."""
    command = ["cargo", "build", "--quiet", "--message-format=json-render-diagnostics", *arguments]
    built = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    executables = [m["executable"] for m in messages if m.get("executable")]
    return executables[-1]


def run(*command):
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"spark: {' '.join(map(str, command))}: {ran.stderr}")
    return ran.stdout


def capture(rocescope, scenario, seed, out, *options):
    pcap = out.with_suffix(".pcap")
    run(rocescope, "generate", scenario, "--seed", seed, "--write", pcap)
    run(rocescope, "capture", "--quiet", "--read", pcap, "--out", out, "--observer", out.name, *options)


def session():
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[1]").appName("rocescope")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


class CountMin:
    """`org.apache.spark.util.sketch.CountMinSketch` of the JVM that Spark runs in."""

    def __init__(self, spark):
        self.jvm = spark.sparkContext._jvm
        self.sketches = self.jvm.org.apache.spark.util.sketch.CountMinSketch

    def read(self, data):
        return self.sketches.readFrom(self.jvm.java.io.ByteArrayInputStream(bytes(data)))

    def create(self, depth, width, seed):
        return self.sketches.create(depth, width, seed)


def ours(example, sketch, keys, place):
    """Shape, total and kind of update, and the estimate of each key, as rocescope reads the bytes."""
    path = place / "sketch.bin"
    path.write_bytes(bytes(sketch))
    lines = run(example, path, *keys).splitlines()
    return lines[0].split(), [int(line) for line in lines[1:]]


def count_min(spark, short, short_merged, example, place):
    jvm = CountMin(spark)
    windows = {name: table(spark, root, "windows") for name, root in datasets.items()}
    for column, size in (("count_min_packets", "packets"), ("count_min_bytes", "frame_bytes")):
        read, estimates = 0, 0
        for name, rows in windows.items():
            flows = spark.read.parquet(str(datasets[name] / "flows")).collect()
            for row in rows.values():
                here = [f for f in flows if f.window_start_ns == row.window_start_ns]
                keys = [flow.flow_hash for flow in here]
                sketch = jvm.read(row[column])
                theirs = [sketch.estimateCount(key) for key in keys]
                shape, mine = ours(example, row[column], keys, place)
                total = row["roce_packets" if size == "packets" else "frame_bytes"]
                expected = ["4", "16384", str(total), "plain"]
                if shape != expected or sketch.totalCount() != total:
                    sys.exit(f"spark: {column}: {shape}, not {expected}")
                if theirs != mine or any(e < f[size] for e, f in zip(mine, here)):
                    sys.exit(f"spark: {column}: Spark estimates {theirs}, rocescope {mine}")
                if bytes(sketch.toByteArray()) != bytes(row[column]):
                    sys.exit(f"spark: {column}: Spark writes other bytes")
                read, estimates = read + 1, estimates + len(keys)
        check(f"Spark reads {column}", read > 4, f"({read} sketches, {estimates} estimates equal)")
        whole = table(spark, merged, "windows")
        for start, row in whole.items():
            parts = [jvm.read(rows[start][column]) for rows in windows.values() if start in rows]
            for part in parts[1:]:
                parts[0].mergeInPlace(part)
            if bytes(parts[0].toByteArray()) != bytes(row[column]):
                sys.exit(f"spark: {column}: Spark merges to other bytes")
        check(f"Spark merges {column} as rocescope does", len(whole) > 2, f"({len(whole)} windows)")


def written_by_spark(spark, example, place):
    chance = random.Random(4)
    for depth, width, seed in ((4, 16_384, 42), (5, 2_001, -7)):
        sketch = CountMin(spark).create(depth, width, seed)
        keys = [chance.randrange(-(2**63), 2**63) for _ in range(300)] + [0, 1, -1]
        for key in keys:
            sketch.addLong(key, chance.randrange(1, 10_000))
        shape, mine = ours(example, sketch.toByteArray(), keys, place)
        expected = [str(depth), str(width), str(sketch.totalCount()), "plain"]
        theirs = [sketch.estimateCount(key) for key in keys]
        name = f"rocescope reads Spark's CountMinSketch {depth} x {width}, seed {seed}"
        check(name, shape == expected and mine == theirs, f"({len(keys)} estimates equal)")
    frame = spark.createDataFrame([(key,) for key in keys[:200]], "key bigint")
    column = frame.selectExpr("count_min_sketch(key, 0.001d, 0.99d, 42) AS sketch").first().sketch
    shape, mine = ours(example, column, keys[:200], place)
    check("rocescope reads Spark SQL's count_min_sketch", shape[2] == "200" and min(mine) >= 1)


def bitmaps(spark, datasets, merged):
    first, second = (spark.read.parquet(str(root / "windows")) for root in datasets.values())
    first.unionByName(second).createOrReplaceTempView("windows")
    rows = spark.sql(
        "SELECT window_start_ns, bitmap_or_agg(linear_counting) AS bitmap,"
        " bitmap_count(bitmap_or_agg(linear_counting)) AS ones FROM windows GROUP BY window_start_ns"
    ).collect()
    whole = table(spark, merged, "windows")
    check("bitmap_or_agg finds the windows", sorted(r.window_start_ns for r in rows) == sorted(whole))
    for row in rows:
        expected = whole[row.window_start_ns]
        mine = bytes(expected.linear_counting)
        ones = int.from_bytes(mine, "little").bit_count()
        estimate = -BITS * math.log((BITS - ones) / BITS)
        if bytes(row.bitmap) != mine or row.ones != ones or abs(estimate - expected.flows) > 1.5:
            sys.exit(f"spark: linear_counting: {row.ones} bits and {ones}, {estimate} flows")
    check("bitmap_or_agg and bitmap_count equal linear_counting", True, f"({len(rows)} windows)")
    spark.read.parquet(str(merged / "flows")).createOrReplaceTempView("flows")
    rows = spark.sql(
        "SELECT window_start_ns, bitmap_construct_agg(shiftrightunsigned(flow_hash, 49)) AS bitmap"
        " FROM flows GROUP BY window_start_ns"
    ).collect()
    equal = all(bytes(r.bitmap) == bytes(whole[r.window_start_ns].linear_counting) for r in rows)
    check("bitmap_construct_agg makes the same bitmap of flow_hash", rows and equal)


def hyper_log_log(spark, many):
    spark.read.parquet(str(many / "windows")).createOrReplaceTempView("windows")
    spark.read.parquet(str(many / "flows")).createOrReplaceTempView("flows")
    row = spark.sql(
        "SELECT flows, hll_sketch_estimate(hll_flows) AS estimate, length(hll_flows) AS bytes"
        " FROM windows WHERE hll_flows IS NOT NULL ORDER BY flows DESC LIMIT 1"
    ).first()
    check("a window has a HyperLogLog", row is not None and row.flows > BITS and row.bytes == 16_424)
    error = abs(row.estimate / row.flows - 1)
    check("hll_sketch_estimate reads hll_flows", error < 0.025, f"({row.flows}: off by {error:.2%})")
    both = spark.sql(
        "SELECT hll_sketch_estimate(hll_union_agg(sketch)) AS estimate FROM ("
        " SELECT hll_flows AS sketch FROM windows WHERE hll_flows IS NOT NULL"
        " UNION ALL SELECT hll_sketch_agg(flow_hash, 14) FROM flows)"
    ).first()
    check("hll_union_agg with Spark's own sketch changes nothing", both.estimate == row.estimate)


def table(spark, root, name):
    rows = spark.read.parquet(str(root / name)).collect()
    return {row.window_start_ns: row for row in rows}


def main():
    began = time.monotonic()
    rocescope = cargo("--package", "rocescope", "--bin", "rocescope")
    example = cargo("--package", "rocescope-sketches", "--example", "read_spark")
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        datasets = {name: place / name for name in ("rail-1", "rail-2")}
        # Windows that list all their flows have no Count-Min tables.
        short = {name: place / "short" / name for name in datasets}
        (place / "short").mkdir()
        for seed, (root, few) in enumerate(zip(datasets.values(), short.values(), strict=True), 1):
            capture(rocescope, SCENARIOS / "demo.toml", seed, root)
            capture(rocescope, SCENARIOS / "demo.toml", seed, few, "--flow-rows", "5")
        merged, short_merged, many = place / "merged", place / "short-merged", place / "many"
        run(rocescope, "dataset", "merge", *datasets.values(), "--out", merged)
        run(rocescope, "dataset", "merge", *short.values(), "--out", short_merged)
        scenario = place / "many-flows.toml"
        scenario.write_text(MANY_FLOWS)
        capture(rocescope, scenario, 1, many, "--flow-rows", "50000")
        print(f"built and captured in {time.monotonic() - began:.0f} s", flush=True)
        spark = session()
        print(f"Spark {spark.version}, Java {os.environ.get('JAVA_HOME', 'of the path')}", flush=True)
        count_min(spark, datasets, merged, example, place)
        written_by_spark(spark, example, place)
        bitmaps(spark, datasets, merged)
        hyper_log_log(spark, many)
        spark.stop()
    print(f"all equal, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
