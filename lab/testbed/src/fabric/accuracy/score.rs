//! Decides which verdicts are right.

use crate::fabric::fault::Fault;
use crate::fabric::live::Fabric;
use crate::fabric::wiring::End;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What happens at a place.
#[derive(Clone, Debug)]
pub(super) enum Trouble {
    /// A fault of the fabric.
    Fault(Fault),
    /// The agent of the host is killed.
    Silence,
}

/// Faults that belong together.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Case {
    pub(super) kind: String,
    pub(super) faults: Vec<Injected>,
}

/// An injected fault, and the verdict that it requires.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Injected {
    pub(super) place: String,
    pub(super) fault: String,
    pub(super) from_ns: i64,
    pub(super) until_ns: i64,
    window_ns: i64,
    /// Its class in a verdict.
    class: String,
    truth: Truth,
}

/// The place of a fault, in the names of verdicts.
#[derive(Debug, Serialize, Deserialize)]
enum Truth {
    /// A NIC, its link or its switch port.
    Nic(String),
    /// A link between switches, in either direction.
    Link([String; 2]),
    /// From a node to a NIC. At its own switch or in its host, that is the NIC itself.
    Route {
        node: String,
        nic: String,
    },
    /// From one NIC to another, by their addresses.
    Pair {
        src: String,
        dst: String,
    },
    /// In the bits of the mask the source port is this one.
    Tuple {
        src: String,
        dst: String,
        port: u16,
        mask: u16,
    },
    Host(String),
}

/// A time without faults.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Quiet {
    pub(super) from_ns: i64,
    pub(super) until_ns: i64,
}

/// The name of a NIC in a verdict.
fn nic_name(fabric: &Fabric, end: &End) -> String {
    format!("{}/{}", fabric.wiring.nodes[end.node].name, end.interface)
}

impl Injected {
    pub(super) fn new(fabric: &Fabric, place: &str, trouble: &Trouble, from_ns: i64, window_ns: i64) -> Result<Self> {
        let (class, truth) = match trouble {
            Trouble::Fault(fault) => required(fabric, place, fault)?,
            Trouble::Silence => ("silent", Truth::Host(place.to_owned())),
        };
        Ok(Self {
            place: place.to_owned(),
            fault: format!("{trouble:?}"),
            from_ns,
            until_ns: from_ns,
            window_ns,
            class: class.to_owned(),
            truth,
        })
    }

    /// Whether the verdict is in time: in the window in which the fault begins, or in the next.
    fn in_time(&self, verdict: &Value) -> bool {
        let first = self.from_ns / self.window_ns * self.window_ns;
        let start = verdict["window_start_ns"].as_i64().unwrap_or(0);
        start >= first && start < first + 2 * self.window_ns
    }

    /// Whether the fault overlaps the window of a verdict, or the one before. It ends a little after the end of a window,
    /// because commands take time. The rows of a killed agent end up to a window earlier.
    pub(super) fn touches(&self, verdict: &Value) -> bool {
        let start = verdict["window_start_ns"].as_i64().unwrap_or(0);
        let ended = self.until_ns - self.window_ns / 4;
        let began = match self.class == "silent" {
            true => self.from_ns - self.window_ns,
            false => self.from_ns,
        };
        start + self.window_ns > began && start - self.window_ns < ended
    }

    /// Whether it holds for all of a window.
    pub(super) fn is_throughout(&self, window: &Value) -> bool {
        let start = window["window_start_ns"].as_i64().unwrap_or(0);
        start >= self.from_ns && start + self.window_ns <= self.until_ns
    }

    /// With two NICs a host, all probes to a NIC are of one pair: an access list for it looks like a route that is missing.
    pub(super) fn between_two_nics(&mut self) {
        if matches!(self.truth, Truth::Pair { .. }) {
            self.class = "no_route".to_owned();
            self.truth = Truth::Nic(self.place.replace('n', "/rail"));
        }
    }

    /// Whether it is of some source ports, which no 5-tuple may have at a time.
    pub(super) fn is_of_few_ports(&self) -> bool {
        matches!(self.truth, Truth::Tuple { .. })
    }

    pub(super) fn has_class(&self, verdict: &Value) -> bool {
        let class = verdict["class"].as_str().unwrap_or("");
        // Of a route that one 5-tuple alone crosses, and of that, the verdict has both.
        let is_either = |class: &str| matches!(class, "no_route" | "blackhole");
        let has_both = verdict["switch"].is_string() && verdict["udp_src_port"].is_u64();
        class == self.class || has_both && is_either(class) && is_either(&self.class)
    }

