//! Whether a capture ran on the right port: its facts, and findings on them.

use super::report::LiveReport;
use crate::outcome::Outcome;
use rocescope_wire::link::NO_VLAN;
use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::{NotRoce, Transport};
use std::collections::{BTreeMap, BTreeSet};

/// A share from which a figure is worth a warning: one in ten thousand for what is lost, one in a
/// hundred for what is merely odd.
const LOST: f64 = 1e-4;
const ODD: f64 = 1e-2;

/// What came through the port.
#[derive(Clone, Debug)]
pub struct PortCheck {
    /// How long it was observed.
    pub seconds: u16,
    /// Frames of any kind.
    pub frames: u64,
    /// RoCEv2 packets.
    pub roce: u64,
    /// RoCE v1 frames.
    pub roce_v1: u64,
    /// Share of the packets of reliable connections between hosts that were seen both ways.
    pub both_ways: Option<f64>,
    /// Host pairs of reliable connections.
    pub pairs: usize,
    /// Those of them that were seen one way.
    pub one_way_pairs: usize,
    /// Packets that the mirror showed more than once.
    pub duplicates: u64,
    /// Packets that were acknowledged and not seen.
    pub mirror_lost: u64,
    /// Their share.
    pub mirror_loss: f64,
    /// Frames that mirrors numbered.
    pub numbered: u64,
    /// Those of them that never came.
    pub gaps: u64,
    /// Packets that the mirror or the capture cut.
    pub truncated: u64,
    /// Packets by VLAN.
    pub vlans: BTreeMap<u16, u64>,
    /// Frames by tunnel.
    pub tunnels: Vec<(&'static str, u64)>,
    /// Frames dropped on this box, where that is known.
    pub dropped: Option<u64>,
}

/// A judgement of the port.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What it is about.
    pub topic: &'static str,
    /// Whether it is as it should be.
    pub is_fine: bool,
    /// A sentence.
    pub message: String,
}

impl PortCheck {
    /// The facts of a capture that followed connections and kept every flow in its summary.
    #[must_use]
    pub fn of(report: &LiveReport, outcome: &Outcome, seconds: u16) -> Self {
        let (summary, counters) = (&outcome.summary, &outcome.counters);
        let mirror = summary.mirror.unwrap_or_default();
        let mut pairs = BTreeMap::new();
        let mut vlans = BTreeMap::new();
        for flow in &summary.top_flows {
            let (key, packets) = (&flow.flow.key, flow.flow.counts.packets);
            if flow.flow.opcode.transport() == Transport::Rc {
                *pairs.entry((key.src, key.dst)).or_insert(0u64) += packets;
            }
            for vlan in [key.vlan, key.inner_vlan] {
                if vlan != NO_VLAN {
                    *vlans.entry(vlan).or_insert(0) += packets;
                }
            }
        }
        let all: u64 = pairs.values().sum();
        let both: u64 = pairs
            .iter()
            .filter(|((src, dst), _)| pairs.contains_key(&(*dst, *src)))
            .map(|(_, packets)| packets)
            .sum();
        let unordered = |(src, dst): &([u8; 16], [u8; 16])| (*src.min(dst), *src.max(dst));
        let one_way = pairs
            .keys()
            .filter(|(src, dst)| !pairs.contains_key(&(*dst, *src)));
        let tunnels = Encapsulation::NAMES.iter().zip(counters.encapsulated);
        let v1 = counters.not_roce.get(NotRoce::RoceV1 as usize);
        Self {
            seconds,
            frames: counters.frames,
            roce: counters.roce_packets,
            roce_v1: v1.copied().unwrap_or(0),
            both_ways: (all > 0).then(|| both as f64 / all as f64),
            one_way_pairs: one_way.count(),
            pairs: pairs.keys().map(unordered).collect::<BTreeSet<_>>().len(),
            duplicates: mirror.duplicate_packets,
            mirror_lost: mirror.lost_packets,
            mirror_loss: mirror.loss_ratio(counters.roce_packets).unwrap_or(0.0),
            numbered: counters.mirrored_frames + counters.mirror_lost,
            gaps: counters.mirror_lost,
            truncated: counters.truncated_packets + counters.snapped_packets,
            vlans,
            tunnels: tunnels
                .filter(|(_, count)| *count > 0)
                .map(|(name, count)| (*name, count))
                .collect(),
            dropped: report
                .nic_dropped
                .map(|nic| nic + report.socket_dropped + counters.lost_packets),
        }
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 / self.roce.max(1) as f64
    }

