//! The rows of `verdicts`.

use super::analyzer::Analyzer;
use super::by_key::ByKey;
use super::cells::{Cell, Cells};
use super::class::{Class, Evidence};
use super::diagnosis::Where;
use super::history::History;
use super::naming::name;
use super::paper::Votes;
use super::place::{Crossing, FaultLocation, Size, size};
use super::record::Record;
use super::suspects::{Suspect, Symptom};
use super::switch_links::{add_links, links_of_switch};
use super::uncertain::take_uncertain;
use super::unlocated::Unlocated;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::{Text, Time, VerdictRow};

/// The same of NICs that are slow.
const APART_OF_SLOW: &str = "; which of the two is unknown: every probe with a latency crosses both, and a third NIC of the host would separate them";
/// Which of two NICs that probe only each other, and what would separate them.
const APART: &str = "; which of the two is unknown: every probe of either crosses both, and probes of other hosts (`probe --peers`) separate them";

/// What a switch that knows no way states itself.
const REFUSED: &str = "; the last switch that gets them answers that their destination is unreachable: it has no route, or the link of its route is down";

/// Everything that the verdict on a suspect rests on.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    pub(super) analyzer: &'a Analyzer,
    pub(super) cells: &'a Cells,
    /// The positions of each cell's records.
    pub(super) of_cell: ByKey<u32>,
    pub(super) records: &'a [Record],
    pub(super) votes: &'a Votes,
    pub(super) start_ns: i64,
    /// Places where probes are late.
    pub(super) late: &'a [Suspect],
    /// Loss that no suspect explains.
    pub(super) unlocated: Option<&'a Unlocated>,
    pub(super) history: History,
}

/// The verdicts of a window.
#[derive(Debug)]
pub(super) struct Verdicts {
    pub(super) rows: Vec<VerdictRow>,
    /// The place of each.
    pub(super) places: Vec<Where>,
    /// Drops that are most likely of one of these places, over a path that has changed since its trace.
    pub(super) uncertain: u64,
    /// The history with the suspects added.
    pub(super) history: History,
}