    pub(super) fn has_place(&self, verdict: &Value) -> bool {
        let text = |column: &str| verdict[column].as_str().unwrap_or("");
        let links = || text("link").split(' ');
        // No trace came further.
        let is_onward = || text("place").ends_with(" or its next hops");
        match &self.truth {
            // Two NICs that probe only each other are one place.
            Truth::Nic(nic) => {
                let is_one_of = || text("place").split(" or ").any(|one| one == nic);
                text("nic") == nic || is_one_of() || links().any(|link| link.split('>').any(|end| end == nic))
            }
            Truth::Link([a, b]) => {
                let forth = format!("{a}>{b}");
                let back = format!("{b}>{a}");
                is_onward() && [a, b].contains(&&text("switch").to_owned())
                    || links().any(|link| link == forth || link == back)
            }
            Truth::Route { node, nic } => {
                let is_there = text("switch") == node || text("place_kind") == "nic";
                let is_one_of = text("place_kind") == "nic" && text("place").split(" or ").any(|one| one == nic);
                text("nic") == nic && is_there || is_one_of || is_onward()
            }
            Truth::Pair { src, dst } => text("place_kind") == "pair" && text("src") == src && text("dst") == dst,
            Truth::Tuple { src, dst, port, mask } => {
                let is_port = |other: u64| other & u64::from(*mask) == u64::from(*port);
                text("src") == src && text("dst") == dst && verdict["udp_src_port"].as_u64().is_some_and(is_port)
            }
            Truth::Host(host) => text("host") == host,
        }
    }
}

/// The class and the place that a verdict must have.
fn required(fabric: &Fabric, place: &str, fault: &Fault) -> Result<(&'static str, Truth)> {
    let named = |nic: &str| anyhow::Ok(nic_name(fabric, &fabric.link(nic)?.lower));
    Ok(match fault {
        Fault::LinkDown => ("link_down", link(fabric, place)?),
        Fault::Flapping { .. } => ("flapping", link(fabric, place)?),
        Fault::Loss { .. } => ("loss", link(fabric, place)?),
        Fault::Corruption { .. } => ("corruption", link(fabric, place)?),
        Fault::Congestion { .. } => ("congestion", link(fabric, place)?),
        Fault::MissingRoute { nic } => {
            let (node, nic) = (place.to_owned(), named(nic)?);
            ("no_route", Truth::Route { node, nic })
        }
        Fault::Acl { src, dst } => {
            let address = |nic: &str| anyhow::Ok(fabric.link(nic)?.lower.address.to_string());
            let (src, dst) = (address(src)?, address(dst)?);
            ("acl", Truth::Pair { src, dst })
        }
        Fault::Blackhole { src, dst, port, mask } => {
            let (src, dst, port, mask) = (src.to_string(), dst.to_string(), *port, *mask);
            ("blackhole", Truth::Tuple { src, dst, port, mask })
        }
        Fault::SlowHost { .. } => ("slow_host", Truth::Host(place.to_owned())),
    })
}

fn link(fabric: &Fabric, place: &str) -> Result<Truth> {
    let link = fabric.link(place)?;
    if fabric.wiring.nodes[link.lower.node].is_host {
        return Ok(Truth::Nic(nic_name(fabric, &link.lower)));
    }
    let name = |end: &End| fabric.wiring.nodes[end.node].name.clone();
    Ok(Truth::Link([name(&link.lower), name(&link.upper)]))
}

/// The result of one case.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) case: Case,
    /// Each fault has a verdict in time with its class and its place.
    pub(super) is_named: bool,
    /// Each fault has a verdict in time with its place, whatever the class.
    pub(super) has_places: bool,
    /// Verdicts of its windows, abbreviated.
    pub(super) verdicts: Vec<String>,
    /// Those of them that name the place of no fault.
    pub(super) elsewhere: Vec<String>,
}

impl Judged {
    /// Everything is named, and nothing else.
    pub(super) fn is_right(&self) -> bool {
        self.is_named && self.elsewhere.is_empty()
    }
}

/// The minimum share of cases that are right, in percent.
pub(super) const BAR: usize = 95;

