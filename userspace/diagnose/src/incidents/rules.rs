//! Which class is an effect of which. `docs/incidents.md` gives the reason of each line.

/// Damage of a cable, a NIC or a route: all that depends on packets getting through.
const BROKEN_WAY: &[&str] = &[
    "network_loss",
    "loss",
    "no_answer",
    "receiver_drops",
    "unsent",
    "jitter",
    "lossy_qp",
    "slow_link",
    "timeouts",
];
/// Packets that do not get through in time.
const SLOW_WAY: &[&str] = &[
    "congestion",
    "latency",
    "slow_nic",
    "asymmetric_path",
    "jitter",
    "slow_link",
    "slow_rank",
    "incast",
    "pfc_backpressure",
    "flow_contention",
    "load_imbalance",
    "imbalance",
];

/// The effects of each class. A cause is above the causes that are its effects, so that there is no circle.
const EFFECTS: &[(&str, &[&[&str]])] = &[
    (
        "pcie_degraded",
        &[&["loopback", "pause_storm", "receiver_drops"], SLOW_WAY],
    ),
    ("loopback", &[&["pause_storm", "receiver_drops"], SLOW_WAY]),
    ("sick_cable", &[&["corruption", "flapping", "link_down"], BROKEN_WAY]),
    ("nic_vanished", &[&["link_down", "silent"], BROKEN_WAY]),
    ("link_down", &[&["flapping", "blackhole", "silent"], BROKEN_WAY]),
    ("flapping", &[&["link_down"], BROKEN_WAY]),
    ("corruption", &[BROKEN_WAY]),
    ("no_route", &[&["blackhole"], BROKEN_WAY]),
    ("acl", &[&["blackhole"], BROKEN_WAY]),
    ("blackhole", &[BROKEN_WAY]),
    ("pfc_mismatch", &[&["headroom_drops"], BROKEN_WAY]),
    ("headroom_drops", &[&["congestion_drops"], BROKEN_WAY]),
    ("congestion_drops", &[&["congestion", "latency"], BROKEN_WAY]),
    ("pause_storm", &[&["pfc_storm", "receiver_drops", "no_cnps"], SLOW_WAY]),
    ("pfc_storm", &[SLOW_WAY]),
    ("no_cnps", &[&["receiver_drops"], SLOW_WAY]),
    ("cnps_ignored", &[&["receiver_drops"], SLOW_WAY]),
    ("mirror_repeats", &[&["duplicates", "timeouts"]]),
    ("reordering", &[&["network_loss", "jitter"]]),
    ("loss", &[BROKEN_WAY]),
    ("receiver_drops", &[&["network_loss", "jitter", "lossy_qp"]]),
    ("silent", &[&["no_answer"]]),
    ("no_answer", &[&["network_loss", "jitter"]]),
    ("network_loss", &[&["jitter", "lossy_qp", "slow_link"]]),
    ("slow_receiver", &[&["jitter", "slow_rank"]]),
    ("congestion", &[SLOW_WAY]),
    (
        "incast",
        &[&[
            "flow_contention",
            "pfc_backpressure",
            "load_imbalance",
            "slow_link",
            "slow_rank",
        ]],
    ),
    (
        "flow_contention",
        &[&["pfc_backpressure", "load_imbalance", "slow_link", "slow_rank"]],
    ),
    ("slow_nic", &[&["latency", "asymmetric_path", "slow_rank", "slow_link"]]),
];

/// The name of a fault that two analyses name differently.
pub(super) fn family(class: &str) -> &str {
    match class {
        "receiver_died" => "no_answer",
        class => class,
    }
}

/// Whether a fault of the first class may have one of the second as its effect, or both are names of one fault.
pub(super) fn explains(cause: &str, effect: &str) -> bool {
    let (cause, effect) = (family(cause), family(effect));
    cause == effect || {
        let effects = EFFECTS.iter().find(|(class, _)| *class == cause);
        effects.is_some_and(|(_, lists)| lists.iter().any(|list| list.contains(&effect)))
    }
}

/// How far up a class is: a cause has a lower number than its effects.
pub(super) fn depth(class: &str) -> usize {
    let class = family(class);
    let known = EFFECTS.iter().position(|(cause, _)| *cause == class);
    known.unwrap_or(EFFECTS.len())
}

#[cfg(test)]
mod tests {
    use super::{EFFECTS, depth, explains};

    /// `link_down` and `flapping` are two views of one link, which the place and the certainty decide.
    #[test]
    fn causes_are_above_their_effects() {
        for (cause, lists) in EFFECTS {
            for effect in lists.iter().copied().flatten() {
                let is_view = (*cause, *effect) == ("flapping", "link_down");
                assert!(
                    cause == effect || is_view || depth(cause) < depth(effect),
                    "{cause} {effect}"
                );
            }
        }
        assert!(explains("sick_cable", "network_loss") && !explains("network_loss", "sick_cable"));
    }
}