impl Judge<'_> {
    /// Returns the verdicts on all suspects, and last on what none of them explains.
    pub(super) fn verdicts(mut self, suspects: [(Symptom, &Vec<Suspect>); 5]) -> Verdicts {
        let mut found = Vec::new();
        let [(_, loss), ..] = suspects;
        let lossy: Vec<FaultLocation> = loss.iter().map(|suspect| suspect.place).collect();
        for (symptom, suspects) in suspects {
            for suspect in suspects {
                let row = self.verdict(symptom, suspect, &lossy);
                // Hosts delay packets too, and for a moment: what is late must be so in another window.
                let is_of_hosts = matches!(symptom, Symptom::Latency | Symptom::Asymmetry | Symptom::Delay);
                if (!is_of_hosts || row.since_ns < self.start_ns) && !self.may_be_behind(symptom, suspect.place) {
                    found.push((row, Where(suspect.place)));
                }
            }
        }
        let Analyzer { names, tuples, .. } = self.analyzer;
        let uncertain = take_uncertain(&mut found, self.cells, tuples, names);
        if let Some(Unlocated { suspect, .. }) = self.unlocated {
            found.push((self.verdict(Symptom::Loss, suspect, &[]), Where(suspect.place)));
        }
        let (rows, places) = found.into_iter().unzip();
        Verdicts {
            rows,
            places,
            uncertain,
            history: self.history,
        }
    }

    /// Whether what is late is a route, a pair or a 5-tuple that was not traced yet, beside a link or a switch that is late: it
    /// probably crosses that.
    fn may_be_behind(&self, symptom: Symptom, place: FaultLocation) -> bool {
        let is_late = matches!(symptom, Symptom::Latency | Symptom::Asymmetry) && size(place) == Size::Fine;
        let is_coarse = |late: &Suspect| matches!(size(late.place), Size::Link | Size::Switch);
        if !is_late || !self.late.iter().any(is_coarse) {
            return false;
        }
        let Analyzer { tuples, names, .. } = self.analyzer;
        let late = self.cells.all.iter().filter(|cell| cell.late + cell.slower > 0);
        let mut own = late.filter(|cell| Crossing::of(cell, tuples).meets(place, names));
        own.all(|cell| cell.path.is_none())
    }

    /// `lossy` are all places that lose packets.
    fn verdict(&mut self, symptom: Symptom, suspect: &Suspect, lossy: &[FaultLocation]) -> VerdictRow {
        let window_ns = self.analyzer.settings.window_ns;
        let others: Vec<FaultLocation> = match symptom {
            Symptom::Loss => lossy.iter().copied().filter(|place| *place != suspect.place).collect(),
            _ => Vec::new(),
        };
        let found = self.gather(symptom, suspect.place, &others);
        // A class has its own queues: what the network does can be of one class, and the counts of earlier windows have none.
        let only_class = match symptom {
            Symptom::Loss | Symptom::Latency if suspect.earlier.is_none() => found.only_class(),
            _ => String::new(),
        };
        let first_ns = match suspect.earlier {
            Some(earlier) => earlier.from_ns,
            None => found.first_ns.unwrap_or(self.start_ns),
        };
        let span = (self.start_ns, self.start_ns + window_ns);
        let (since_ns, episodes) = self.history.note(symptom, suspect.place, span, first_ns, found.shape);
        let evidence = Evidence {
            place: suspect.place,
            symptom,
            probes: suspect.probes,
            anomalous: suspect.anomalous,
            corrupt: suspect.earlier.map_or(found.corrupt, |earlier| earlier.corrupt),
            shown: suspect.earlier.map_or(found.shown, |_| suspect.anomalous),
            unsent: found.unsent,
            shape: found.shape,
            is_split: found.is_split,
            episodes,
            late_too: self.is_late_too(suspect.place, &found),
            other_direction_works: self.other_direction_works(suspect.place),
            is_one_way: found.slower.share() >= self.analyzer.settings.late_share,
            is_only_way: !self.is_crossed_back(suspect.place) && !self.has_way_around(suspect.place),
            windows: suspect.earlier.map_or(1, |earlier| earlier.windows),
        };
        let class = Class::of(&evidence);
        let mut row = VerdictRow {
            observer: self.analyzer.observer(),
            window_start: Time(self.start_ns),
            window_start_ns: self.start_ns,
            window_ns,
            revision: Some(0),
            symptom: if evidence.is_unsent() { "unsent" } else { symptom.name() }.into(),
            class: class.name().into(),
            problem: class.problem(),
            since_ns,
            probes: suspect.probes,
            anomalous: suspect.anomalous,
            anomalous_ratio: super::quantiles::ratio(suspect.anomalous, suspect.probes).unwrap_or(0.0),
            score: suspect.score,
            worst_tuples: Some(found.tuples).filter(|tuples| !tuples.is_empty()).map(Text::from),
            action: class.action(suspect.place).into(),
            ..VerdictRow::default()
        };
        let twin = if found.stuck > 0 { None } else { self.twin(&evidence) };
        let is_refused = symptom == Symptom::Loss && found.refused * 2 > suspect.anomalous;
        let mut either = suspect.clone();
        either.also.extend(twin);
        name(&mut row, &either, &self.analyzer.names);
        let links = match symptom {
            Symptom::Loss => links_of_switch(suspect, self.cells, &self.analyzer.tuples, &self.analyzer.names),
            _ => Vec::new(),
        };
        let mut inseparable = add_links(&mut row, &links);
        if symptom == Symptom::Loss {
            inseparable += &self.add_other(&mut row, suspect.place);
        }
        self.votes(&mut row, suspect);
        row.sentence = Text::from(match (class, self.unlocated) {
            (Class::Silent, _) => silence(&row, suspect),
            (Class::Unlocated, Some(unlocated)) => unlocated.sentence() + &only_class,
            _ => {
                let apart = match (twin, symptom) {
                    (None, _) => "",
                    (Some(_), Symptom::Loss) => APART,
                    (Some(_), _) => APART_OF_SLOW,
                };
                let refused = if is_refused { REFUSED } else { "" };
                sentence(&row, &evidence, class) + &only_class + refused + apart + &inseparable
            }
        });
        row
    }

    /// The other NIC of two, if every probe of either is between them: what one of them does to packets looks as if the other
    /// did it, and a next hop that does not answer may be that of either. How long its host takes, a sender knows itself.
    fn twin(&self, evidence: &Evidence) -> Option<FaultLocation> {
        let (nic, as_twin): (u32, fn(u32) -> FaultLocation) = match evidence.place {
            FaultLocation::Nic(nic) => (nic, FaultLocation::Nic),
            FaultLocation::ToNic(nic) => (nic, FaultLocation::FromNic),
            FaultLocation::FromNic(nic) => (nic, FaultLocation::ToNic),
            _ => return None,
        };
        let is_of_the_way = matches!(evidence.symptom, Symptom::Loss | Symptom::Latency | Symptom::Asymmetry);
        if !is_of_the_way {
            return None;
        }
        let twin = self.only_partner(nic, evidence.symptom)?;
        (self.only_partner(twin, evidence.symptom) == Some(nic)).then(|| as_twin(twin))
    }

    /// The NIC that all probes from and to this one are with. Probes to other hosts have no latency: they separate NICs that lose, and
    /// not those that are slow.
    fn only_partner(&self, nic: u32, symptom: Symptom) -> Option<u32> {
        let tuples = &self.analyzer.tuples;
        let counts = |cell: &&Cell| symptom == Symptom::Loss || symptom.evidence(cell).path.probes > 0;
        let mut only = None;
        for cell in self.cells.all.iter().filter(counts) {
            let (src, dst) = tuples.pairs[tuples.all[cell.tuple as usize].pair as usize];
            let other = match nic {
                nic if nic == src => dst,
                nic if nic == dst => src,
                _ => continue,
            };
            if only.is_some_and(|known| known != other) {
                return None;
            }
            only = Some(other);
        }
        only
    }

    /// Fills in what the paper's rules conclude about the place.
    fn votes(&self, row: &mut VerdictRow, suspect: &Suspect) {
        let (max, heaviest) = (self.votes.max_votes(), self.votes.max_weight());
        let (vote, max) = match suspect.place {
            FaultLocation::Link(link) => (self.votes.links.get(link as usize), max),
            FaultLocation::Cable(one, other) => {
                let vote = |link: u32| self.votes.links.get(link as usize);
                let more = if vote(one).map(|v| v.count) >= vote(other).map(|v| v.count) {
                    one
                } else {
                    other
                };
                (vote(more), max)
            }
            FaultLocation::Switch(switch) => (self.votes.switches.get(switch as usize), self.votes.max_of_switches()),
            _ => (None, max),
        };
        let vote = vote.copied().unwrap_or_default();
        row.votes = vote.count;
        row.weighted_votes = vote.weight;
        let end_ns = self.start_ns + self.analyzer.settings.window_ns;
        row.paper = if self.analyzer.is_sticky(suspect.place, end_ns - 1) {
            "rnic".into()
        } else if vote.count > 0 && vote.count == max {
            "first".into()
        } else if vote.weight > 0.0 && vote.weight >= heaviest * (1.0 - 1e-9) {
            "weighted".into()
        } else {
            "silent".into()
        };
    }
}

