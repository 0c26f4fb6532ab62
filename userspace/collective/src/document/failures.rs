//! Transfers that NCCL reports as failed, with what captures saw of them.

use crate::failed::{Failed, Seen, Unseen};
use crate::read::nccl_failures::{FLUSHED, Failure};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::Time;
use rocescope_model::human::plural;
use serde::Serialize;

/// Directions that a sentence names.
const NAMED: usize = 3;
/// `ibv_wc_status` of a queue pair whose packets were not acknowledged in all retries.
const RETRIES_EXCEEDED: u32 = 12;
/// The receiver posted no buffer in all retries.
const RECEIVER_NOT_READY: u32 = 13;

/// A transfer that failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailureDocument {
    /// `ibv_wc_status`, such as 12.
    pub status: u32,
    /// What it means.
    pub meaning: &'static str,
    /// What the vendor of the NIC adds; null if the log does not state it.
    pub vendor_error: Option<u32>,
    /// The host that reports it; null if the log does not state it.
    pub host: Option<String>,
    /// Its process.
    pub process: Option<String>,
    /// Its NIC.
    pub device: Option<String>,
    /// Address of that NIC; null if the log does not state it.
    pub local: Option<IpAddr>,
    /// Address of the other end.
    pub remote: Option<IpAddr>,
    /// Time of the first line; null if the log has no times.
    pub first: Option<Time>,
    /// Time of the last line.
    pub last: Option<Time>,
    /// Lines of it.
    pub lines: u64,
    /// What captures saw between the ends.
    pub seen: Vec<SeenDocument>,
    /// Why what the network did is unknown; null if captures show it.
    pub unknown: Option<String>,
    /// All of it in sentences.
    pub text: String,
}

/// A direction of a connection, or a flow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeenDocument {
    /// The capture box.
    pub observer: String,
    /// Source.
    pub src: IpAddr,
    /// Destination.
    pub dst: IpAddr,
    /// Destination queue pair number; null if unknown.
    pub dst_qpn: Option<u32>,
    /// First packet.
    pub first: Time,
    /// Last packet.
    pub last: Time,
    /// Packets.
    pub packets: u64,
    /// Retransmitted packets; null if unknown.
    pub retransmitted_packets: Option<u64>,
    /// How often its sender repeated packets by its timer; null without tracked connections, as the following.
    pub timeouts: Option<u64>,
    /// Packets since the last answer.
    pub unresolved_packets: Option<u64>,
    /// Fabric loss upstream of the tap.
    pub fabric_lost_upstream_packets: Option<u64>,
    /// Fabric loss downstream of the tap, and packets repeated after a timeout.
    pub fabric_lost_downstream_packets: Option<u64>,
    /// Whether packets of the other direction were seen.
    pub other_direction_seen: Option<bool>,
}

impl FailureDocument {
    pub(crate) fn of(failed: &Failed) -> Self {
        let failure = &failed.failure;
        let unknown = unknown(failed);
        let mut text = format!("{}.", head(failure));
        for seen in failed.seen.iter().filter(|seen| seen.is_troubled()).take(NAMED) {
            text += &format!(" {}.", sentence(seen));
        }
        if let Some(unknown) = &unknown {
            text += &format!(" Unknown what the network did: {unknown}.");
        }
        if failure.status == RETRIES_EXCEEDED {
            text += " Check the GID index, routes and access lists in both directions, and the MTU.";
        }
        Self {
            status: failure.status,
            meaning: meaning(failure.status),
            vendor_error: failure.vendor_error,
            host: failure.process.as_ref().map(|(host, _)| host.clone()),
            process: failure.process.as_ref().map(|(_, process)| process.clone()),
            device: failure.device.clone(),
            local: failure.ends.map(|(local, _)| local),
            remote: failure.ends.map(|(_, remote)| remote),
            first: failure.time_ns.map(|(first, _)| Time(first)),
            last: failure.time_ns.map(|(_, last)| Time(last)),
            lines: failure.lines,
            seen: failed.seen.iter().map(SeenDocument::of).collect(),
            unknown,
            text,
        }
    }
}

