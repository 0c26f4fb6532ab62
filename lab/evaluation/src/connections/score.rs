//! The figures of a class over its seeds.

use super::follow::Followed;
use super::matching::{Real, Reported, claim};
use crate::table::percent;
use rocescope_generate::truth::{ConnectionTruth, EndTruth};
use rocescope_generate::{Direction, LossPoint, LostPacket, PacketKind};
use rocescope_model::ConnectionRow;
use std::collections::BTreeMap;

/// Figures of directions that are equal to the truth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Exact {
    pub(super) equal: u64,
    pub(super) all: u64,
}

impl Exact {
    fn add(&mut self, is_equal: bool) {
        self.all += 1;
        self.equal += u64::from(is_equal);
    }

    pub(super) fn percent(self) -> f64 {
        percent(self.equal, self.all)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Score {
    /// Packets lost in the fabric; those that the tap could know.
    pub(super) real: u64,
    pub(super) visible: u64,
    /// Packets reported as lost; those that were.
    pub(super) reported: u64,
    pub(super) right: u64,
    /// Visible ones that were reported.
    pub(super) found: u64,
    /// Reported in directions that lost nothing.
    pub(super) false_alarms: u64,
    /// Counted, and reported in an event: the two must agree.
    pub(super) without_event: u64,
    pub(super) figures: BTreeMap<&'static str, Exact>,
}

/// The columns of figures.
pub(super) const FIGURES: [&str; 9] = [
    "rows",
    "packets",
    "payload",
    "messages",
    "retransmitted",
    "out of order",
    "duplicates",
    "round trips",
    "longest trip",
];

impl Score {
    pub(super) fn precision(&self) -> f64 {
        percent(self.right, self.reported)
    }

    pub(super) fn recall(&self) -> f64 {
        percent(self.found, self.visible)
    }

    pub(super) fn figure(&self, name: &str) -> f64 {
        self.figures.get(name).copied().unwrap_or_default().percent()
    }

    pub(super) fn header() -> String {
        let mut line = format!(
            "{:<20} {:>6} {:>7} {:>6} {:>6} {:>6} {:>9} {:>7} {:>6}",
            "class", "lost", "visible", "reported", "right", "found", "precision", "recall", "alarms"
        );
        for name in FIGURES {
            line += &format!(" {name:>13}");
        }
        line + "\n"
    }

    pub(super) fn line(&self, class: &str) -> String {
        let mut line = format!(
            "{class:<20} {:>6} {:>7} {:>6} {:>6} {:>6} {:>8.1}% {:>6.1}% {:>6}",
            self.real,
            self.visible,
            self.reported,
            self.right,
            self.found,
            self.precision(),
            self.recall(),
            self.false_alarms
        );
        for name in FIGURES {
            line += &format!(" {:>12.1}%", self.figure(name));
        }
        line + "\n"
    }

    /// Adds a run. Returns a line for each difference.
    pub(super) fn add(&mut self, followed: &Followed) -> Vec<String> {
        let mut wrong = Vec::new();
        for group in lives(&followed.truth.connections) {
            let [first, ..] = group[..] else { continue };
            let ends = [(&first.a, &first.b), (&first.b, &first.a)];
            let mut real = [0, 1].map(|side| {
                let lost = group.iter().flat_map(|life| way(life, side).lost.iter().copied());
                Real::all(&lost.collect::<Vec<_>>())
            });
            for (side, (from, to)) in ends.into_iter().enumerate() {
                let name = format!("{} {}", first.group, if side == 0 { "->" } else { "<-" });
                let truths: Vec<&Direction> = group.iter().map(|life| way(life, side)).collect();
                self.figures(followed, &name, &truths, (from, to), &mut wrong);
                self.losses(followed, &name, side, (from, to), &mut real, &mut wrong);
            }
            for (side, real) in real.iter().enumerate() {
                // Datagrams are numbered over all destinations: the tap knows of no gap.
                let sees = first.service != "UD" && group.iter().any(|life| way(life, side).volume.packets > 0);
                self.real += real.len() as u64;
                for real in real.iter().filter(|real| sees && real.lost.visible) {
                    self.visible += 1;
                    self.found += u64::from(real.reported);
                    if !real.reported {
                        wrong.push(format!("{} {side}: not reported: {:?}", first.group, real.lost));
                    }
                }
            }
        }
        wrong
    }

    fn losses(
        &mut self,
        followed: &Followed,
        name: &str,
        side: usize,
        (from, to): (&EndTruth, &EndTruth),
        real: &mut [Vec<Real>; 2],
        wrong: &mut Vec<String>,
    ) {
        let start_ns = START_NS;
        let [first, second] = real;
        let (own, answers) = if side == 0 { (first, second) } else { (second, first) };
        let is_clean = own.is_empty() && answers.is_empty();
        let events = followed.losses.iter().filter(|event| {
            event.dst_qpn == Some(to.qpn) && event.src.is_some_and(|src| src == from.ip) && event.dst == Some(to.ip)
        });
        let mut reported_here = 0;
        for event in events {
            for reported in Reported::of(event) {
                reported_here += 1;
                self.reported += 1;
                if claim(&reported, start_ns, own, answers) {
                    self.right += 1;
                } else {
                    self.false_alarms += u64::from(is_clean);
                    let at = reported.at_ns - start_ns;
                    wrong.push(format!(
                        "{name}: PSN {} at {at} ns is no loss: {}",
                        reported.psn, event.detail
                    ));
                }
            }
        }
        let counted: u64 = rows(followed, from, to).map(ConnectionRow::fabric_lost_packets).sum();
        self.without_event += counted.abs_diff(reported_here);
        if counted != reported_here {
            wrong.push(format!("{name}: {counted} lost in the row, {reported_here} in events"));
        }
    }

    fn figures(
        &mut self,
        followed: &Followed,
        name: &str,
        truths: &[&Direction],
        (from, to): (&EndTruth, &EndTruth),
        wrong: &mut Vec<String>,
    ) {
        let seen = truths.iter().filter(|truth| truth.volume.packets > 0).count();
        let rows: Vec<&ConnectionRow> = rows(followed, from, to).filter(|row| row.packets > 0).collect();
        let longest = rows.iter().filter_map(|row| row.rtt_max_ns).max().unwrap_or(0);
        let wanted = truths.iter().map(|truth| truth.rtt.max_ns).max().unwrap_or(0);
        if seen > 0 || !rows.is_empty() {
            let is_equal = longest.abs_diff(wanted) <= wanted / LONGEST_SHARE;
            self.figures.entry("longest trip").or_default().add(is_equal);
            if !is_equal {
                wrong.push(format!("{name}: longest round trip {longest} ns, in truth {wanted}"));
            }
        }
        let truth = |figure: fn(&Direction) -> u64| truths.iter().map(|truth| figure(truth)).sum::<u64>();
        let found = |figure: fn(&ConnectionRow) -> u64| rows.iter().map(|row| figure(row)).sum::<u64>();
        // A packet that was lost upstream of the tap and left no gap looks new when it comes again.
        let hidden = truths
            .iter()
            .flat_map(|truth| &truth.lost)
            .filter(|lost| is_hidden(lost))
            .count() as u64;
        for (what, found, wanted, hidden) in [
            ("rows", rows.len() as u64, seen as u64, 0),
            (
                "packets",
                found(|row| row.packets),
                truth(|truth| truth.volume.packets),
                0,
            ),
            (
                "payload",
                found(|row| row.payload_bytes) + (found(|row| row.unique_payload_bytes) << 32),
                truth(|truth| truth.volume.payload_bytes) + (truth(|truth| truth.unique_payload_bytes) << 32),
                0,
            ),
            (
                "messages",
                found(|row| row.messages) + (found(|row| row.unique_messages) << 32),
                truth(|truth| truth.messages) + (truth(|truth| truth.unique_messages) << 32),
                0,
            ),
            (
                "retransmitted",
                found(|row| row.retransmitted_packets),
                truth(|truth| truth.retransmitted_packets),
                hidden,
            ),
            (
                "out of order",
                found(|row| row.out_of_order_packets),
                truth(|truth| truth.out_of_order_packets),
                0,
            ),
            (
                "duplicates",
                found(|row| row.duplicate_packets),
                truth(|truth| truth.duplicate_packets),
                0,
            ),
            (
                "round trips",
                found(|row| row.rtt_samples),
                truth(|truth| truth.rtt.samples),
                0,
            ),
        ] {
            if seen == 0 && rows.is_empty() {
                continue;
            }
            let is_equal = found <= wanted && found + hidden >= wanted;
            self.figures.entry(what).or_default().add(is_equal);
            if !is_equal {
                wrong.push(format!("{name}: {what} {found}, in truth {wanted}"));
            }
        }
    }
}

/// The longest round trip is right within this share of it: 1 %.
const LONGEST_SHARE: u64 = 100;

/// The start of every class, in nanoseconds since 1970.
const START_NS: u64 = 1_767_225_600_000_000_000;

const fn is_hidden(lost: &LostPacket) -> bool {
    matches!(lost.place, LossPoint::Upstream) && !lost.followed && !matches!(lost.of, PacketKind::Acknowledge)
}

const fn way(connection: &ConnectionTruth, side: usize) -> &Direction {
    if side == 0 {
        &connection.a_to_b
    } else {
        &connection.b_to_a
    }
}

/// Connections between the same queue pairs: the lives of one.
fn lives(connections: &[ConnectionTruth]) -> Vec<Vec<&ConnectionTruth>> {
    let mut lives: BTreeMap<_, Vec<&ConnectionTruth>> = BTreeMap::new();
    for one in connections {
        let key = (one.a.ip, one.a.qpn, one.b.ip, one.b.qpn);
        lives.entry(key).or_default().push(one);
    }
    lives.into_values().collect()
}

/// The rows of a direction.
fn rows<'a>(followed: &'a Followed, from: &EndTruth, to: &EndTruth) -> impl Iterator<Item = &'a ConnectionRow> {
    let (src, dst, qpn) = (from.ip, to.ip, to.qpn);
    let rows = followed.connections.iter().flat_map(|c| [&c.a_to_b, &c.b_to_a]);
    rows.flatten()
        .filter(move |row| row.dst_qpn == Some(qpn) && row.src == src && row.dst == dst)
}
