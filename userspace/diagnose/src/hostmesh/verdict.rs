//! The rows of `verdicts`.

use super::analyzer::Analyzer;
use super::cells::{Cells, Crossing, Place};
use super::class::{Class, Evidence};
use super::flows::Where;
use super::history::History;
use super::paper::Votes;
use super::record::{Fate, Record};
use super::shape::Shape;
use super::suspects::{Suspect, Symptom};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use rocescope_model::{Text, Time, VerdictRow};

/// Everything that a suspect is judged by.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    pub(super) analyzer: &'a Analyzer,
    pub(super) cells: &'a Cells,
    pub(super) records: &'a [Record],
    pub(super) votes: &'a Votes,
    pub(super) start_ns: i64,
    /// Places where probes are late.
    pub(super) late: &'a [Suspect],
    pub(super) history: History,
}

/// What the probes over a place tell beside their number.
#[derive(Debug, Default)]
struct Look {
    corrupt: u64,
    unsent: u64,
    first_ns: Option<i64>,
    shape: Shape,
    late: u64,
    timed: u64,
}

impl Bench<'_> {
    /// The rows of all suspects and their places; and the history with them in it.
    pub(super) fn verdicts(
        mut self,
        suspects: [(Symptom, &Vec<Suspect>); 3],
    ) -> (Vec<VerdictRow>, Vec<Where>, History) {
        let (mut rows, mut places) = (Vec::new(), Vec::new());
        for (symptom, suspects) in suspects {
            for suspect in suspects {
                rows.push(self.verdict(symptom, suspect));
                places.push(Where(suspect.place));
            }
        }
        (rows, places, self.history)
    }

    fn verdict(&mut self, symptom: Symptom, suspect: &Suspect) -> VerdictRow {
        let window_ns = self.analyzer.settings.window_ns;
        let look = self.look(symptom, suspect.place);
        let first_ns = look.first_ns.unwrap_or(self.start_ns);
        let span = (self.start_ns, self.start_ns + window_ns);
        let (since_ns, episodes) =
            self.history
                .note(symptom, suspect.place, span, first_ns, look.shape);
        let evidence = Evidence {
            place: suspect.place,
            symptom,
            probes: suspect.probes,
            anomalous: suspect.anomalous,
            corrupt: look.corrupt,
            unsent: look.unsent,
            shape: look.shape,
            episodes,
            late_too: self.is_late_too(suspect.place, &look),
            other_way_well: self.other_way_well(suspect.place),
        };
        let class = Class::of(&evidence);
        let mut row = VerdictRow {
            observer: self.analyzer.observer(),
            window_start: Time(self.start_ns),
            window_start_ns: self.start_ns,
            window_ns,
            symptom: match symptom {
                Symptom::Loss => "loss",
                Symptom::Latency => "latency",
                Symptom::Delay => "delay",
            }
            .into(),
            class: class.name().into(),
            problem: class.problem(),
            since_ns,
            probes: suspect.probes,
            anomalous: suspect.anomalous,
            anomalous_ratio: super::sla::ratio(suspect.anomalous, suspect.probes).unwrap_or(0.0),
            score: suspect.score,
            action: class.action().into(),
            ..VerdictRow::default()
        };
        self.name(&mut row, suspect);
        self.votes(&mut row, suspect);
        row.sentence = Text::from(sentence(&row, &evidence, class));
        row
    }

    fn look(&self, symptom: Symptom, place: Place) -> Look {
        let (names, tuples) = (&self.analyzer.names, &self.analyzer.tuples);
        let mut look = Look::default();
        let mut meets = vec![false; self.cells.all.len()];
        let sends = matches!(place, Place::Nic(_) | Place::FromNic(_));
        for (cell, meets) in self.cells.all.iter().zip(&mut meets) {
            *meets = Crossing::of(cell, tuples).meets(place, names);
            if *meets {
                look.corrupt += u64::from(cell.corrupt);
                look.unsent += u64::from(cell.unsent);
                look.late += u64::from(cell.late);
                look.timed += u64::from(cell.timed);
            }
        }
        let mut probes: Vec<(i64, bool)> = Vec::new();
        for (cell, record) in self.cells.with_records(self.records) {
            let fate = record.fate();
            if !meets[cell] || (fate == Fate::Unsent && !sends) {
                continue;
            }
            let offset_ns = record.offset_ns();
            let lost = fate != Fate::Received;
            probes.push((offset_ns, lost));
            let suffers = lost && symptom == Symptom::Loss;
            let at_ns = self.start_ns + offset_ns;
            if suffers && look.first_ns.is_none_or(|first| at_ns < first) {
                look.first_ns = Some(at_ns);
            }
        }
        if symptom == Symptom::Loss {
            look.shape = Shape::of(&probes, self.analyzer.settings.window_ns);
        }
        look
    }

    /// Whether what gets over the place is late, or the place is suspected for that.
    fn is_late_too(&self, place: Place, look: &Look) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let share = look.late as f64 / look.timed.max(1) as f64;
        share >= self.analyzer.settings.late_share
            || self.late.iter().any(|late| late.place == place)
    }

    /// Of one direction of a NIC: whether the other loses no more than a NIC may.
    fn other_way_well(&self, place: Place) -> bool {
        let other = match place {
            Place::ToNic(nic) => Place::FromNic(nic),
            Place::FromNic(nic) => Place::ToNic(nic),
            _ => return false,
        };
        let Analyzer {
            names,
            tuples,
            settings,
            ..
        } = self.analyzer;
        let (mut sent, mut bad) = (0, 0);
        for cell in &self.cells.all {
            if Crossing::of(cell, tuples).meets(other, names) {
                sent += u64::from(cell.sent);
                bad += u64::from(cell.drops);
                if matches!(other, Place::FromNic(_)) {
                    sent += u64::from(cell.unsent);
                    bad += u64::from(cell.unsent);
                }
            }
        }
        sent > 0 && bad * 100 <= sent * settings.nic_percent
    }

    fn name(&self, row: &mut VerdictRow, suspect: &Suspect) {
        let names = &self.analyzer.names;
        let nic = |nic: u32| Some(Text::from(names.nic_name(nic)));
        let address = |nic: u32| names.nics.get(nic as usize).map(|nic| nic.address);
        let switch = |switch: u32| Some(Text::from(names.switch_name(switch)));
        let (kind, place) = match suspect.place {
            Place::Nic(at) | Place::ToNic(at) | Place::FromNic(at) => {
                row.nic = nic(at);
                row.dst = address(at);
                row.direction = Some(match suspect.place {
                    Place::ToNic(_) => "to".into(),
                    Place::FromNic(_) => "from".into(),
                    _ => "both".into(),
                });
                ("nic", names.nic_name(at))
            }
            Place::Link(link) => {
                let also = suspect.also.iter().filter_map(|place| match place {
                    Place::Link(link) => Some(*link),
                    _ => None,
                });
                let all: Vec<String> = [link]
                    .into_iter()
                    .chain(also)
                    .map(|link| names.link_name(link))
                    .collect();
                row.link = Some(all.join(" ").into());
                ("link", all.join(" or "))
            }
            Place::Cable(one, other) => {
                let mut both = [one, other].map(|link| names.link_name(link));
                both.sort();
                let [there, back] = both;
                row.link = Some(format!("{there} {back}").into());
                ("link", format!("{there} and back"))
            }
            Place::Switch(at) => {
                row.switch = switch(at);
                ("switch", names.switch_name(at))
            }
            Place::Route {
                switch: at,
                nic: to,
            } => {
                row.switch = switch(at);
                row.nic = nic(to);
                row.dst = address(to);
                (
                    "route",
                    format!("{} at {}", names.nic_name(to), names.switch_name(at)),
                )
            }
            Place::Pair { src, dst } => {
                row.nic = nic(dst);
                (row.src, row.dst) = (address(src), address(dst));
                (
                    "pair",
                    format!("{} to {}", names.nic_name(src), names.nic_name(dst)),
                )
            }
            Place::PairAt {
                switch: at,
                src,
                dst,
            } => {
                row.switch = switch(at);
                row.nic = nic(dst);
                (row.src, row.dst) = (address(src), address(dst));
                let (from, to) = (names.nic_name(src), names.nic_name(dst));
                (
                    "pair",
                    format!("{from} to {to} at {}", names.switch_name(at)),
                )
            }
            Place::Tuple {
                src,
                dst,
                udp_src_port,
                ..
            } => {
                row.nic = nic(dst);
                (row.src, row.dst) = (address(src), address(dst));
                row.udp_src_port = Some(udp_src_port);
                let (from, to) = (names.nic_name(src), names.nic_name(dst));
                (
                    "tuple",
                    format!("{from} to {to}, source port {udp_src_port}"),
                )
            }
            Place::Host(host) => {
                let name = names.hosts.get(host as usize).cloned().unwrap_or_default();
                row.host = Some(name.clone());
                ("host", String::from(name.as_str()))
            }
        };
        row.place_kind = kind.into();
        row.place = place.into();
    }

    /// What the paper's rules say of the place.
    fn votes(&self, row: &mut VerdictRow, suspect: &Suspect) {
        let (most, heaviest) = (self.votes.most(), self.votes.most_weight());
        let (vote, most) = match suspect.place {
            Place::Link(link) => (self.votes.links.get(link as usize), most),
            Place::Cable(one, other) => {
                let vote = |link: u32| self.votes.links.get(link as usize);
                let more = if vote(one).map(|v| v.count) >= vote(other).map(|v| v.count) {
                    one
                } else {
                    other
                };
                (vote(more), most)
            }
            Place::Switch(switch) => (
                self.votes.switches.get(switch as usize),
                self.votes.most_of_switches(),
            ),
            _ => (None, most),
        };
        let vote = vote.copied().unwrap_or_default();
        row.votes = vote.count;
        row.weighted_votes = vote.weight;
        let end_ns = self.start_ns + self.analyzer.settings.window_ns;
        row.paper = if self.analyzer.is_sticky(suspect.place, end_ns - 1) {
            "rnic".into()
        } else if vote.count > 0 && vote.count == most {
            "first".into()
        } else if vote.weight > 0.0 && vote.weight >= heaviest * (1.0 - 1e-9) {
            "weighted".into()
        } else {
            "silent".into()
        };
    }
}

fn sentence(row: &VerdictRow, evidence: &Evidence, class: Class) -> String {
    let suffer = match evidence.symptom {
        Symptom::Loss if class == Class::Corruption => "probes lost or changed",
        Symptom::Loss => "probes lost",
        Symptom::Latency => "probes late in the network",
        Symptom::Delay => "probes late in the host",
    };
    let way = match row.direction.as_deref() {
        Some("to") => " to it",
        Some("from") => " from it",
        Some(_) => " to and from it",
        None => "",
    };
    let unsent = match evidence.unsent {
        0 => String::new(),
        unsent => format!(" ({unsent} could not be sent)"),
    };
    let (anomalous, probes) = (row.anomalous, row.probes);
    let meaning = class.meaning(evidence.place);
    format!(
        "{}: {anomalous} of {probes} {suffer}{way}{unsent}: {meaning}",
        row.place
    )
}