impl SeenDocument {
    fn of(seen: &Seen) -> Self {
        let tracked = seen.tracked;
        Self {
            observer: seen.observer.to_string(),
            src: seen.src,
            dst: seen.dst,
            dst_qpn: seen.dst_qpn,
            first: Time(seen.time_ns.0),
            last: Time(seen.time_ns.1),
            packets: seen.packets,
            retransmitted_packets: seen.retransmitted,
            timeouts: tracked.map(|tracked| tracked.timeouts),
            unresolved_packets: tracked.map(|tracked| tracked.unresolved),
            fabric_lost_upstream_packets: tracked.map(|tracked| tracked.lost_upstream),
            fabric_lost_downstream_packets: tracked.map(|tracked| tracked.lost_downstream),
            other_direction_seen: tracked.map(|tracked| tracked.is_answered),
        }
    }
}

/// Of `ibv_wc_status`.
const fn meaning(status: u32) -> &'static str {
    match status {
        1 => "a local error of length",
        2 => "a local error of the queue pair",
        4 => "a local error of memory protection",
        FLUSHED => "flushed: the queue pair had failed before",
        7 => "an answer that was not expected",
        8 => "a local error of access",
        9 => "the other end found the request invalid",
        10 => "the other end refused the access to its memory",
        11 => "the other end could not carry it out",
        RETRIES_EXCEEDED => "packets were not acknowledged in all retries",
        RECEIVER_NOT_READY => "the other end had no receive buffer in all retries",
        _ => "another error of the queue pair",
    }
}

fn head(failure: &Failure) -> String {
    let mut text = format!("Error {}, {}", failure.status, meaning(failure.status));
    if let Some((local, remote)) = failure.ends {
        text += &format!(": {local} to {remote}");
    }
    if let Some((host, process)) = &failure.process {
        text += &format!(", reported by {host}, process {process}");
    }
    if let Some(device) = &failure.device {
        text += &format!(", NIC {device}");
    }
    if let Some((first, last)) = failure.time_ns {
        text += &format!(", at {:.0}", Time(first));
        if last > first {
            text += &format!(" to {:.0}", Time(last));
        }
    }
    if failure.lines > 1 {
        text += &format!(" ({} lines)", failure.lines);
    }
    text
}

fn sentence(seen: &Seen) -> String {
    let qpn = seen.dst_qpn.map_or_else(String::new, |qpn| format!(", QP {qpn}"));
    let mut parts = Vec::new();
    if let Some(retransmitted) = seen.retransmitted {
        parts.push(format!("{retransmitted} of them retransmitted"));
    }
    if let Some(tracked) = seen.tracked {
        let mut part = |number: u64, text: &str| {
            if number > 0 {
                parts.push(format!("{number} {text}"));
            }
        };
        part(tracked.timeouts, "timeouts");
        part(tracked.unresolved, "sent since the last answer");
        part(tracked.lost_upstream, "lost upstream of the tap");
        part(
            tracked.lost_downstream,
            "lost downstream of the tap, or their acknowledgements",
        );
        part(tracked.refusals, "NAKs of a receiver that was not ready, or fatal");
        if !tracked.is_answered {
            parts.push("nothing of the other direction was seen".to_string());
        }
    }
    format!(
        "{} > {}{qpn}: {} at {}, {}",
        seen.src,
        seen.dst,
        plural(seen.packets, "packet"),
        seen.observer,
        parts.join(", ")
    )
}

/// Why what the network did is unknown.
fn unknown(failed: &Failed) -> Option<String> {
    match failed.unseen {
        Some(Unseen::NoAddresses) => Some("the line has no GIDs, so no addresses".to_string()),
        Some(Unseen::NoCapture) => Some("the dataset has no captured connections or flows".to_string()),
        Some(Unseen::OtherAddresses) => {
            Some("no capture of the dataset saw packets between these addresses".to_string())
        }
        Some(Unseen::OtherTime(first, last)) => Some(format!(
            "packets between these addresses were captured from {:.0} to {:.0} only; NCCL writes local times \
             (--nccl-utc-offset)",
            Time(first),
            Time(last)
        )),
        None if failed.seen.iter().any(Seen::is_troubled) => None,
        None => {
            let (local, _) = failed.failure.ends?;
            let is_tracked = failed.seen.iter().any(|seen| seen.tracked.is_some());
            Some(match (failed.seen.iter().any(|seen| seen.src == local), is_tracked) {
                (false, _) => "the tap saw nothing of the reporting end, only of the other end".to_string(),
                (true, false) => "connections were not tracked".to_string(),
                (true, true) => {
                    let number = plural(failed.seen.len() as u64, "direction");
                    format!(
                        "{number} of connections passed the tap then without repeats, all answered: the failed packets did \
                         not reach it"
                    )
                }
            })
        }
    }
}
