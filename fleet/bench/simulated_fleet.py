"""Writes the datasets of a simulated fleet: deterministic from a seed, fast, with the truth known.

Layout, columns, types and footers are those of docs/formats.md, so `rocescope`, Spark and DuckDB read them like any
other. The rows differ from those of a real fleet:

- A box has the same flows in every window, and lists all of them. Sizes are a power law over flows, times a factor
  that varies from window to window. Real flows come and go, and the tail is longer.
- `flow_hash` is a random number of the flow, not the hash of its key; `direction_key` is null.
- All packets are `RC_RDMA_WRITE_ONLY`. Count-Min columns are null, `linear_counting` is that of the flows, `events` and
  `connections` are absent.
- A window has one segment file an hour for each table, as after compaction; a running capture seals one a minute. Rows of
  rollups are those of windows as long as theirs, not made of seconds; a file has the time that those of rollups have.
- Latencies of probes are independent normal numbers; clocks are perfect; every 5-tuple was traced at the start.
- Drops are independent: each link has its probability.

    python fleet/bench/simulated_fleet.py DIR --boxes 10 --seconds 3600
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from rocescope_fleet.schema import FORMAT_VERSION, columns

Ints = npt.NDArray[np.int64]
SECOND = 1_000_000_000
BITMAP_BYTES = 4_096
START_NS = 1_767_225_600 * SECOND
"""2026-01-01 00:00 UTC."""

_TYPES = {
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "utf8": pa.string(),
    "timestamp[us, UTC]": pa.timestamp("us", tz="UTC"),
    "binary": pa.binary(),
    "list<int64>": pa.list_(pa.int64()),
}


def write_rows(root: Path, table: str, observer: str, given: Mapping[str, Any], window: int = 1) -> int:
    """Writes rows of one partition as a segment of a table; columns that are not given are null. Returns their number."""
    time = "window_start" if "window_start_ns" in given and "window_start" in dict(columns(table)) else "time"
    first_ns = int(given[f"{time}_ns"][0])
    rows = len(given[f"{time}_ns"])
    given = {**given, "observer": text([observer], np.zeros(rows, np.int64))}
    given[time] = pa.array(np.asarray(given[f"{time}_ns"]) // 1_000, pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    unknown = set(given) - {name for name, _ in columns(table)}
    if unknown:
        raise ValueError(f"{table} has no columns {sorted(unknown)}")
    arrays, fields = [], []
    for name, kind in columns(table):
        value = given.get(name)
        array = pa.nulls(rows, _TYPES[kind]) if value is None else value
        array = array if isinstance(array, (pa.Array, pa.ChunkedArray)) else pa.array(array, _TYPES[kind])
        arrays.append(array)
        fields.append(pa.field(name, array.type))
    footer = {
        "rocescope.format_version": str(FORMAT_VERSION),
        "rocescope.table": table,
        "rocescope.observer": observer,
        "rocescope.source": "simulated",
        "rocescope.mode": "file",
        "rocescope.window_ns": str(window * SECOND),
        "rocescope.elephant_bps": "1000000000",
        "rocescope.flow_hash_seed": "0",
        "rocescope.linear_counting.bits": str(BITMAP_BYTES * 8),
        "rocescope.count_min.depth": "4",
        "rocescope.count_min.width": "16384",
        "rocescope.count_min.conservative": "false",
    }
    stamp = np.datetime64(first_ns // SECOND, "s").item()
    folder = root / table / f"date={stamp:%Y-%m-%d}" / f"hour={stamp:%H}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{observer}-{stamp:%Y%m%dT%H%M%SZ}-0000.parquet"
    if path.exists():
        raise FileExistsError(f"{path}: one segment a table, observer and second")
    sealed = pa.Table.from_arrays(arrays, schema=pa.schema(fields, footer))
    pq.write_table(sealed, path, compression="lz4", store_schema=False)
    return rows


def text(pool: Sequence[str], numbers: Ints) -> pa.DictionaryArray:
    """A column of texts, each by its number in the pool."""
    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), pa.array(pool, pa.string()))


def mixed(*parts: Ints | int) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of numbers: SplitMix64 over each part."""
    state: npt.NDArray[np.uint64] = np.zeros((), np.uint64)
    with np.errstate(over="ignore"):
        for part in parts:
            state = np.asarray(state ^ np.asarray(part).astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state = np.asarray(state ^ (state >> np.uint64(31)))
    return np.asarray(state, np.uint64)


@dataclass(frozen=True)
class Traffic:
    """What the capture boxes see. Of the flows of a box, one in `shared` passes the next box too."""

    boxes: int
    seconds: int
    flows: int = 18
    shared: int = 6
    seed: int = 1
    window: int = 1
    """Seconds of a window: 60 and 3,600 make the rollups of a minute and of an hour."""

    @property
    def below(self) -> str:
        """Where in a dataset the rows are."""
        return {1: ".", 60: "rollups/1m", 3_600: "rollups/1h"}[self.window]

    @property
    def segment(self) -> int:
        """Seconds of a segment."""
        return 86_400 if self.window == 3_600 else 3_600

    def identities(self, box: int) -> tuple[Ints, Ints]:
        """The flows of a box, as the box that they are named after and a number there."""
        number = np.arange(self.flows, dtype=np.int64)
        owner = np.where(number % self.shared == self.shared - 1, (box + 1) % self.boxes, box)
        return owner.astype(np.int64), np.where(owner == box, number, number - self.shared + 1)


def write_box(traffic: Traffic, box: int, root: Path) -> dict[int, int]:
    """Writes `windows` and `flows` of a box, file by file. Returns the frame bytes of each flow by its hash."""
    root, window = root / traffic.below, traffic.window
    length = window * SECOND
    owner, number = traffic.identities(box)
    flow_hash = mixed(traffic.seed, owner, number).astype(np.int64)
    src = [f"10.{box_ >> 8}.{box_ & 255}.{number_ % 8 + 1}" for box_, number_ in zip(owner, number, strict=True)]
    peer = (mixed(traffic.seed, owner, number, 7) % np.uint64(traffic.boxes)).astype(np.int64)
    dst = [f"10.{box_ >> 8}.{box_ & 255}.{number_ % 8 + 101}" for box_, number_ in zip(peer, number, strict=True)]
    port = 49_152 + (mixed(traffic.seed, owner, number, 9) % np.uint64(16_384)).astype(np.int64)
    qpn = 256 + (mixed(traffic.seed, owner, number, 11) % np.uint64(1 << 20)).astype(np.int64)
    base = (2_000_000 / (1.0 + number) ** 1.1 * (1 + owner % 7)).astype(np.int64) // 1_000 + 1
    observer = f"box-{box:05}"
    bitmap = np.zeros(BITMAP_BYTES, np.uint8)
    bits = (flow_hash.view(np.uint64) >> np.uint64(49)).astype(np.int64)
    np.bitwise_or.at(bitmap, bits // 8, (1 << (bits % 8)).astype(np.uint8))
    bitmap_bytes = bitmap.tobytes()
    sums = np.zeros(traffic.flows, np.int64)
    for from_s in range(0, traffic.seconds, traffic.segment):
        span = min(traffic.segment, traffic.seconds - from_s) // window
        random = np.random.default_rng([traffic.seed, box, from_s])
        packets = np.maximum(1, (window * base * random.uniform(0.5, 1.5, (span, traffic.flows))).astype(np.int64))
        order = np.argsort(-packets, axis=1, kind="stable")
        packets = np.take_along_axis(packets, order, 1)
        starts = START_NS + from_s * SECOND + np.arange(span, dtype=np.int64) * length
        flow = order.ravel()
        count = packets.ravel()
        start = np.repeat(starts, traffic.flows)
        frame = count * 1_100
        np.add.at(sums, flow, frame)
        rows = len(flow)
        zeros = np.zeros(rows, np.int64)
        write_rows(
            root,
            "flows",
            observer,
            {
                "window_start_ns": start,
                "window_ns": np.full(rows, length),
                "rank": np.tile(np.arange(1, traffic.flows + 1), span),
                "flow_hash": flow_hash[flow],
                "src": text(src, flow),
                "dst": text(dst, flow),
                "udp_src_port": port[flow],
                "udp_src_ports": zeros + 1,
                "dst_qpn": qpn[flow],
                "service": text(["RC"], zeros),
                "packets": count,
                "frame_bytes": frame,
                "payload_bytes": count * 1_024,
                "messages": count,
                "frame_bps": frame * 8.0 / window,
                "payload_bps": count * 8_192.0 / window,
                "error_packets": zeros,
                "error_frame_bytes": zeros,
                "elephant": frame * 8 >= window * 1_000_000_000,
                "ecn_ce_packets": zeros,
                "first_ns": start + 1_000,
                "last_ns": start + length - 1_000,
            },
            window,
        )
        totals = packets.sum(1)
        none = np.zeros(span, np.int64)
        write_rows(
            root,
            "opcodes",
            observer,
            {
                "window_start_ns": starts,
                "window_ns": none + length,
                "opcode": text(["RC_RDMA_WRITE_ONLY"], none),
                "opcode_number": none + 10,
                "packets": totals,
                "frame_bytes": totals * 1_100,
                "payload_bytes": totals * 1_024,
                "messages": totals,
                "frame_bps": totals * 8_800.0 / window,
                "rate_pps": totals / window,
            },
            window,
        )
        named = {name: none for name, kind in columns("windows") if kind == "int64" and name not in _NULL_COUNTS}
        write_rows(
            root,
            "windows",
            observer,
            {
                **named,
                "window_start_ns": starts,
                "window_ns": none + length,
                "frames": totals,
                "roce_packets": totals,
                "frame_bytes": totals * 1_100,
                "payload_bytes": totals * 1_024,
                "messages": totals,
                "flows": none + traffic.flows,
                "flows_exact": none == 0,
                "estimated_flows": none + float(traffic.flows),
                "estimated_flows_stderr_ratio": none * 0.0,
                "mouse_flows": none + traffic.flows,
                "linear_counting": pa.DictionaryArray.from_arrays(
                    pa.array(none, pa.int32()), pa.array([bitmap_bytes], pa.binary())
                ),
            },
            window,
        )
    return dict(zip(flow_hash.tolist(), sums.tolist(), strict=True))


_NULL_COUNTS = {name for name, _ in columns("windows") if name.startswith(("icrc_", "fabric_", "retransmitted_"))} | {
    "mirror_lost_packets",
    "mirror_duplicate_packets",
    "mirror_gap_frames",
    "capture_dropped_frames",
}


@dataclass(frozen=True)
class Mesh:
    """Hosts with `rails` NICs, a leaf for each rail in each rack, and `spines` over all leaves.

    A path has four links: host to leaf, leaf to spine, spine to leaf, leaf to host. Losses are probabilities by the
    address that a link leads to (see `spine_port`, `leaf_port`), or of all probes to or from an address of a NIC.
    """

    hosts: int
    seconds: int
    rails: int = 8
    rack: int = 32
    spines: int = 8
    ports: int = 8
    rate: float = 10.0
    """Probes of a NIC each second."""
    seed: int = 1
    background: float = 1e-6
    link_loss: Mapping[str, float] = field(default_factory=dict)
    nic_loss: Mapping[str, float] = field(default_factory=dict)

    def nic(self, host: int, rail: int) -> str:
        """The address of a NIC."""
        return f"10.{host >> 8}.{host & 255}.{rail + 1}"

    def edge_port(self, host: int, rail: int) -> str:
        """The port of a leaf to which a host sends."""
        return f"11.{host >> 8}.{host & 255}.{rail + 1}"

    def spine_port(self, rack: int, rail: int, spine: int) -> str:
        """The port of a spine to which a leaf sends."""
        return f"12.{rack >> 8}.{rack & 255}.{rail * self.spines + spine}"

    def leaf_port(self, rack: int, rail: int, spine: int) -> str:
        """The port of a leaf to which a spine sends."""
        return f"13.{rack >> 8}.{rack & 255}.{rail * self.spines + spine}"

    def nodes(self) -> list[tuple[str, str]]:
        """All addresses of switches with their nodes."""
        racks = -(-self.hosts // self.rack)
        known = [
            (self.edge_port(host, rail), f"leaf-{host // self.rack}-{rail}")
            for host in range(self.hosts)
            for rail in range(self.rails)
        ]
        for rack in range(racks):
            for rail in range(self.rails):
                for spine in range(self.spines):
                    known.append((self.spine_port(rack, rail, spine), f"spine-{spine}"))
                    known.append((self.leaf_port(rack, rail, spine), f"leaf-{rack}-{rail}"))
        return known


def write_host(mesh: Mesh, host: int, root: Path) -> int:
    """Writes `probes` and `paths` of a host. Returns the number of probes."""
    observer, rack, rails = f"host-{host:05}", host // mesh.rack, mesh.rails
    random = np.random.default_rng([mesh.seed, 77, host])
    pool = 49_152 + random.choice(16_384, (rails, mesh.ports), replace=False)
    nics = [mesh.nic(host, rail) for rail in range(rails)]
    names = [f"rail{rail}" for rail in range(rails)]

    def spine_of(src: Ints, dst: Ints, port: Ints) -> Ints:
        return (mixed(mesh.seed, host, src, dst, port) % np.uint64(mesh.spines)).astype(np.int64)

    pairs = np.array([(s, d, p) for s in range(rails) for d in range(rails) if s != d for p in range(mesh.ports)])
    src, dst, port = pairs[:, 0], pairs[:, 1], pool[pairs[:, 0], pairs[:, 2]]
    spine = spine_of(src, dst, port)
    hops = 4
    each = np.repeat(np.arange(len(pairs)), hops)
    hop = np.tile(np.arange(1, hops + 1), len(pairs))
    addresses: list[str] = []
    for s, d, over in zip(src.tolist(), dst.tolist(), spine.tolist(), strict=True):
        addresses += [
            mesh.edge_port(host, s), mesh.spine_port(rack, s, over), mesh.leaf_port(rack, d, over), nics[d]
        ]  # fmt: skip
    at = np.full(len(each), START_NS, np.int64)
    write_rows(
        root,
        "paths",
        observer,
        {
            "time_ns": at,
            "src_nic": text(names, src[each]),
            "dst_nic": text(names, dst[each]),
            "src": text(nics, src[each]),
            "dst": text(nics, dst[each]),
            "udp_src_port": port[each],
            "udp_dst_port": at * 0 + 4_791,
            "reason": text(["first"], at * 0),
            "hops": at * 0 + hops,
            "hop": hop,
            "address": pa.array(addresses, pa.string()),
            "round_trip_ns": at * 0 + 10_000,
        },
    )

    written = 0
    for from_s in range(0, mesh.seconds, 3_600):
        span = min(3_600, mesh.seconds - from_s)
        turns = int(span * mesh.rate)
        count = turns * rails
        turn = np.repeat(np.arange(turns, dtype=np.int64), rails)
        src = np.tile(np.arange(rails, dtype=np.int64), turns)
        dst = (src + random.integers(1, rails, count)) % rails
        port = pool[src, random.integers(0, mesh.ports, count)]
        spine = spine_of(src, dst, port)
        time_ns = START_NS + from_s * SECOND + (turn * (SECOND / mesh.rate)).astype(np.int64) + src * 1_000
        arrives = np.full(count, 1.0 - mesh.background)
        for address, loss in mesh.link_loss.items():
            crossed = np.zeros(count, bool)
            for rail in range(rails):
                for over in range(mesh.spines):
                    if mesh.spine_port(rack, rail, over) == address:
                        crossed |= (src == rail) & (spine == over)
                    if mesh.leaf_port(rack, rail, over) == address:
                        crossed |= (dst == rail) & (spine == over)
            arrives[crossed] *= 1.0 - loss
        for rail, address in enumerate(nics):
            arrives[(src == rail) | (dst == rail)] *= 1.0 - mesh.nic_loss.get(address, 0.0)
        lost = random.random(count) >= arrives
        network = 4_000 + random.normal(0, 300, count).astype(np.int64)
        processing = 20_000 + random.normal(0, 2_000, count).astype(np.int64)
        known = ~lost
        nic_send = time_ns + processing // 2
        write_rows(
            root,
            "probes",
            observer,
            {
                "time_ns": time_ns,
                "src_nic": text(names, src),
                "dst_nic": text(names, dst),
                "src": text(nics, src),
                "dst": text(nics, dst),
                "udp_src_port": port,
                "udp_dst_port": time_ns * 0 + 4_791,
                "sequence": turn,
                "outcome": text(["received", "timeout"], lost.astype(np.int64)),
                "nic_send_ns": nic_send,
                "nic_receive_ns": pa.array(nic_send + network, mask=lost),
                "app_receive_ns": pa.array(time_ns + processing + network, mask=lost),
                "network_latency_ns": pa.array(network, mask=lost),
                "processing_delay_ns": pa.array(processing, mask=lost),
                "clock_offset_ns": pa.array(time_ns * 0, mask=~known),
                "clock_source": text(["simulated"], time_ns * 0),
                "clock_error_ns": time_ns * 0 + 100,
            },
        )
        written += count
    return written


def _part(work: tuple[Path, Traffic | None, Mesh | None, int]) -> tuple[dict[int, int], int]:
    root, traffic, mesh, number = work
    dataset = root / f"box-{number:05}"
    sizes = write_box(traffic, number, dataset) if traffic is not None and number < traffic.boxes else {}
    probes = write_host(mesh, number, dataset) if mesh is not None and number < mesh.hosts else 0
    return sizes, probes


def write_fleet(
    root: Path, traffic: Traffic | None, mesh: Mesh | None, workers: int | None = None
) -> tuple[dict[int, int], int]:
    """Writes a dataset for each box below `root`. Returns the bytes of each flow by its hash, and the probes."""
    boxes = max(traffic.boxes if traffic else 0, mesh.hosts if mesh else 0)
    sizes: dict[int, int] = {}
    probes = 0
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        for part, count in pool.map(_part, ((root, traffic, mesh, box) for box in range(boxes)), chunksize=4):
            for flow, size in part.items():
                sizes[flow] = sizes.get(flow, 0) + size
            probes += count
    return sizes, probes


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the datasets of a simulated fleet")
    parser.add_argument("root", type=Path, help="directory for one dataset a box")
    parser.add_argument("--boxes", type=int, default=10, help="capture boxes, and hosts that probe [%(default)s]")
    parser.add_argument("--seconds", type=int, default=3_600, help="length of the recording [%(default)s]")
    parser.add_argument("--flows", type=int, default=18, help="flows of a box in each window [%(default)s]")
    parser.add_argument("--rate", type=float, default=10.0, help="probes of a NIC each second [%(default)s]")
    parser.add_argument("--window", type=int, default=1, choices=(1, 60, 3_600), help="seconds of one [%(default)s]")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    traffic = Traffic(
        arguments.boxes, arguments.seconds, arguments.flows, seed=arguments.seed, window=arguments.window
    )
    mesh = Mesh(arguments.boxes, arguments.seconds, rate=arguments.rate, seed=arguments.seed)
    sizes, probes = write_fleet(arguments.root, traffic, mesh)
    print(f"{arguments.boxes} boxes, {len(sizes)} flows, {probes} probes in {arguments.root}")


if __name__ == "__main__":
    main()
