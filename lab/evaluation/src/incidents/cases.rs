//! The scenarios, and the incidents that each must give.

/// A scenario with faults, or without.
pub(super) struct Case {
    pub(super) name: &'static str,
    /// Groups of flows beside those of all to all.
    pub(super) groups: &'static [&'static str],
    /// Class and place of each incident.
    pub(super) expected: &'static [(&'static str, &'static str)],
}

/// Eight hosts, all to all, 56 flows, some of them with SENDs.
pub(super) const ALL_TO_ALL: &str = r#"
duration = "6s"
snaplen = 96

[[flows]]
name = "all to all"
count = 56
src = "10.1.0.1-10.1.0.8"
dst = ["10.1.0.2-10.1.0.8", "10.1.0.1"]
message = "16KiB"
rate = "1Mbit/s"
delay = "10us"
delay_jitter = "2us"
dscp = 26
"#;

const PAIR_LOSS: &str = r#"
[[flows]]
count = 3
src = "10.1.0.3"
dst = "10.1.0.7"
message = "64KiB"
rate = "4Mbit/s"
loss = [{ probability = 0.01, from = "1s" }]
"#;

const NOT_READY: &str = r#"
[[flows]]
count = 2
src = "10.1.0.1-10.1.0.2"
dst = "10.1.0.6"
operation = "send"
message = "4KiB"
rate = "2Mbit/s"
rnr = { probability = 0.05, timer = 14, repeat = 2 }
"#;

