//! Classes of traffic: what the analysis of connections is measured with, and what users can try.

/// Pairs each name with its scenario.
macro_rules! classes {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../scenarios/classes/", $name, ".toml")))),*]
    };
}

/// The name and the scenario of each class.
pub const CLASSES: &[(&str, &str)] = classes![
    "answers-lost",
    "atomic-loss",
    "clock-back",
    "clock-batches",
    "copies-loss",
    "deep-queues",
    "ecn",
    "heavy-loss",
    "in-order",
    "long-bursts",
    "loss-after",
    "loss-before",
    "loss-bursts",
    "many-qps",
    "mirror-bursts",
    "mirror-copies",
    "mirror-numbers",
    "mirror-outage",
    "mirror-skew",
    "mixed-loss",
    "one-sided-clean",
    "one-sided-requests",
    "one-sided-responses",
    "psn-wrap",
    "qpn-reuse",
    "qpn-reuse-spaces",
    "read-loss",
    "read-spray",
    "read-spray-loss",
    "reorder-strict",
    "reorder-tolerant",
    "rnr",
    "selective-answers",
    "selective-bursts",
    "selective-sack",
    "selective-single",
    "slow-timer",
    "spray",
    "spray-after",
    "spray-answers",
    "spray-early-naks",
    "spray-loss",
    "spray-ports-loss",
    "spray-ports-packet",
    "spray-ports-path",
    "spray-strict",
    "spray-timer-loss",
    "tail-loss",
    "two-taps",
    "two-taps-loss",
    "uc-late",
    "uc-loss",
    "ud-loss",
];

/// Scenarios of UET, whose packets are not RoCEv2: their truth is in [`Truth::pdcs`](crate::Truth::pdcs).
pub const UET: &[(&str, &str)] = &[
    ("uet-clean", include_str!("../scenarios/uet/clean.toml")),
    ("uet-spray", include_str!("../scenarios/uet/spray.toml")),
    ("uet-loss-before", include_str!("../scenarios/uet/loss-before.toml")),
    ("uet-loss-after", include_str!("../scenarios/uet/loss-after.toml")),
    ("uet-trim", include_str!("../scenarios/uet/trim.toml")),
    ("uet-mixed", include_str!("../scenarios/uet/mixed.toml")),
    ("uet-impatient", include_str!("../scenarios/uet/impatient.toml")),
];

/// The scenario of the class with this name.
#[must_use]
pub fn class(name: &str) -> Option<&'static str> {
    let found = CLASSES.iter().chain(UET).find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

/// Twenty runs, a class and a seed each, in which packets pass the tap out of order, to compare ways to capture.
/// [`Generator`](crate::Generator) gives their frames with times.
pub const REORDERED: [(&str, u64); 20] = [
    ("reorder-tolerant", 1),
    ("reorder-tolerant", 2),
    ("reorder-strict", 1),
    ("reorder-strict", 2),
    ("spray", 1),
    ("spray", 2),
    ("spray-loss", 1),
    ("spray-loss", 2),
    ("spray-answers", 1),
    ("spray-answers", 2),
    ("spray-ports-path", 1),
    ("spray-ports-packet", 1),
    ("spray-ports-loss", 1),
    ("spray-strict", 1),
    ("read-spray", 1),
    ("read-spray-loss", 1),
    ("uc-late", 1),
    ("uc-loss", 1),
    ("selective-sack", 1),
    ("psn-wrap", 1),
];