    /// What follows from the facts, topic by topic.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let mut all = Vec::new();
        let mut say = |topic, is_fine, message: String| {
            all.push(Finding {
                topic,
                is_fine,
                message,
            });
        };
        if self.roce == 0 {
            let instead = if self.roce_v1 > 0 {
                format!(
                    "{} frames are RoCE v1, which is counted and not analysed",
                    self.roce_v1
                )
            } else if self.frames > 0 {
                format!("{} frames are something else", self.frames)
            } else {
                "nothing else came either".into()
            };
            say(
                "roce",
                false,
                format!(
                    "No RoCEv2 packet came in {} s; {instead}: this is not the port, or nothing is sent.",
                    self.seconds
                ),
            );
            return all;
        }
        let share = 100.0 * self.roce as f64 / self.frames.max(1) as f64;
        say(
            "roce",
            true,
            format!(
                "{} of {} frames are RoCEv2, {share:.1} %.",
                self.roce, self.frames
            ),
        );
        match self.both_ways {
            None => say("directions", true, "No reliable connection was seen, so nothing has to be answered.".into()),
            Some(_) if self.one_way_pairs == 0 => say("directions", true, format!("All {} pairs of hosts are seen both ways.", self.pairs)),
            Some(0.0) => say("directions", false, "Only one direction is seen: round trips and pairing are impossible; mirror what the port receives and what it sends.".into()),
            Some(_) => say("directions", false, format!("{} of {} pairs of hosts are seen one way only: round trips and pairing are impossible there.", self.one_way_pairs, self.pairs)),
        }
        let twice = self.share(self.duplicates);
        if twice > ODD {
            say(
                "duplicates",
                false,
                format!(
                    "{:.1} % of the packets are shown once more: mirror one side of the path; totals count both copies.",
                    100.0 * twice
                ),
            );
        } else {
            say(
                "duplicates",
                true,
                format!("{} packets are shown once more.", self.duplicates),
            );
        }
        if self.mirror_loss > LOST {
            say(
                "mirror loss",
                false,
                format!(
                    "The mirror leaves out {:.3} % of what was acknowledged: it is oversubscribed, and a count of retransmissions is suspect.",
                    100.0 * self.mirror_loss
                ),
            );
        } else {
            say(
                "mirror loss",
                true,
                format!("{} acknowledged packets were not shown.", self.mirror_lost),
            );
        }
        if self.numbered > 0 {
            say(
                "mirror gaps",
                self.gaps as f64 <= LOST * self.numbered as f64,
                format!(
                    "{} of {} frames that mirrors numbered never came here.",
                    self.gaps, self.numbered
                ),
            );
        }
        match self.dropped {
            None => say(
                "this box",
                true,
                "What was dropped on this box is not known.".into(),
            ),
            Some(0) => say("this box", true, "Nothing was dropped on this box.".into()),
            Some(dropped) => {
                let lost = dropped as f64 / (dropped + self.frames) as f64;
                say(
                    "this box",
                    lost <= LOST,
                    format!("{dropped} frames were dropped on this box."),
                );
            }
        }
        if self.share(self.truncated) > ODD {
            say(
                "truncation",
                true,
                "Frames are cut: lengths come from the headers, and ICRCs cannot be verified."
                    .into(),
            );
        }
        if !self.vlans.is_empty() {
            let ids: Vec<String> = self.vlans.keys().map(ToString::to_string).collect();
            say("vlan", true, format!("VLANs {}.", ids.join(", ")));
        }
        for (name, count) in &self.tunnels {
            say("tunnel", true, format!("{count} frames come in {name}."));
        }
        all
    }
}

/// All findings in one sentence.
#[must_use]
pub fn verdict(findings: &[Finding]) -> String {
    let wrong = findings.iter().filter(|finding| !finding.is_fine);
    let topics: Vec<&str> = wrong.map(|finding| finding.topic).collect();
    if topics.is_empty() {
        "This is the right port.".into()
    } else if topics == ["roce"] {
        "This is not the port.".into()
    } else {
        format!("RoCEv2 is here, but see to: {}.", topics.join(", "))
    }
}