const INCAST: &str = r#"
[[flows]]
count = 6
src = ["10.1.0.1-10.1.0.3", "10.1.0.5-10.1.0.7"]
dst = "10.1.0.4"
message = "64KiB"
rate = "5Mbit/s"
dscp = 26
ecn = { mark = 0.2, from = "1s", cnp_interval = "1ms", cut = 0.5, recovery = "20ms" }
"#;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "quiet",
        groups: &[],
        expected: &[],
    },
    Case {
        name: "busy, marks now and then",
        groups: &[r#"
[[flows]]
count = 8
src = "10.1.0.1-10.1.0.4"
dst = "10.1.0.5-10.1.0.8"
message = "256KiB"
rate = "12Mbit/s"
rate_changes = [{ at = "2s", rate = "6Mbit/s" }, { at = "4s", rate = "14Mbit/s" }]
dscp = 26
ecn = { mark = 0.004, cnp_interval = "1ms", cut = 0.2, recovery = "5ms" }
"#],
        expected: &[],
    },
    Case {
        name: "busy, reordering that NICs tolerate",
        groups: &[r#"
[[flows]]
count = 8
src = "10.1.0.1-10.1.0.4"
dst = "10.1.0.5-10.1.0.8"
message = "64KiB"
rate = "8Mbit/s"
sender = "selective"
receiver = "selective"
nak_delay = "1ms"
reorder = [{ probability = 0.005, by = 2, hold = "50us" }]
"#],
        expected: &[],
    },
    Case {
        name: "busy, one way over many paths",
        groups: &[r#"
[[flows]]
count = 4
src = "10.1.0.1-10.1.0.4"
dst = "10.1.0.5-10.1.0.8"
message = "64KiB"
rate = "8Mbit/s"
receiver = "tolerant"
spray = [{ paths = 8, skew = "200us" }]
"#],
        expected: &[],
    },
    Case {
        name: "one pair, upstream",
        groups: &[PAIR_LOSS],
        expected: &[("network_loss", "10.1.0.3 > 10.1.0.7")],
    },
    Case {
        name: "one pair, downstream",
        groups: &[r#"
[[flows]]
count = 2
src = "10.1.0.2"
dst = "10.1.0.8"
message = "64KiB"
rate = "4Mbit/s"
loss = [{ probability = 0.01, where = "downstream" }]
"#],
        expected: &[("network_loss", "10.1.0.2 > 10.1.0.8")],
    },
    Case {
        name: "one receiver",
        groups: &[r#"
[[flows]]
count = 7
src = ["10.1.0.1-10.1.0.4", "10.1.0.6-10.1.0.8"]
dst = "10.1.0.5"
message = "64KiB"
rate = "3Mbit/s"
loss = [{ probability = 0.01, where = "downstream" }]
"#],
        expected: &[("network_loss", "10.1.0.5 or its link")],
    },
    Case {
        name: "one sender",
        groups: &[r#"
[[flows]]
count = 7
src = "10.1.0.2"
dst = ["10.1.0.1", "10.1.0.3-10.1.0.8"]
message = "64KiB"
rate = "3Mbit/s"
loss = [{ probability = 0.01 }]
"#],
        expected: &[("network_loss", "10.1.0.2 or its link")],
    },
    Case {
        name: "two pairs without a common end",
        groups: &[r#"
[[flows]]
src = "10.1.0.1"
dst = "10.1.0.2"
message = "64KiB"
rate = "6Mbit/s"
loss = [{ probability = 0.01 }]

[[flows]]
src = "10.1.0.5"
dst = "10.1.0.6"
message = "64KiB"
rate = "6Mbit/s"
loss = [{ probability = 0.01, where = "downstream" }]
"#],
        expected: &[
            ("network_loss", "10.1.0.1 > 10.1.0.2"),
            ("network_loss", "10.1.0.5 > 10.1.0.6"),
        ],
    },
    Case {
        name: "a receiver that is not ready",
        groups: &[NOT_READY],
        expected: &[("slow_receiver", "10.1.0.6")],
    },
    Case {
        name: "incast",
        groups: &[INCAST],
        expected: &[("congestion", "10.1.0.4")],
    },
    Case {
        name: "black hole",
        groups: &[r#"
[[flows]]
count = 2
src = "10.1.0.4"
dst = "10.9.0.1"
message = "4KiB"
rate = "1Mbit/s"
timeout = "67ms"
loss = [{ probability = 1.0, where = "downstream" }]
"#],
        expected: &[("no_answer", "10.1.0.4 > 10.9.0.1")],
    },
    Case {
        name: "two hosts, both ways",
        groups: &[r#"
[[flows]]
count = 2
src = "10.1.0.1"
dst = "10.1.0.2"
message = "64KiB"
rate = "6Mbit/s"
bidirectional = true
loss = [{ probability = 0.01 }, { probability = 0.01, of = "responses" }]

[[flows]]
src = "10.1.0.2"
dst = "10.1.0.1"
message = "64KiB"
rate = "6Mbit/s"
loss = [{ probability = 0.01 }]
"#],
        expected: &[("network_loss", "10.1.0.1 <> 10.1.0.2")],
    },
    Case {
        name: "a host that is cut off",
        groups: &[r#"
[[flows]]
count = 4
src = "10.9.0.1"
dst = "10.1.0.1-10.1.0.4"
message = "16KiB"
rate = "1Mbit/s"
timeout = "67ms"
loss = [{ probability = 1.0, where = "downstream", from = "2s" }]
"#],
        expected: &[("no_answer", "10.9.0.1 or its link")],
    },
    Case {
        name: "reordering",
        groups: &[r#"
[[flows]]
count = 2
src = "10.1.0.1"
dst = "10.1.0.8"
message = "64KiB"
rate = "6Mbit/s"
reorder = [{ probability = 0.01, by = 3, hold = "2ms" }]
"#],
        expected: &[("reordering", "10.1.0.1 > 10.1.0.8")],
    },
    Case {
        name: "a refused request",
        groups: &[r#"
[[flows]]
src = "10.1.0.2"
dst = "10.1.0.4"
message = "4KiB"
rate = "1Mbit/s"
refuse = { message = 5, nak = "remote_access_error" }
"#],
        expected: &[("fatal_nak", "10.1.0.2 > 10.1.0.4")],
    },
    Case {
        name: "a mirror that loses frames",
        groups: &["\n[mirror]\nloss = 0.002\n"],
        expected: &[("mirror_loss", "mirror to local")],
    },
    Case {
        name: "three at once",
        groups: &[PAIR_LOSS, NOT_READY, INCAST],
        expected: &[
            ("network_loss", "10.1.0.3 > 10.1.0.7"),
            ("slow_receiver", "10.1.0.6"),
            ("congestion", "10.1.0.4"),
        ],
    },
];
