//! A NIC pauses the network and is not paused itself.

use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::view::View;
use crate::hosts::watched::Watched;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Share of the time that the network is paused: hosts drain their buffers in microseconds.
const PAUSED: f64 = 0.01;
/// Pause frames a second, where the driver does not count the time. A frame of one quantum pauses 100 Gbit/s for at
/// most 0.34 ms.
const FRAMES: f64 = 100.0;
/// A port that is paused itself for more than this share of what it pauses passes a storm on.
const PASSED_ON: f64 = 0.1;

/// How much a port pauses, or is paused.
struct Pause {
    /// Share of the time, if the driver counts it.
    share: Option<f64>,
    frames: Option<u64>,
}

impl Pause {
    /// Whether the driver counts the frames or the time.
    fn is_counted(&self) -> bool {
        self.share.is_some() || self.frames.is_some()
    }

    fn is_heavy(&self, view: &View<'_>) -> bool {
        match self.share {
            Some(share) => share >= PAUSED,
            None => self.frames.is_some_and(|frames| frames >= view.at_rate(FRAMES)),
        }
    }
}

const SENT: [Watched; 2] = [Watched::XmitPauseFrames, Watched::XmitGlobalPause];
const RECEIVED: [Watched; 2] = [Watched::RcvPauseFrames, Watched::RcvGlobalPause];

fn pause(view: &View<'_>, port: u32, time: Watched, frames: &[Watched]) -> Pause {
    // What was counted before a reset counts.
    let grown = |watched: &[Watched]| Some(view.grown(port, watched)).filter(|count| *count > 0);
    let time = view.now(port, time).or_else(|| grown(&[time]));
    Pause {
        share: time.map(|microseconds| microseconds as f64 / 1e6 / view.seconds()),
        frames: view.any_now(port, frames).or_else(|| grown(frames)),
    }
}

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    let mut victims: Vec<(u32, Pause)> = Vec::new();
    let mut sources: Vec<(u32, Pause, Pause)> = Vec::new();
    for port in view.ports.numbers() {
        let sent = pause(view, port, Watched::XmitPauseTime, &SENT);
        let received = pause(view, port, Watched::RcvPauseTime, &RECEIVED);
        let is_stormy = view
            .any_now(port, &[Watched::StormWarning, Watched::StormError])
            .unwrap_or(0)
            > 0;
        if is_stormy || sent.is_heavy(view) && !passes_on(&sent, &received) {
            sources.push((port, sent, received));
        } else if received.is_heavy(view) {
            victims.push((port, received));
        }
    }
    for (port, sent, received) in sources {
        found.push(source(view, port, &sent, &received, &victims));
    }
}

fn passes_on(sent: &Pause, received: &Pause) -> bool {
    match (sent.share, received.share) {
        (Some(sent), Some(received)) => received > sent * PASSED_ON,
        _ => received.frames.unwrap_or(0) as f64 > sent.frames.unwrap_or(0) as f64 * PASSED_ON,
    }
}

fn source(view: &View<'_>, port: u32, sent: &Pause, received: &Pause, victims: &[(u32, Pause)]) -> Finding {
    let of = view.ports.text(port);
    let is_told = view
        .any_now(port, &[Watched::StormWarning, Watched::StormError])
        .unwrap_or(0)
        > 0;
    // A port that is paused itself may pass a storm on.
    let is_known = received.is_counted();
    let confidence = match (is_told, is_known) {
        (true, _) => Confidence::Certain,
        (false, true) if received.frames.is_some() && !victims.is_empty() => Confidence::Certain,
        (false, true) => Confidence::Likely,
        (false, false) => Confidence::Possible,
    };
    let names: Vec<String> = victims.iter().take(4).map(|(port, _)| view.ports.text(*port)).collect();
    let who = match names.len() {
        0 => String::new(),
        _ => format!("; paused by it: {}", names.join(", ")),
    };
    let share = sent
        .share
        .map_or_else(String::new, |share| format!(" {:.1} % of the time", share * 100.0));
    let mut finding = Finding::new(Class::PauseStorm, Place::Port(port), confidence)
        .because(match (is_told, names.is_empty()) {
            (true, _) => "the NIC itself warns of the storm",
            _ if !is_known => "it pauses the network; whether it is paused itself, and passes a storm on, is unknown",
            (false, false) => "it pauses the network, is not paused itself, and others are paused at the same time",
            (false, true) => "it pauses the network and is not paused itself; no other port with counters is paused",
        })
        .means(
            match is_known {
                true => format!(
                    "the NIC pauses the network{share} and is not paused itself: its host does not take the packets{who}"
                ),
                false => format!("the NIC pauses the network{share}: its host may not take the packets{who}"),
            },
            "look at this host: its PCIe link, IOMMU, memory bandwidth, a hung NIC; until then set a PFC watchdog on the \
             port of the switch",
        );
    for watched in SENT.into_iter().chain(RECEIVED) {
        finding.counted(&of, watched, view.now(port, watched));
    }
    finding.counted(&of, Watched::XmitPauseTime, view.now(port, Watched::XmitPauseTime));
    for watched in [
        Watched::StormWarning,
        Watched::StormError,
        Watched::PcieStalledRead,
        Watched::PcieStalledWrite,
        Watched::PcieOverflow,
    ] {
        finding.counted(&of, watched, view.now(port, watched).filter(|count| *count > 0));
    }
    for (victim, pause) in victims.iter().take(4) {
        let of = view.ports.text(*victim);
        if let Some(frames) = pause.frames {
            finding.sum(&of, Watched::RcvPauseFrames.name(), frames as f64, "frames");
        }
    }
    if !is_known {
        finding.unknown("whether the port is paused itself: its driver does not count it");
    }
    finding
}
