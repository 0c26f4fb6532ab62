"""Compares queries by DuckDB, polars and pandas over a dataset of rocescope with its JSON.

The queries are those of README.md and docs/cookbook.md: their sql and python blocks run as printed over the dataset that
the demo left, and once more over a dataset written here, whose totals are known.
"""

import contextlib
import glob
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CAPTURES = os.path.join(ROOT, "userspace/cli/tests/captures")
NAMES = ["rnr_nak", "error_naks", "write_bw_rc_bidir_q2", "opmix_rc_all", "vlan100_write_bw", "ipv6_cm_rping"]
DEMO = "rocescope-demo"


def rocescope(*arguments):
    cargo = ["cargo", "run", "--quiet", "--release", "--package", "rocescope", "--"]
    binary = os.environ.get("ROCESCOPE_BINARY")
    command = [*([binary] if binary else cargo), *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def write(dataset):
    """Captures several files into one dataset, each as an observer; their JSON by observer."""
    truth = {}
    for name in NAMES:
        file = os.path.join(CAPTURES, f"{name}.pcap.gz")
        said = rocescope("capture", "-r", file, "--out", dataset, "--observer", name, "-o", "json")
        truth[name] = json.loads(said)
    return truth


def blocks(language, page="README.md"):
    """The fenced blocks of a page in this language."""
    with open(os.path.join(ROOT, page)) as text:
        found = re.findall(rf"^```{language}\n(.*?)^```", text.read(), re.DOTALL | re.MULTILINE)
    assert found, f"{page} has no {language} block"
    assert all(DEMO in block for block in found), f"a {language} block reads something else than {DEMO}"
    return found


def sql(query):
    # DuckDB's own way to Python objects wants pytz for instants; polars knows UTC.
    return duckdb.sql(query).pl().to_dicts()


def naks(truth):
    return sum(count for kind, count in truth["aeth"].items() if kind.startswith("nak_"))


# The totals that a column of a README query over `windows` must sum to, by name.
WINDOWS = {
    "frames": lambda truth: truth["frames"],
    "roce_packets": lambda truth: truth["roce_packets"],
    "messages": lambda truth: truth["messages"],
    "naks": naks,
    "rnr_naks": lambda truth: truth["aeth"]["rnr_nak"],
    "ecn_ce": lambda truth: truth["ecn_ce_packets"],
}


def check_opcodes(rows, truth):
    """Compares rows of observer, opcode and sums with all opcodes of the JSON."""
    for row in rows:
        totals = truth[row["observer"]]["opcodes"][row["opcode"]]
        for key in ("packets", "frame_bytes", "payload_bytes"):
            assert row.get(key, totals[key]) == totals[key], row
    assert len(rows) == sum(len(one["opcodes"]) for one in truth.values())


def check_windows(rows, truth):
    """Compares sums over the windows of each observer with the totals of the JSON."""
    for row in rows:
        for key, value in row.items():
            if key != "observer":
                assert value == WINDOWS[key](truth[row["observer"]]), (key, row)
    assert len(rows) == len(truth)


def readme_sql(dataset, truth):
    """Runs the sql blocks; fails unless the totals that they show were compared."""
    compared = set()
    for query in blocks("sql"):
        rows = sql(query.replace(DEMO, dataset))
        assert rows, f"no rows: {query}"
        columns = set(rows[0])
        if {"observer", "opcode", "packets"} <= columns:
            check_opcodes(rows, truth)
            compared.add("opcodes")
        elif {"observer", "frames"} <= columns:
            check_windows(rows, truth)
            compared.add("windows")
    assert compared == {"opcodes", "windows"}, f"only {compared} are compared"


def cookbook(dataset):
    """Runs every cell of the cookbook as printed; each must return rows, and those with an answer here the right ones."""
    queries = {query: sql(query.replace(DEMO, dataset)) for query in blocks("sql", "docs/cookbook.md")}
    for query, rows in queries.items():
        assert rows, f"no rows: {query}"
    found = readme_python(dataset, "docs/cookbook.md")
    [needed] = [names["needed"].collect() for names in found if "needed" in names]
    assert dict(needed.rows()) == nine_tenths(dataset), needed
    check_totals(dataset, queries, found)
    check_joins(dataset, queries)


def nine_tenths(dataset):
    """The fewest flows of each observer that carry nine tenths of the bytes, one after another."""
    flows = pandas.read_parquet(f"{dataset}/flows")
    key = ["observer", "src", "dst", "dst_qpn", "udp_src_port"]
    sizes = flows.groupby(key, observed=True)["frame_bytes"].sum()
    fewest = {}
    for observer, of_one in sizes.groupby(level="observer", observed=True):
        carried = 0
        for number, size in enumerate(sorted(of_one, reverse=True), start=1):
            carried += size
            if carried >= 0.9 * of_one.sum():
                fewest[observer] = number
                break
    return fewest


def latest(dataset):
    """The valid row of each direction of a connection."""
    rows = pandas.read_parquet(f"{dataset}/connections").sort_values("time_ns")
    return rows.drop_duplicates(["observer", "connection", "role"], keep="last")


def check_totals(dataset, queries, found):
    """Totals over connections are those of the latest rows; the steps between rows add up to them."""
    columns = ["packets", "payload_bytes", "retransmitted_packets"]
    truth = latest(dataset).groupby("observer", observed=True)[columns].sum()
    expected = {name: tuple(row) for name, row in zip(truth.index, truth.itertuples(index=False))}
    [totals] = [names["totals"].collect() for names in found if "totals" in names]
    assert {row["observer"]: tuple(row[name] for name in columns) for row in totals.to_dicts()} == expected, totals
    [steps] = [names["steps"].collect() for names in found if "steps" in names]
    new = dict(steps.group_by("observer").agg(polars.col("new").sum()).rows())
    assert new == {name: row[0] for name, row in expected.items()}, new
    [rows] = [rows for query, rows in queries.items() if "count(DISTINCT connection)" in query]
    assert {row["observer"]: (row["packets"], row["payload_bytes"], row["retransmitted"]) for row in rows} == expected
    [rows] = [rows for query, rows in queries.items() if "WITH span" in query]
    assert {row["observer"]: row["retransmitted"] for row in rows} == {name: row[2] for name, row in expected.items()}


def check_joins(dataset, queries):
    """A join multiplies no row: packets are those of `flows`, retransmissions those of `connections`."""
    [rows] = [rows for query, rows in queries.items() if "worst_rtt_p99_us" in query]
    key = ["observer", "src", "dst", "dst_qpn"]
    packets = pandas.read_parquet(f"{dataset}/flows").groupby(key, observed=True)["packets"].sum().to_dict()
    again = latest(dataset).groupby(key, observed=True)["retransmitted_packets"].sum().to_dict()
    for row in rows:
        place = tuple(row[name] for name in key)
        assert row["packets"] == packets[place], row
        assert row["retransmitted"] in (None, again.get(place)), row
    assert any(row["retransmitted"] for row in rows) and any(row["kinds"] for row in rows), rows


def check_queue_pairs(dataset, folder):
    """The join of docs/counters.md names the process of each direction that retransmitted: no device of RDMA is here, so
    the queue pairs are made, with the columns and types that the schema states."""
    with open(os.path.join(ROOT, "docs/counters.md")) as text:
        [query] = [one for one in re.findall(r"^```sql\n(.*?)^```", text.read(), re.DOTALL | re.MULTILINE) if "queue_pairs" in one]
    types = {"utf8": pyarrow.string(), "int64": pyarrow.int64(), "bool": pyarrow.bool_(), "timestamp[us, UTC]": pyarrow.timestamp("us", "UTC")}
    table = rocescope("dataset", "schema").split("\nqueue_pairs: ")[1].split("\n\n")[1]
    columns = [re.split(r"  +", line) for line in table.splitlines()[1:]]
    fields = [pyarrow.field(name, types[kind]) for name, kind, *_ in columns]
    rows = latest(dataset)
    known = rows.dropna(subset=["src_qpn", "dst_qpn"])
    ends = known[["src", "src_qpn", "dst_qpn"]].drop_duplicates().values.tolist()
    pairs = [{"port_addresses": f"192.0.2.1,{src}", "local_qpn": int(own), "remote_qpn": int(peer), "pid": int(own)} for src, own, peer in ends]
    # A queue pair has several rows, as its state changes; its numbers are those of other devices too.
    made = [{**pair, "state": state} for pair in pairs for state in ("INIT", "RTS")]
    made += [{**pair, "remote_qpn": 0, "pid": 1} for pair in pairs] + [{**pair, "port_addresses": "192.0.2.1", "pid": 2} for pair in pairs]
    made = [{"observer": "gpu-1", "device": "mlx5_0", "process": "train", **row} for row in made]
    path = os.path.join(folder, "queue_pairs/date=2026-01-01")
    os.makedirs(path)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(made, pyarrow.schema(fields)), os.path.join(path, "made.parquet"))
    found = sql(query.replace("CAPTURE", dataset).replace("HOSTS", folder))
    stored = pandas.read_parquet(f"{dataset}/connections").dropna(subset=["src_qpn", "dst_qpn"])
    expected = stored[stored["retransmitted_packets"] > 0]
    assert len(found) == len(expected) > 0, (len(found), len(expected))
    for row in found:
        assert (row["observer"], row["process"], row["pid"]) == ("gpu-1", "train", row["src_qpn"]), row
    return len(found)


