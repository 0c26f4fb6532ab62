//! The paper's workloads as scenarios.

use std::fmt::Write;

/// Section 5.2 (3): ten background flows below 5 Mbit/s, and 1, 3, 4 and 6 Gbit/s.
const FLOWS: &str = include_str!("../../../../userspace/generate/scenarios/fudan-5.2-3.toml");
/// Section 5.2 (4): 25 queue pairs with mixed operations.
const OPERATIONS: &str = include_str!("../../../../userspace/generate/scenarios/fudan-5.2-4.toml");

/// Section 5.2 (3), for this many seconds.
pub(super) fn flows(seconds: u64) -> String {
    lasting(FLOWS, seconds)
}

/// Section 5.2 (4), for this many seconds.
pub(super) fn operations(seconds: u64) -> String {
    lasting(OPERATIONS, seconds)
}

fn lasting(scenario: &str, seconds: u64) -> String {
    let duration = format!("duration = \"{seconds}s\"");
    scenario.replacen("duration = \"2s\"", &duration, 1)
}

/// Windows of [`growing`].
pub(super) const GROWING_WINDOW_MS: u64 = 20;
/// The maximum number of flows of [`growing`].
pub(super) const GROWING_FLOWS: u64 = 72;

/// Section 5.4 (1): from 1 flow to 72, one more each window, of 0.5 Mbit/s to 20 Gbit/s, among three
/// servers. The fastest come last; otherwise this would be a terabit a second throughout.
pub(super) fn growing() -> String {
    let window = GROWING_WINDOW_MS;
    let mut text = format!("duration = \"{}ms\"\nsnaplen = 128\n", window * GROWING_FLOWS);
    let step = (20_000.0_f64 / 0.5).powf(1.0 / (GROWING_FLOWS - 1) as f64);
    for flow in 0..GROWING_FLOWS {
        let rate_kbps = (500.0 * step.powf(flow as f64)) as u64;
        let (src, dst) = (201 + flow % 3, 201 + (flow + 1 + flow / 3 % 2) % 3);
        let mtu = if rate_kbps < 10_000 { 256 } else { 4096 };
        let _ = write!(
            text,
            "\n[[flows]]\nsrc = \"192.168.2.{src}\"\ndst = \"192.168.2.{dst}\"\nservice = \"uc\"\n\
             operation = \"write\"\nmtu = {mtu}\nmessage = {mtu}\nrate = \"{rate_kbps}kbit/s\"\n\
             start = \"{}ms\"\nspread = \"1ms\"\n",
            flow * window
        );
    }
    text
}

/// The duration of [`changing`], with windows of 1 s.
pub(super) const CHANGING_SECONDS: u64 = 21;

/// The times of the rate changes of [`changing`].
const CHANGES_MS: [u64; 4] = [5_000, 9_000, 13_300, 17_600];

/// Shifts of these times, one run each, so that changes fall on edges of windows and within them.
pub(super) const SHIFTS_MS: [u64; 5] = [0, 130, 340, 500, 810];

/// The times of the rate changes in the run with this shift.
pub(super) fn changes_ms(shift_ms: u64) -> [u64; 4] {
    CHANGES_MS.map(|at| at + shift_ms)
}

/// The rates of the elephants of [`changing`] in Mbit/s: at first, and after each change. In each line
/// are changes above and below 2 Gbit/s.
pub(super) const RATES_MBPS: [[u64; 5]; 5] = [
    [1_000, 3_300, 1_200, 2_800, 4_900],
    [2_000, 4_300, 2_000, 4_200, 3_000],
    [4_800, 2_500, 4_700, 3_100, 1_000],
    [1_300, 1_900, 4_100, 1_800, 3_200],
    [3_800, 1_600, 3_000, 4_400, 2_200],
];

/// Section 5.4 (3): five background flows below 0.5 Gbit/s and five RC SEND flows of 1 to 5 Gbit/s
/// that change four times.
pub(super) fn changing(shift_ms: u64) -> String {
    let mut text = format!("duration = \"{CHANGING_SECONDS}s\"\nsnaplen = 128\n");
    text.push_str(
        "\n[[flows]]\ncount = 5\nsrc = \"192.168.2.201\"\ndst = \"192.168.2.202\"\nmessage = 4096\n\
         mtu = 4096\ngroup_rate = \"1Gbit/s\"\nzipf = 0.5\n",
    );
    for (flow, [first, later @ ..]) in RATES_MBPS.iter().enumerate() {
        let (src, dst) = (201 + flow % 3, 201 + (flow + 1) % 3);
        let changes: Vec<String> = changes_ms(shift_ms)
            .iter()
            .zip(later)
            .map(|(at, rate)| format!("{{ at = \"{at}ms\", rate = \"{rate}Mbit/s\" }}"))
            .collect();
        let _ = write!(
            text,
            "\n[[flows]]\nsrc = \"192.168.2.{src}\"\ndst = \"192.168.2.{dst}\"\noperation = \"send\"\n\
             mtu = 4096\nmessage = \"64KiB\"\nqpn = {}\nrate = \"{first}Mbit/s\"\nrate_changes = [{}]\n",
            elephant_qpn(flow),
            changes.join(", ")
        );
    }
    text
}

/// The destination queue pair of an elephant of [`changing`].
pub(super) fn elephant_qpn(flow: usize) -> u32 {
    0x8000 + flow as u32
}