/// The results of all cases.
#[derive(Debug)]
pub(super) struct Scored {
    pub(super) judged: Vec<Judged>,
    /// Seconds of the quiet time, and its verdicts.
    pub(super) quiet_seconds: f64,
    pub(super) quiet_said: Vec<String>,
    /// Verdicts of windows without any fault, outside the quiet time too.
    pub(super) unfounded: Vec<String>,
}

impl Scored {
    /// Whether at least [`BAR`] percent of the cases are right, and no verdict is of a time without faults.
    pub(super) fn is_good(&self) -> bool {
        let right = self.judged.iter().filter(|one| one.is_right()).count();
        self.unfounded.is_empty() && right * 100 >= self.judged.len() * BAR
    }
}

/// Compares verdicts with the injected faults.
pub(super) fn score(cases: Vec<Case>, quiet: Quiet, verdicts: &[Value]) -> Scored {
    let touched = |case: &Case, verdict: &Value| case.faults.iter().any(|fault| fault.touches(verdict));
    let unfounded = verdicts
        .iter()
        .filter(|verdict| !cases.iter().any(|case| touched(case, verdict)));
    let within = |verdict: &&Value| {
        let start = verdict["window_start_ns"].as_i64().unwrap_or(0);
        start >= quiet.from_ns && start < quiet.until_ns
    };
    let quiet_said = unfounded.clone().filter(within).map(short).collect();
    let unfounded = unfounded.map(short).collect();
    let faults = || cases.iter().flat_map(|case| &case.faults);
    let is_of_a_fault = |verdict: &&Value| faults().any(|fault| fault.touches(verdict) && fault.has_place(verdict));
    let elsewhere: Vec<&Value> = verdicts.iter().filter(|verdict| !is_of_a_fault(verdict)).collect();
    let judged = cases.into_iter().map(|case| {
        let own: Vec<&Value> = verdicts.iter().filter(|verdict| touched(&case, verdict)).collect();
        let named = |fault: &Injected, also_class: bool| {
            let mut there = own.iter().filter(|v| fault.in_time(v) && fault.has_place(v));
            there.any(|v| !also_class || fault.has_class(v))
        };
        let elsewhere = elsewhere.iter().filter(|verdict| touched(&case, verdict));
        Judged {
            is_named: case.faults.iter().all(|fault| named(fault, true)),
            has_places: case.faults.iter().all(|fault| named(fault, false)),
            verdicts: own.iter().map(|verdict| short(verdict)).collect(),
            elsewhere: elsewhere.map(|verdict| short(verdict)).collect(),
            case,
        }
    });
    Scored {
        judged: judged.collect(),
        quiet_seconds: (quiet.until_ns - quiet.from_ns) as f64 / 1e9,
        quiet_said,
        unfounded,
    }
}

