//! The check of a port: facts of a capture, and findings from them.

use super::report::LiveReport;
use crate::document::no_roce;
use crate::outcome::Outcome;
use rocescope_diagnose::incidents;
use rocescope_record::counters::CutLength;
use rocescope_wire::link::NO_VLAN;
use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::{NotRoce, Transport};
use std::collections::{BTreeMap, BTreeSet};

/// Shares above which a finding is a warning: one in ten thousand for losses, one in a hundred for
/// anomalies.
const LOSS: f64 = 1e-4;
const ANOMALY: f64 = 1e-2;

/// Facts about the port.
#[derive(Clone, Debug)]
pub struct PortCheck {
    /// Duration of the observation.
    pub seconds: u16,
    /// Frames of any kind.
    pub frames: u64,
    /// RoCEv2 packets.
    pub roce: u64,
    /// RoCE v1 frames.
    pub roce_v1: u64,
    /// Share of the packets of reliable connections between hosts seen in both directions.
    pub both_ways: Option<f64>,
    /// Host pairs of reliable connections.
    pub pairs: usize,
    /// Host pairs seen in one direction only.
    pub one_way_pairs: usize,
    /// Mirror duplicates.
    pub duplicates: u64,
    /// Packets that were acknowledged but not seen.
    pub mirror_lost: u64,
    /// Share of `mirror_lost`.
    pub mirror_loss: f64,
    /// The number of packets for each that arrives, if the mirror samples.
    pub sampled_one_of: Option<u64>,
    /// Frames numbered by mirrors.
    pub numbered: u64,
    /// Numbered frames that never arrived.
    pub gaps: u64,
    /// Packets truncated by the mirror or the capture.
    pub truncated: u64,
    /// The length to which the mirror cuts frames, if it does.
    pub cut: Option<CutLength>,
    /// RoCEv2 frames that are damaged or cut before their headers end.
    pub unread: u64,
    /// Protocols of the frames that are not RoCEv2, with their frames; empty if there are none.
    pub protocols: String,
    /// Packets by VLAN.
    pub vlans: BTreeMap<u16, u64>,
    /// Frames by tunnel.
    pub tunnels: Vec<(&'static str, u64)>,
    /// Frames dropped on this box, if known.
    pub dropped: Option<u64>,
}

/// A finding about the port.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The topic.
    pub topic: &'static str,
    /// Whether it is fine; otherwise it is a warning.
    pub is_fine: bool,
    /// The message.
    pub message: String,
}

