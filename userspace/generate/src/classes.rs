//! Classes of traffic: what the analysis of connections is measured with, and what users can try.

/// Pairs each name with its scenario.
macro_rules! classes {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../scenarios/classes/", $name, ".toml")))),*]
    };
}

/// The name and the scenario of each class.
pub const CLASSES: &[(&str, &str)] = classes![
    "atomic-loss",
    "deep-queues",
    "ecn",
    "in-order",
    "loss-after",
    "loss-before",
    "loss-bursts",
    "many-qps",
    "mirror-copies",
    "one-sided-clean",
    "one-sided-requests",
    "one-sided-responses",
    "psn-wrap",
    "qpn-reuse",
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
    "spray-loss",
    "spray-ports-loss",
    "spray-ports-packet",
    "spray-ports-path",
    "spray-strict",
    "tail-loss",
    "uc-late",
    "uc-loss",
];

/// The scenario of the class with this name.
#[must_use]
pub fn class(name: &str) -> Option<&'static str> {
    let found = CLASSES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}