pub(super) fn short(verdict: &Value) -> String {
    let text = |column: &str| verdict[column].as_str().unwrap_or("");
    let count = |column: &str| verdict[column].as_u64().unwrap_or(0);
    format!(
        "{} {} ({} of {})",
        text("class"),
        text("place"),
        count("anomalous"),
        count("probes")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const WINDOW: i64 = 1_000;

    /// A NIC whose link is down from the middle of window 10 until the end of window 11.
    fn down() -> Injected {
        Injected {
            place: "h1n2".into(),
            fault: "LinkDown".into(),
            from_ns: 10_500,
            until_ns: 12_010,
            window_ns: WINDOW,
            class: "link_down".into(),
            truth: Truth::Nic("h1/rail2".into()),
        }
    }

    fn verdict(window: i64, class: &str, nic: &str) -> Value {
        json!({ "window_start_ns": window * WINDOW, "class": class, "nic": nic, "place": nic })
    }

    fn judged(verdicts: &[Value]) -> Scored {
        let quiet = Quiet {
            from_ns: 0,
            until_ns: 5_000,
        };
        let case = Case {
            kind: "NIC down".into(),
            faults: vec![down()],
        };
        score(vec![case], quiet, verdicts)
    }

    #[test]
    fn a_verdict_is_right_with_class_and_place_within_two_windows() {
        for window in [10, 11] {
            assert!(judged(&[verdict(window, "link_down", "h1/rail2")]).is_good());
        }
        for wrong in [
            verdict(9, "link_down", "h1/rail2"),
            verdict(12, "link_down", "h1/rail2"),
            verdict(11, "loss", "h1/rail2"),
            verdict(11, "link_down", "h1/rail3"),
        ] {
            assert!(!judged(&[wrong]).is_good());
        }
        // The class of one verdict and the place of another do not match together.
        let halves = [verdict(11, "loss", "h1/rail2"), verdict(11, "link_down", "h0/rail0")];
        let scored = judged(&halves);
        assert!(!scored.judged[0].is_named && scored.judged[0].has_places);
        assert_eq!(scored.judged[0].elsewhere.len(), 1);
    }

    #[test]
    fn every_fault_of_a_case_must_be_named_and_nothing_else() {
        let other = Injected {
            truth: Truth::Link(["r0".into(), "s1".into()]),
            class: "loss".into(),
            ..down()
        };
        let faults = || {
            vec![
                down(),
                Injected {
                    truth: Truth::Host("h3".into()),
                    class: "silent".into(),
                    ..down()
                },
            ]
        };
        let link = json!({ "window_start_ns": 11 * WINDOW, "class": "loss", "link": "s1>r0" });
        let host = json!({ "window_start_ns": 11 * WINDOW, "class": "silent", "host": "h3" });
        let nic = verdict(10, "link_down", "h1/rail2");
        let judge = |faults: Vec<Injected>, verdicts: &[Value]| {
            let quiet = Quiet {
                from_ns: 0,
                until_ns: 1,
            };
            let kind = "two".into();
            score(vec![Case { kind, faults }], quiet, verdicts).is_good()
        };
        assert!(judge(faults(), &[nic.clone(), host.clone()]));
        assert!(!judge(faults(), std::slice::from_ref(&nic)));
        assert!(!judge(faults(), &[nic.clone(), host, link.clone()]));
        assert!(judge(vec![down(), other], &[nic, link]));
    }

    #[test]
    fn a_verdict_without_a_fault_counts_against_the_product() {
        let right = verdict(11, "link_down", "h1/rail2");
        let scored = judged(&[right.clone(), verdict(3, "loss", "h0/rail0")]);
        assert_eq!((scored.quiet_said.len(), scored.unfounded.len()), (1, 1));
        assert!(!scored.is_good());
        // The window after a fault may still report it; the next may not, although the fault was healed a little late.
        let after = |window| judged(&[right.clone(), verdict(window, "loss", "h0/rail0")]);
        assert_eq!(after(12).unfounded.len(), 0);
        assert_eq!(after(13).unfounded.len(), 1);
    }

    #[test]
    fn links_match_in_either_direction_and_among_ties() {
        let mut one = down();
        one.truth = Truth::Link(["r0".into(), "s1".into()]);
        let links = |links: &str| one.has_place(&json!({ "link": links }));
        assert!(links("r0>s1") && links("s1>r0") && links("s0>r0 s1>r0"));
        assert!(!links("r0>s0") && !links("r1>s1") && !links(""));
        let nic = |link: &str| down().has_place(&json!({ "link": link }));
        assert!(nic("r2>h1/rail2") && nic("h1/rail2>r2") && !nic("h1/rail20>r2"));
    }

    #[test]
    fn routes_pairs_tuples_and_hosts_must_match_completely() {
        let mut one = down();
        let (node, nic) = ("s1".into(), "h1/rail2".into());
        one.truth = Truth::Route { node, nic };
        let route = |switch: &str, nic: &str| json!({ "place_kind": "route", "switch": switch, "nic": nic });
        assert!(one.has_place(&route("s1", "h1/rail2")));
        assert!(!one.has_place(&route("s0", "h1/rail2")));
        assert!(!one.has_place(&route("s1", "h1/rail1")));
        let (src, dst) = ("10.0.0.2".to_owned(), "10.0.0.4".to_owned());
        let pair = json!({ "place_kind": "pair", "src": src, "dst": dst });
        let tuple = json!({ "place_kind": "tuple", "src": src, "dst": dst, "udp_src_port": 7 });
        let (a, b) = (src.clone(), dst.clone());
        one.truth = Truth::Pair { src: a, dst: b };
        assert!(one.has_place(&pair) && !one.has_place(&tuple));
        let (port, mask) = (7, u16::MAX);
        one.truth = Truth::Tuple { src, dst, port, mask };
        assert!(one.has_place(&tuple) && !one.has_place(&pair));
        one.truth = Truth::Host("h1".into());
        assert!(one.has_place(&json!({ "host": "h1" })) && !one.has_place(&pair));
    }
}