def readme_python(dataset, page="README.md"):
    """Runs the python blocks; returns the names that each defines."""
    found = []
    for block in blocks("python", page):
        printed = io.StringIO()
        names = {}
        with contextlib.redirect_stdout(printed):
            exec(block.replace(DEMO, dataset), names)  # noqa: S102 (it is our own page)
        assert "shape: (" in printed.getvalue(), block
        found.append(names)
    return found


def check_polars(dataset, truth):
    windows = polars.scan_parquet(f"{dataset}/windows/**/*.parquet").group_by("observer")
    sums = windows.agg(polars.col("frames", "roce_packets", "messages").sum()).collect()
    check_windows(sums.to_dicts(), truth)
    opcodes = polars.scan_parquet(f"{dataset}/opcodes/**/*.parquet").group_by("observer", "opcode")
    sums = opcodes.agg(polars.col("packets", "frame_bytes", "payload_bytes").sum()).collect()
    check_opcodes(sums.to_dicts(), truth)


def check_pandas(dataset, truth):
    windows = pandas.read_parquet(f"{dataset}/windows").groupby("observer", observed=True)
    sums = windows[["frames", "roce_packets", "messages"]].sum().reset_index()
    check_windows(sums.to_dict("records"), truth)
    opcodes = pandas.read_parquet(f"{dataset}/opcodes").groupby(["observer", "opcode"], observed=True)
    sums = opcodes[["packets", "frame_bytes", "payload_bytes"]].sum().reset_index()
    check_opcodes(sums.to_dict("records"), truth)