impl PortCheck {
    /// The facts of a capture that tracked connections and kept every flow in its summary.
    #[must_use]
    pub fn of(report: &LiveReport, outcome: &Outcome, found: &incidents::Document, seconds: u16) -> Self {
        let (summary, counters) = (&outcome.summary, &outcome.counters);
        let delivery = summary.delivery.unwrap_or_default();
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
        let one_way = pairs.keys().filter(|(src, dst)| !pairs.contains_key(&(*dst, *src)));
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
            duplicates: delivery.mirror_duplicate_packets,
            mirror_lost: delivery.mirror_lost_packets,
            mirror_loss: delivery.mirror_loss_ratio(counters.roce_packets).unwrap_or(0.0),
            sampled_one_of: found.sampled_one_of,
            numbered: counters.mirrored_frames + counters.mirror_lost,
            gaps: counters.mirror_lost,
            truncated: counters.truncated_packets + counters.snapped_packets,
            cut: counters.truncated_length(),
            unread: counters.malformed() + counters.snapped,
            protocols: no_roce::protocols(counters),
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

    /// The findings, topic by topic.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let mut all = Vec::new();
        let mut add = |topic, is_fine, message: String| {
            all.push(Finding {
                topic,
                is_fine,
                message,
            });
        };
        if self.roce == 0 {
            let instead = if self.roce_v1 > 0 {
                format!("{} frames are RoCE v1, which is counted but not analyzed", self.roce_v1)
            } else if self.unread > self.frames / 2 {
                format!(
                    "{} frames are malformed or cut before the end of their headers: let the mirror copy at least 128 \
                     bytes of each",
                    self.unread
                )
            } else if !self.protocols.is_empty() {
                format!("{} other frames: {}", self.frames, self.protocols)
            } else if self.frames > 0 {
                format!("{} other frames", self.frames)
            } else {
                "no other frames".into()
            };
            add(
                "roce",
                false,
                format!(
                    "No RoCEv2 packets in {} s ({instead}): this is the wrong port, there is no traffic, or it is in \
                     a tunnel that is not read.",
                    self.seconds
                ),
            );
            return all;
        }
        let share = 100.0 * self.roce as f64 / self.frames.max(1) as f64;
        add(
            "roce",
            true,
            format!("{} of {} frames are RoCEv2, {share:.1} %.", self.roce, self.frames),
        );
        match self.both_ways {
            None => add("directions", true, "No reliable connections were seen, so no answers are expected.".into()),
            Some(_) if self.one_way_pairs == 0 => add("directions", true, format!("All {} host pairs are seen in both directions.", self.pairs)),
            Some(0.0) => add("directions", false, "Only one direction is seen: no round trips and no pairing. Mirror both the received and the transmitted traffic of the port.".into()),
            Some(_) => add("directions", false, format!("{} of {} host pairs are seen in one direction only: no round trips and no pairing for them.", self.one_way_pairs, self.pairs)),
        }
        let duplicates = self.share(self.duplicates);
        if duplicates > ANOMALY {
            add(
                "duplicates",
                false,
                format!(
                    "{:.1} % of the packets are mirror duplicates: totals count both copies. Mirror only one side of the path.",
                    100.0 * duplicates
                ),
            );
        } else {
            add(
                "duplicates",
                true,
                format!("{} packets are mirror duplicates.", self.duplicates),
            );
        }
        if let Some(one_of) = self.sampled_one_of {
            add(
                "sampling",
                false,
                format!(
                    "The mirror samples: about 1 of {one_of} packets arrives. Rates are those of the sample, and losses, \
                     retransmissions and round trips are unknown. Mirror every packet to know them."
                ),
            );
        } else if self.mirror_loss > LOSS {
            add(
                "mirror loss",
                false,
                format!(
                    "The mirror did not deliver {:.3} % of the packets: it is oversubscribed, and counts of retransmissions are unreliable.",
                    100.0 * self.mirror_loss
                ),
            );
        } else {
            add(
                "mirror loss",
                true,
                format!("The mirror did not deliver {} acknowledged packets.", self.mirror_lost),
            );
        }
        if self.numbered > 0 {
            add(
                "mirror gaps",
                self.gaps as f64 <= LOSS * self.numbered as f64,
                format!(
                    "{} of {} frames numbered by mirrors did not arrive.",
                    self.gaps, self.numbered
                ),
            );
        }
        match self.dropped {
            None => add(
                "this box",
                true,
                "The number of frames dropped on this box is unknown.".into(),
            ),
            Some(0) => add("this box", true, "No frames were dropped on this box.".into()),
            Some(dropped) => {
                let lost = dropped as f64 / (dropped + self.frames) as f64;
                add(
                    "this box",
                    lost <= LOSS,
                    format!("{dropped} frames were dropped on this box."),
                );
            }
        }
        // Who mirrors into a tunnel has chosen the length there.
        if let Some(length) = self.cut.filter(|_| self.tunnels.is_empty()) {
            add(
                "truncation",
                false,
                format!(
                    "The mirror cuts frames to {length}: lengths come from the headers, but ICRCs cannot be verified, and \
                     recordings lack the payload. Let it copy whole frames, or at least 128 bytes."
                ),
            );
        } else if self.share(self.truncated) > ANOMALY {
            add(
                "truncation",
                true,
                "Frames are truncated: lengths come from the headers, and ICRCs cannot be verified.".into(),
            );
        }
        if self.share(self.unread) > ANOMALY {
            add(
                "damage",
                false,
                format!(
                    "{} frames are malformed or cut before the end of their headers: they are in no other count. Let the \
                     mirror copy at least 128 bytes of each frame.",
                    self.unread
                ),
            );
        }
        if !self.vlans.is_empty() {
            let ids: Vec<String> = self.vlans.keys().map(ToString::to_string).collect();
            add("vlan", true, format!("VLANs {}.", ids.join(", ")));
        }
        for (name, count) in &self.tunnels {
            add("tunnel", true, format!("{count} frames are encapsulated in {name}."));
        }
        all
    }
}

/// The verdict from all findings, in one sentence.
#[must_use]
pub fn verdict(findings: &[Finding]) -> String {
    let wrong = findings.iter().filter(|finding| !finding.is_fine);
    let topics: Vec<&str> = wrong.map(|finding| finding.topic).collect();
    if topics.is_empty() {
        "This is the right port.".into()
    } else if topics == ["roce"] {
        "No RoCEv2 traffic was seen.".into()
    } else {
        format!("This port carries RoCEv2, but check: {}.", topics.join(", "))
    }
}
