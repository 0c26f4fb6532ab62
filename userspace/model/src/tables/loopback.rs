//! `loopback`: tests between the NICs of a host and its own memory and GPUs.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row for each test of a run: a NIC wrote to memory or a GPU of its own host, in loopback. The rows of a run
    /// have the same window.
    LoopbackRow = "loopback" [kept] {
        /// Name of the host.
        observer: Text, None, [same], hide "Host";
        /// Time of the run.
        window_start: Time, None, [min], show "Run";
        /// `window_start` in full precision.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact time";
        /// Length of the run; 0 if unknown.
        window_ns: i64, Nanoseconds, [span], hide "Length";
        /// The NIC.
        nic: Text, None, [same], show "NIC";
        /// The endpoint: `mem0` is the memory of NUMA node 0, `GPU3` a GPU.
        endpoint: Text, None, [same], show "Endpoint";
        /// How far it is: `near-memory`, `far-memory`, `local-gpu`, `near-gpu` or `far-gpu`.
        reach: Text, None, [same], hide "Reach";
        /// Nodes of the path from the NIC to the endpoint, joined by ` > `.
        path: Text, None, [last], hide "Path";
        /// Size of a message of the bandwidth test; null if unknown.
        size_bytes: Option<u64>, Bytes, [last], hide "Size";
        /// Measured bandwidth; null if it was not measured.
        measured_bps: Option<f64>, BitsPerSecond, [min], show "Bandwidth";
        /// Measured latency of the smallest messages; null if it was not measured.
        latency_ns: Option<i64>, Nanoseconds, [max], show "Latency";
        /// `T_proc + Lat_host` of the model fitted to several sizes; null with fewer than three.
        base_ns: Option<i64>, Nanoseconds, [last], hide "Base latency";
        /// `BW_host` of that model.
        model_bps: Option<f64>, BitsPerSecond, [last], hide "Model bandwidth";
        /// Bandwidth of the baseline; null without one.
        baseline_bps: Option<f64>, BitsPerSecond, [last], show "Baseline";
        /// Latency of the baseline; null without one.
        baseline_ns: Option<i64>, Nanoseconds, [last], hide "Baseline latency";
        /// Bandwidth below which the test is abnormal; null without a baseline.
        limit_bps: Option<f64>, BitsPerSecond, [last], hide "Limit";
        /// Whether full bandwidth is expected, so that a normal test proves the links on its path normal.
        affinitive: bool, None, [last], hide "Affinitive";
        /// Whether the NIC carried other traffic.
        busy: bool, None, [any], hide "Busy";
        /// `normal`, `abnormal`, `unproven` (as expected, but below what the links can do) or `unknown`.
        status: Text, None, [last], show "Status";
        /// Other names of the NIC, such as that of its network interface, separated by spaces.
        aliases: Option<Text>, None, [last], hide "Other names";
        /// What each link of the path runs at in Gbit/s, joined by ` > `; `-` if unknown.
        link_speeds: Option<Text>, None, [last], hide "Link speeds";
        /// What the NIC sent besides the tests of the run; null if no counter was read.
        sent_bps: Option<f64>, BitsPerSecond, [max], hide "Sent besides";
        /// What it received besides the tests.
        received_bps: Option<f64>, BitsPerSecond, [max], hide "Received besides";
        /// What looks wrong on the path without a test, as kind and place: `acs-on-bare-metal: PCIe switch 0`; several are
        /// separated by `; `.
        suspicions: Option<Text>, None, [last], hide "Suspicions";
    }
}
