//! What the tap itself lost, and what it does not see: figures of the fabric rest on it.

use super::{Found, View, sampled};
use crate::incidents::incident::{Certainty, Incident, Source, ToldBy};
use crate::incidents::place::Place;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use rocescope_model::WindowRow;
use rocescope_model::human::plural;

/// Malformed frames, if they are at least one of this many, are named.
const MANY_MALFORMED: u64 = 100;
/// What the windows of each capture box say.
#[derive(Debug, Default)]
pub(super) struct Observers {
    all: BTreeMap<String, Observer>,
    /// Packets with a wrong ICRC; `None` if none was verified.
    pub(super) icrc_bad: Option<u64>,
}

#[derive(Debug, Default)]
struct Observer {
    frames: u64,
    malformed: u64,
    packets: u64,
    naks: u64,
    capture_lost: u64,
    mirror_lost: u64,
    /// Whether it followed connections.
    follows: bool,
    first_ns: Option<i64>,
    last_ns: i64,
}

impl Observers {
    pub(super) fn window(&mut self, row: &WindowRow) {
        if let Some(bad) = row.icrc_bad_packets {
            self.icrc_bad = Some(self.icrc_bad.unwrap_or(0) + bad);
        }
        if !self.all.contains_key(&*row.observer) {
            self.all.insert(row.observer.to_string(), Observer::default());
        }
        let Some(observer) = self.all.get_mut(&*row.observer) else {
            return;
        };
        let capture_lost = row.capture_lost_packets + row.capture_dropped_frames.unwrap_or(0);
        let mirror_lost = row.mirror_lost_packets.unwrap_or(0);
        observer.follows |= row.mirror_lost_packets.is_some();
        observer.frames += row.frames;
        observer.malformed += row.malformed_frames;
        observer.packets += row.roce_packets;
        observer.naks += row.nak_packets;
        observer.capture_lost += capture_lost;
        observer.mirror_lost += mirror_lost;
        if capture_lost + mirror_lost > 0 {
            observer.first_ns = observer.first_ns.or(Some(row.window_start_ns));
            observer.last_ns = row.window_start_ns.saturating_add(row.window_ns);
        }
    }

    /// RoCE packets of all of them.
    pub(super) fn packets(&self) -> u64 {
        self.all.values().map(|observer| observer.packets).sum()
    }

    /// What is not known of a capture without rows of connections.
    pub(super) fn without_connections(&self) -> String {
        let unknown = match self.all.values().any(|observer| observer.follows) {
            true => {
                "fabric loss is unknown: the capture was killed, or goes on, before its first rows of connections, which \
                 come a minute after its start"
            }
            false => "fabric loss is unknown: connections were not followed (`--no-connections`)",
        };
        match self.all.values().map(|observer| observer.naks).sum() {
            0 => unknown.to_string(),
            naks => format!(
                "{unknown}; {} prove that packets were lost or reordered",
                plural(naks, "NAK")
            ),
        }
    }

    /// Whether a tap of these names lost packets.
    pub(super) fn lost_any(&self, names: &BTreeSet<&str>) -> bool {
        let of = |name: &&str| self.all.get(*name);
        names
            .iter()
            .filter_map(of)
            .any(|tap| tap.capture_lost + tap.mirror_lost > 0)
    }
}

pub(super) fn find(view: &View<'_>, found: &mut Found) {
    for (name, observer) in &view.observers.all {
        let times = |incident: &mut Incident| {
            incident.since_ns = observer.first_ns.unwrap_or(0);
            incident.until_ns = observer.last_ns;
            incident.is_open = view.is_open(observer.last_ns);
            incident.certainty = Certainty::Certain;
        };
        if observer.capture_lost > 0 {
            let place = Place::named("capture", format!("capture box {name}"));
            let mut incident = Incident::new("capture_loss", place, ToldBy::Wire, Source::Capture);
            times(&mut incident);
            incident.meaning = format!(
                "it lost {} of {} that reached it: figures of this time are too low",
                plural(observer.capture_lost, "packet"),
                observer.packets + observer.capture_lost
            );
            incident.reason = "its own counters".to_string();
            incident.action = "`rocescope doctor -i` the mirror port: ring size, XDP mode, CPU".to_string();
            incident.rests_on(
                "windows",
                name.as_str(),
                "capture_lost_packets",
                observer.capture_lost as f64,
                "packets",
            );
            found.incidents.push(incident);
        }
        // What a sample lacks is no loss of the mirror.
        if observer.mirror_lost > 0 && sampled::one_of(view).is_none() {
            let place = Place::named("mirror", format!("mirror to {name}"));
            let mut incident = Incident::new("mirror_loss", place, ToldBy::Wire, Source::Capture);
            times(&mut incident);
            incident.meaning = format!(
                "{} that receivers acknowledged never reached the tap",
                plural(observer.mirror_lost, "packet")
            );
            incident.reason = "an endpoint acknowledged what the tap did not see".to_string();
            incident.action =
                "mirror fewer ports to this one, or a faster one; check the drops of the mirror session on \
                               the switch"
                    .to_string();
            incident.rests_on(
                "windows",
                name.as_str(),
                "mirror_lost_packets",
                observer.mirror_lost as f64,
                "packets",
            );
            found.incidents.push(incident);
        }
    }
    for (name, observer) in &view.observers.all {
        if observer.packets == 0 && observer.frames > 0 {
            found.notes.push(format!(
                "{name}: no RoCEv2 packet among {}: `rocescope capture -r FILE` shows what they are",
                plural(observer.frames, "frame")
            ));
        } else if observer.malformed * MANY_MALFORMED >= observer.frames && observer.malformed > 0 {
            found.notes.push(format!(
                "{name}: {} are malformed, as a mirror makes them that cuts frames: no figure has their packets",
                plural(observer.malformed, "frame")
            ));
        }
    }
    corruption(view, found);
}

/// Damaged packets that the tap saw.
fn corruption(view: &View<'_>, found: &mut Found) {
    let Some(bad) = view.observers.icrc_bad.filter(|bad| *bad > 0) else {
        return;
    };
    let lossy = view.all.iter().filter(|way| way.lost() > 0);
    let pairs: BTreeSet<_> = lossy.map(|way| (way.src, way.dst)).collect();
    let mut place = match pairs.first().filter(|_| pairs.len() == 1) {
        Some((src, dst)) => Place::pair(*src, *dst),
        None => Place::named("group", "the way upstream of the tap"),
    };
    place.pairs = pairs;
    let mut incident = Incident::new("corruption", place, ToldBy::Wire, Source::Capture);
    let times = view.all.iter().map(|way| (way.first_ns, way.last_ns));
    incident.since_ns = times.clone().map(|(first, _)| first).min().unwrap_or(0);
    incident.until_ns = times.map(|(_, last)| last).max().unwrap_or(0);
    incident.is_open = view.is_open(incident.until_ns);
    incident.certainty = Certainty::Certain;
    incident.reason = "the checksum over the packet does not match".to_string();
    incident.meaning = format!(
        "{} arrived damaged (wrong ICRC): receivers drop them",
        plural(bad, "packet")
    );
    incident.action = "check cables and transceivers between the senders and the mirrored port, and the memory of the \
                       switches there: CRC, FEC and symbol errors"
        .to_string();
    incident.rests_on("windows", "all", "icrc_bad_packets", bad as f64, "packets");
    found.incidents.push(incident);
}
