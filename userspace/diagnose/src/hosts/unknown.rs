//! What is unknown, and why.

use super::analyzer::Counts;
use super::finding::Class;
use super::ports::{Host, Ports};
use super::view::View;
use super::watched::Watched;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::Time;
use rocescope_model::time::SECOND_NS;
use serde::Serialize;

/// Something that was not judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// What: a class, or an end of connections.
    pub what: String,
    /// Where: ports, or addresses.
    pub places: Vec<String>,
    /// Why, and what would tell.
    pub reason: String,
}

/// Places that one entry names; the others are a number.
const NAMED: usize = 8;

/// What a class needs of a port: one metric of each list.
const NEEDED: &[(Class, &[&[Watched]])] = &[
    (Class::ReceiverDied, &[&[Watched::AckTimeout, Watched::RetriesExceeded]]),
    (Class::Congestion, &[&[Watched::CnpHandled]]),
    (
        Class::SlowReceiver,
        &[&[Watched::RnrReceived, Watched::OutOfBuffer, Watched::RnrSent]],
    ),
    (
        Class::SickCable,
        &[&[
            Watched::SymbolError,
            Watched::CrcPhy,
            Watched::PcsSymbol,
            Watched::LinkDowned,
            Watched::LinkDownPhy,
        ]],
    ),
    (Class::LinkDown, &[&[Watched::State]]),
    (
        Class::PcieDegraded,
        &[
            &[Watched::PcieWidth],
            &[Watched::PcieMaxWidth],
            &[Watched::PcieSpeed],
            &[Watched::PcieMaxSpeed],
        ],
    ),
    (
        Class::PauseStorm,
        &[
            &[Watched::XmitPauseFrames, Watched::XmitGlobalPause],
            &[Watched::RcvPauseFrames, Watched::RcvGlobalPause],
        ],
    ),
    (Class::NoCnps, &[&[Watched::EcnMarked], &[Watched::CnpSent]]),
    (Class::CnpsIgnored, &[&[Watched::CnpHandled]]),
    (
        Class::MirrorRepeats,
        &[
            &[Watched::AckTimeout, Watched::CompleterRetry, Watched::Retransmitted],
            &[Watched::SequenceNak],
        ],
    ),
];

pub(crate) fn unknowns(ports: &Ports, strangers: &BTreeMap<IpAddr, u64>, counts: &Counts) -> Vec<Unknown> {
    let mut all = Vec::new();
    for (class, needed) in NEEDED {
        // By what is missing: several drivers may lack the same.
        let mut lacking: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for number in ports.numbers() {
            let missing = needed.iter().filter(|any| !has_any(ports, number, any));
            let missing: Vec<String> = missing
                .map(|any| any.iter().map(|one| one.name()).collect::<Vec<_>>().join(" or "))
                .collect();
            if !missing.is_empty() {
                let driver = &ports.get(number).driver;
                let driver = if driver.is_empty() { "unknown driver" } else { driver };
                let place = format!("{} ({driver})", ports.text(number));
                lacking.entry(missing.join("; ")).or_default().push(place);
            }
        }
        for (missing, places) in lacking {
            all.push(Unknown {
                what: class.name().to_string(),
                places: named(places),
                reason: format!("without {missing} the counters of these ports say nothing about it"),
            });
        }
    }
    all.extend(stopped(ports));
    if counts.captured_windows > 0 && !strangers.is_empty() {
        let mut by_packets: Vec<(&IpAddr, &u64)> = strangers.iter().collect();
        by_packets.sort_by_key(|(address, packets)| (core::cmp::Reverse(**packets), **address));
        all.push(Unknown {
            what: "the ends of their connections".to_string(),
            places: named(by_packets.iter().map(|(address, _)| address.to_string()).collect()),
            reason: "no row of counters has these addresses: run `rocescope counters --out` on their hosts, or name \
                     their hosts with --hosts"
                .to_string(),
        });
    }
    if counts.captured_windows == 0 && counts.windows > 0 {
        all.push(Unknown {
            what: "what passed the wire".to_string(),
            places: Vec::new(),
            reason: "the dataset has no rows of a capture: only what the hosts count is judged".to_string(),
        });
    }
    all
}

/// Counters that stay at their largest value, by metric.
fn stopped(ports: &Ports) -> impl Iterator<Item = Unknown> {
    let mut by_metric: BTreeMap<Watched, Vec<String>> = BTreeMap::new();
    for number in ports.numbers() {
        for watched in ports.get(number).stopped.iter() {
            by_metric.entry(watched).or_default().push(ports.text(number));
        }
    }
    by_metric.into_iter().map(|(watched, places)| Unknown {
        what: watched.name().to_string(),
        places: named(places),
        reason:
            "the counter is at its largest value and stops there: what happened since is unknown until it is reset \
                 (`perfquery -R`, or a reload of the driver)"
                .to_string(),
    })
}

/// Hosts that read their counters too seldom, or no longer do.
pub(crate) fn unread(view: &View<'_>) -> Vec<Unknown> {
    let mut all = Vec::new();
    let window_ns = view.settings.window_ns;
    let (read, silent): (Vec<_>, Vec<_>) = view
        .ports
        .read_hosts()
        .partition(|host| host.is_read(view.end_ns(), window_ns));
    if !silent.is_empty() {
        let since = |host: &&Host| format!("{} ({:.0})", host.name, Time(host.reads.last_ns));
        all.push(Unknown {
            what: "hosts since their last row".to_string(),
            places: named(silent.iter().map(since).collect()),
            reason:
                "they have no rows of counters up to the end of the analyzed time: what their ports did since then \
                     is unknown"
                    .to_string(),
        });
    }
    // An interval is never exact.
    let seldom = read.iter().filter(|host| host.reads.interval_ns > window_ns / 10 * 11);
    let seldom: Vec<&&Host> = seldom.collect();
    if let Some(longest_ns) = seldom.iter().map(|host| host.reads.interval_ns).max() {
        let seconds = |ns: i64| ns.div_euclid(SECOND_NS) + i64::from(ns % SECOND_NS > SECOND_NS / 2);
        all.push(Unknown {
            what: "how fast counters grew".to_string(),
            places: named(seldom.iter().map(|host| host.name.to_string()).collect()),
            reason: format!(
                "their counters are read every {0} s, and a window has {1} s: an increase of several windows counts in \
                 one; analyze with --window {0}s",
                seconds(longest_ns),
                seconds(window_ns)
            ),
        });
    }
    all
}

fn has_any(ports: &Ports, number: u32, any: &[Watched]) -> bool {
    let port = ports.get(number);
    let device = ports.own_device(number).map(|device| ports.get(device).known);
    let mut known = port.known;
    known.add(device.unwrap_or_default());
    any.iter()
        .any(|watched| known.has(*watched) || ports.value(number, *watched).is_some())
}

pub(crate) fn named(mut places: Vec<String>) -> Vec<String> {
    if places.len() > NAMED {
        let more = places.len() - NAMED;
        places.truncate(NAMED);
        places.push(format!("and {more} more"));
    }
    places
}
