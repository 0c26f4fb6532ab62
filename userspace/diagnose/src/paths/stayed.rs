//! Flows of two runs that took the same port at a node.
//!
//! A switch that hashes as before moves only flows whose links are gone, and perhaps some beside them. If chance had
//! emptied a link, because the switch hashes otherwise now, the others would have been distributed again too, and few of
//! them would be on the port of before.

use super::walk::Hop;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// The ports of every flow that both runs have, by node: that of one run, and that of the other.
pub(super) struct Stayed<'a>(BTreeMap<&'a str, Vec<(&'a str, &'a str)>>);

impl<'a> Stayed<'a> {
    pub(super) fn new(before: &'a BTreeMap<String, Vec<Hop>>, after: &'a BTreeMap<String, Vec<Hop>>) -> Self {
        let mut nodes: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for (flow, hops) in before {
            let Some(others) = after.get(flow) else { continue };
            for Hop(node, port) in hops {
                if let Some(Hop(_, other)) = others.iter().find(|other| other.0 == *node) {
                    nodes.entry(node).or_default().push((port, other));
                }
            }
        }
        Self(nodes)
    }

    /// How often chance leaves as many flows on their port, at most, if the flows of `node` that do not take `empty` in
    /// either run are distributed again over the other ones of `ports`. Chernoff's bound of the binomial tail: for `s` of
    /// `m` flows over `n` ports, `exp(-m · KL(s/m, 1/n))`.
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 flows")]
    pub(super) fn chance(&self, node: &str, ports: &BTreeSet<&str>, empty: &str) -> f64 {
        let is_other = |port: &str| port != empty && ports.contains(port);
        let flows = self.0.get(node).into_iter().flatten();
        let others = flows.filter(|(before, after)| is_other(before) && is_other(after));
        let (count, stayed) = others.fold((0_u64, 0_u64), |(count, stayed), (before, after)| {
            (count + 1, stayed + u64::from(before == after))
        });
        let choices = ports.len().saturating_sub(1);
        if count == 0 || choices < 2 {
            return 1.0;
        }
        let (share, at_random) = (stayed as f64 / count as f64, 1.0 / choices as f64);
        if share <= at_random {
            return 1.0;
        }
        let term = |part: f64, expected: f64| {
            if part > 0.0 {
                part * libm::log(part / expected)
            } else {
                0.0
            }
        };
        libm::exp(-(count as f64) * (term(share, at_random) + term(1.0 - share, 1.0 - at_random)))
    }
}

#[cfg(test)]
mod tests {
    use super::Stayed;
    use crate::paths::Hop;
    use alloc::collections::{BTreeMap, BTreeSet};
    use alloc::format;
    use alloc::string::String;
    use alloc::vec;
    use alloc::vec::Vec;

    fn paths(ports: &[&str]) -> BTreeMap<String, Vec<Hop>> {
        let flows = ports.iter().enumerate();
        flows
            .map(|(number, port)| (format!("f{number}"), vec![Hop("leaf".into(), (*port).into())]))
            .collect()
    }

    #[test]
    fn flows_that_stay_are_no_chance() {
        let ports = BTreeSet::from(["1", "2", "3", "4"]);
        let before = paths(&["1", "2", "3", "4", "1", "2", "3", "4"]);
        let after = paths(&["1", "2", "3", "1", "1", "2", "3", "2"]);
        // Six flows beside port 4, each with one of three ports.
        let chance = Stayed::new(&before, &after).chance("leaf", &ports, "4");
        assert!((chance - 3.0_f64.powi(-6)).abs() < 1e-12, "{chance}");
    }

    #[test]
    fn flows_that_are_distributed_anew_prove_nothing() {
        let ports = BTreeSet::from(["1", "2", "3", "4"]);
        let before = paths(&["1", "2", "3", "1", "2", "3"]);
        let after = paths(&["1", "3", "2", "2", "1", "3"]);
        assert!((Stayed::new(&before, &after).chance("leaf", &ports, "4") - 1.0).abs() < 1e-12);
        // Two ports: the flows have no other one.
        let two = BTreeSet::from(["1", "4"]);
        let before = paths(&["1", "1", "4"]);
        assert!((Stayed::new(&before, &paths(&["1", "1", "1"])).chance("leaf", &two, "4") - 1.0).abs() < 1e-12);
    }
}
