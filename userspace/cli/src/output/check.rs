//! `rocescope capture --check`: whether this is the right port.

use crate::arguments::Output;
use crate::commands::{capture, print};
use crate::intake::Outcome;
use crate::output::Live;
use anyhow::Result;
use rocescope_model::Value;
use rocescope_model::json::Writer;
use rocescope_wire::link::NO_VLAN;
use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::{NotRoce, Transport};
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

/// A share from which a figure is worth a warning: one in ten thousand for what is lost, one in a
/// hundred for what is merely odd.
const LOST: f64 = 1e-4;
const ODD: f64 = 1e-2;

/// What came through the port.
struct Facts {
    seconds: u16,
    frames: u64,
    roce: u64,
    roce_v1: u64,
    /// Share of the packets of reliable connections between hosts that were seen both ways.
    both_ways: Option<f64>,
    /// Host pairs of reliable connections, and those of them that were seen one way.
    pairs: usize,
    one_way_pairs: usize,
    twice: u64,
    mirror_lost: u64,
    mirror_loss: f64,
    /// Frames that mirrors numbered, and those of them that never came.
    numbered: u64,
    gaps: u64,
    truncated: u64,
    vlans: BTreeMap<u16, u64>,
    tunnels: Vec<(&'static str, u64)>,
    dropped: Option<u64>,
}

/// A sentence about the port.
struct Sentence {
    topic: &'static str,
    is_fine: bool,
    says: String,
}

pub(super) fn conclude(
    output: Output,
    report: &Live,
    outcome: &Outcome,
    seconds: u16,
) -> Result<ExitCode> {
    let facts = Facts::of(report, outcome, seconds);
    let sentences = facts.sentences();
    print(&match output {
        Output::Table => text(&facts, &sentences),
        Output::Json => json(&facts, &sentences),
    })?;
    capture::verdict(outcome)?;
    Ok(if facts.roce == 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

impl Facts {
    fn of(report: &Live, outcome: &Outcome, seconds: u16) -> Self {
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
            twice: mirror.twice_packets,
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

    fn sentences(&self) -> Vec<Sentence> {
        let mut all = Vec::new();
        let mut say = |topic, is_fine, says: String| {
            all.push(Sentence {
                topic,
                is_fine,
                says,
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
        let twice = self.share(self.twice);
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
                format!("{} packets are shown once more.", self.twice),
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

fn verdict(sentences: &[Sentence]) -> String {
    let wrong = sentences.iter().filter(|sentence| !sentence.is_fine);
    let topics: Vec<&str> = wrong.map(|sentence| sentence.topic).collect();
    if topics.is_empty() {
        "This is the right port.".into()
    } else if topics == ["roce"] {
        "This is not the port.".into()
    } else {
        format!("RoCEv2 is here, but see to: {}.", topics.join(", "))
    }
}

fn text(facts: &Facts, sentences: &[Sentence]) -> String {
    let mut out = format!("{} ({} s)\n\n", verdict(sentences), facts.seconds);
    for sentence in sentences {
        let level = if sentence.is_fine { "ok" } else { "warn" };
        out += &format!("{level:<4}  {:<11}  {}\n", sentence.topic, sentence.says);
    }
    out
}

fn json(facts: &Facts, sentences: &[Sentence]) -> String {
    let mut json = Writer::pretty();
    json.begin_object();
    json.key("verdict").string(&verdict(sentences));
    json.key("right")
        .bool(sentences.iter().all(|sentence| sentence.is_fine));
    let float = |share: Option<f64>| share.map_or(Value::Null, Value::F64);
    for (key, count) in [
        ("seconds", u64::from(facts.seconds)),
        ("frames", facts.frames),
        ("roce_packets", facts.roce),
        ("roce_v1_frames", facts.roce_v1),
        ("host_pairs", facts.pairs as u64),
        ("one_way_host_pairs", facts.one_way_pairs as u64),
        ("mirrored_twice_packets", facts.twice),
        ("mirror_lost_packets", facts.mirror_lost),
        ("mirror_gap_frames", facts.gaps),
        ("truncated_packets", facts.truncated),
    ] {
        json.key(key).integer(count);
    }
    json.key("both_ways_ratio").value(&float(facts.both_ways));
    json.key("mirror_loss_ratio")
        .value(&Value::F64(facts.mirror_loss));
    json.key("dropped_here");
    match facts.dropped {
        Some(dropped) => json.integer(dropped),
        None => json.value(&Value::Null),
    };
    json.key("vlans").begin_object();
    for (vlan, packets) in &facts.vlans {
        json.key(&vlan.to_string()).integer(*packets);
    }
    json.end_object();
    json.key("tunnels").begin_object();
    for (name, count) in &facts.tunnels {
        json.key(name).integer(*count);
    }
    json.end_object();
    json.key("findings").begin_array();
    for sentence in sentences {
        json.begin_object();
        json.key("topic").string(sentence.topic);
        json.key("level")
            .string(if sentence.is_fine { "ok" } else { "warn" });
        json.key("says").string(&sentence.says);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    json.finish() + "\n"
}
