//! What happened to a connection, as rows of `events`.

use super::episode::{Episode, Trigger};
use super::event::{Event, Evidence, What, Where};
use crate::fields::{address, vlan};
use alloc::format;
use alloc::string::String;
use rocescope_model::{EventRow, Text, Time};
use rocescope_wire::Psn;
use rocescope_wire::extension::{Syndrome, rnr_timer_us};

pub(super) fn event_row(observer: &Text, event: &Event) -> EventRow {
    let flow = &event.key.flow;
    let time = Time(event.time_ns.min(i64::MAX as u64) as i64);
    let row = EventRow {
        observer: observer.clone(),
        time,
        time_ns: time.0,
        src: Some(address(flow.src)),
        dst: Some(address(flow.dst)),
        udp_src_port: Some(event.udp_src_port).filter(|port| *port != 0),
        dst_qpn: Some(flow.dst_qpn),
        vlan: vlan(flow.vlan),
        count: 1,
        ..EventRow::default()
    };
    let place = |place: u64| Some(Psn::new(place as u32).get());
    let named = |kind: &'static str, detail: String| EventRow {
        kind: Text::from_static(kind),
        detail: detail.into(),
        ..row.clone()
    };
    match &event.what {
        What::Retransmission(episode) => EventRow {
            psn: place(episode.first),
            count: episode.packets,
            value: episode.reaction_ns.map(|ns| ns as f64),
            ..named("retransmission", retransmission(episode))
        },
        What::Rnr(rnr) => EventRow {
            psn: place(rnr.place),
            count: u64::from(rnr.naks),
            value: Some(f64::from(rnr_timer_us(rnr.timer)) * 1_000.0),
            ..named(
                "rnr_episode",
                format!(
                    "receiver not ready {} times, asks to wait {} µs",
                    rnr.naks,
                    rnr_timer_us(rnr.timer)
                ),
            )
        },
        What::Fatal { psn, syndrome } => {
            let name = Syndrome(*syndrome).name();
            EventRow {
                psn: Some(psn.get()),
                syndrome: Some(Text::from_static(name)),
                ..named(
                    "fatal_nak",
                    format!("the responder refuses PSN {}: {name}", psn.get()),
                )
            }
        }
        What::RetryExhausted { psn, tries, rnr } => EventRow {
            psn: Some(psn.get()),
            count: u64::from(*tries),
            ..named(
                "retry_exhausted",
                format!(
                    "the sender gave up PSN {} after {tries} {}",
                    psn.get(),
                    if *rnr { "RNR NAKs" } else { "timeouts" }
                ),
            )
        },
        What::Loss {
            psn,
            packets,
            place,
            evidence,
        } => EventRow {
            psn: Some(psn.get()),
            count: *packets,
            ..named("loss", loss(*place, *evidence).into())
        },
        What::Connect { reply_ns, ready_ns } => EventRow {
            value: reply_ns.map(|ns| ns as f64),
            ..named(
                "connect",
                format!(
                    "set up by CM: REP after {} µs, RTU after {} µs more",
                    reply_ns.unwrap_or(0) / 1_000,
                    ready_ns.unwrap_or(0) / 1_000
                ),
            )
        },
        What::Disconnect => named("disconnect", "taken down by CM".into()),
        What::Reject(reason) => named("reject", format!("refused by CM: {}", reason.name())),
    }
}

fn retransmission(episode: &Episode) -> String {
    let packets = episode.packets;
    match (episode.trigger, episode.reaction_ns) {
        (Trigger::Timeout, _) => format!("{packets} packets sent again after a timeout"),
        (trigger, Some(ns)) => format!(
            "{packets} packets sent again {} µs after a {}",
            ns / 1_000,
            trigger.name()
        ),
        (trigger, None) => format!("{packets} packets sent again after a {}", trigger.name()),
    }
}

const fn loss(place: Where, evidence: Evidence) -> &'static str {
    match (place, evidence) {
        (Where::BeforeTap, Evidence::LeftOut) => {
            "lost before the tap: left out where all around it was sent again"
        }
        (Where::BeforeTap, _) => "lost before the tap: it left a gap and was sent again later",
        (Where::AfterTap, Evidence::Response) => {
            "response lost behind the tap: the requester asked for it again"
        }
        (Where::AfterTap, Evidence::Timeout) => {
            "lost behind the tap, or its answer was: sent again unacknowledged after a long wait"
        }
        (Where::AfterTap, _) => "lost behind the tap: the receiver asked for it",
    }
}