fn sentence(row: &VerdictRow, evidence: &Evidence, class: Class) -> String {
    let symptom = match evidence.symptom {
        Symptom::Loss if evidence.is_unsent() => "could not be sent",
        Symptom::Loss if evidence.unsent > 0 => "did not arrive",
        Symptom::Loss if class == Class::Corruption => "were lost or corrupted",
        Symptom::Loss => "were lost",
        Symptom::Latency => "were late in the network",
        Symptom::Asymmetry => "took longer than probes in the other direction",
        Symptom::Delay => "were late in the host",
        Symptom::Silence => "did not come",
    };
    let direction = match row.direction.as_deref() {
        Some("to") => " to it",
        Some("from") => " from it",
        Some(_) => " to and from it",
        None => "",
    };
    let unsent = match evidence.unsent {
        0 => String::new(),
        _ if evidence.is_unsent() => String::new(),
        unsent => format!(" ({unsent} could not be sent)"),
    };
    let (anomalous, probes) = (row.anomalous, row.probes);
    let over = match evidence.windows {
        1 => String::new(),
        windows => format!(" in {windows} windows"),
    };
    let meaning = class.meaning(evidence.place);
    format!(
        "{}: {anomalous} of {probes} probes{direction}{over} {symptom}{unsent}: {meaning}",
        row.place
    )
}

fn silence(row: &VerdictRow, suspect: &Suspect) -> String {
    let hosts = match suspect.also.len() {
        0 => String::new(),
        hosts => format!("{hosts} hosts are silent, "),
    };
    let VerdictRow {
        place,
        anomalous,
        probes,
        since_ns,
        ..
    } = row;
    let meaning = Class::Silent.meaning(suspect.place);
    let since = Time(*since_ns);
    format!("{place}: {hosts}no probe since {since:.1}, {anomalous} of {probes} did not come: {meaning}")
}