def check_flows(dataset, truth):
    """Every flow of a window is in `flows` here, so the sums equal those of the capture."""
    query = f"SELECT observer, sum(packets), sum(payload_bytes) FROM read_parquet('{dataset}/flows/**/*.parquet') GROUP BY 1"
    for observer, packets, payload_bytes in duckdb.sql(query).fetchall():
        assert packets == truth[observer]["roce_packets"], observer
        assert payload_bytes == truth[observer]["payload_bytes"], observer


def value_of(query):
    [(value,)] = duckdb.sql(query).fetchall()
    return value


def digest(values):
    """Bytes of a column in any order: their number, and the sum of their hashes."""
    values = [bytes(value) for value in values if value is not None]
    return len(values), sum(int.from_bytes(hashlib.sha256(value).digest()[:8]) for value in values)


def check_readers(dataset):
    """pyarrow, which compares the checksums of pages, reads each column of each table as DuckDB does, sketches included."""
    sketches = 0
    for table in sorted(name for name in os.listdir(dataset) if not name.startswith(".")):
        files = glob.glob(f"{dataset}/{table}/**/*.parquet", recursive=True)
        parts = [pyarrow.parquet.ParquetFile(file, page_checksum_verification=True).read() for file in files]
        read = pyarrow.concat_tables(parts)
        source = f"read_parquet({files})"
        assert value_of(f"SELECT count(*) FROM {source}") == read.num_rows, table
        for field in read.schema:
            column = read[field.name]
            if pyarrow.types.is_binary(field.type) or pyarrow.types.is_large_binary(field.type):
                values = duckdb.sql(f'SELECT "{field.name}" FROM {source}').fetchall()
                found = digest(column.to_pylist())
                assert found == digest(value for (value,) in values), (table, field.name)
                sketches += found[0]
                continue
            known = value_of(f'SELECT count("{field.name}") FROM {source}')
            assert known == read.num_rows - column.null_count, (table, field.name)
            if pyarrow.types.is_integer(field.type):
                total = sum(value for value in column.to_pylist() if value is not None)
                known = value_of(f'SELECT coalesce(sum("{field.name}"::HUGEINT), 0) FROM {source}')
                assert known == total, (table, field.name)
    assert sketches > 0, "no sketch was compared"
    return sketches


def main():
    if not os.path.isdir(os.path.join(ROOT, DEMO)):
        rocescope("demo")
    os.chdir(ROOT)
    for query in blocks("sql"):
        assert sql(query), f"no rows: {query}"
    readme_python(DEMO)
    cookbook(DEMO)
    print(f"README queries over {DEMO}: {len(blocks('sql'))} in SQL, {len(blocks('python'))} in Python")
    with tempfile.TemporaryDirectory() as dataset:
        truth = write(dataset)
        readme_sql(dataset, truth)
        readme_python(dataset)
        cookbook(dataset)
        check_polars(dataset, truth)
        check_pandas(dataset, truth)
        check_flows(dataset, truth)
        sketches = check_readers(dataset)
        with tempfile.TemporaryDirectory() as hosts:
            named = check_queue_pairs(dataset, hosts)
    frames = sum(one["frames"] for one in truth.values())
    versions = f"DuckDB {duckdb.__version__}, polars {polars.__version__}, pandas {pandas.__version__}"
    print(f"{versions}: the totals of {len(truth)} captures, {frames} frames, equal the JSON")
    print(f"queue_pairs: {named} directions that retransmitted have the process of their sender")
    print(f"pyarrow {pyarrow.__version__}: every column equals that of DuckDB, {sketches} sketches included")


if __name__ == "__main__":
    sys.exit(main())
