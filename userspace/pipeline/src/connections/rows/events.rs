//! Turns events of a connection into rows of `events`.

use crate::connections::requests::recovery::{Episode, Trigger};
use crate::connections::rows::event::{Event, EventDetail, LossEvidence, LossLocation};
use crate::rows;
use alloc::format;
use alloc::string::String;
use rocescope_model::human::plural;
use rocescope_model::{EventRow, Text};
use rocescope_wire::Psn;
use rocescope_wire::extension::{Syndrome, rnr_timer_us};

pub(crate) fn event_row(observer: &Text, event: &Event) -> EventRow {
    let row = EventRow {
        udp_src_port: Some(event.udp_src_port).filter(|port| *port != 0),
        ..rows::event_row(observer, &event.key.flow, event.time_ns)
    };
    let wire_psn = |extended: u64| Some(Psn::new(extended as u32).get());
    let named = |kind: &'static str, detail: String| EventRow {
        kind: Text::from_static(kind),
        detail: detail.into(),
        ..row.clone()
    };
    match &event.detail {
        EventDetail::Retransmission(episode) => EventRow {
            psn: wire_psn(episode.first),
            count: episode.packets,
            value: episode.reaction_ns.map(|ns| ns as f64),
            ..named("retransmission", retransmission(episode))
        },
        EventDetail::Rnr(rnr) => EventRow {
            psn: wire_psn(rnr.psn),
            count: u64::from(rnr.naks),
            value: Some(f64::from(rnr_timer_us(rnr.timer)) * 1_000.0),
            ..named(
                "rnr_episode",
                format!(
                    "receiver not ready {}, requests a wait of {} µs",
                    plural(u64::from(rnr.naks), "time"),
                    rnr_timer_us(rnr.timer)
                ),
            )
        },
        EventDetail::Fatal { psn, syndrome } => {
            let name = Syndrome(*syndrome).name();
            EventRow {
                psn: Some(psn.get()),
                syndrome: Some(Text::from_static(name)),
                ..named("fatal_nak", format!("the responder refuses PSN {}: {name}", psn.get()))
            }
        }
        EventDetail::Unanswered { psn, tries } => EventRow {
            psn: Some(psn.get()),
            count: u64::from(*tries),
            ..named(
                "unanswered",
                format!(
                    "no answer to PSN {} after {tries} timeouts: the sender goes on to retry",
                    psn.get()
                ),
            )
        },
        EventDetail::RetryExhausted { psn, tries, rnr } => EventRow {
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
        EventDetail::Loss {
            psn,
            packets,
            location,
            evidence,
        } => EventRow {
            psn: Some(psn.get()),
            count: *packets,
            ..named("loss", loss(*location, *evidence).into())
        },
        EventDetail::Connect { reply_ns, ready_ns } => EventRow {
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
        EventDetail::Disconnect => named("disconnect", "taken down by CM".into()),
        EventDetail::Reject(reason) => named("reject", format!("refused by CM: {}", reason.name())),
    }
}

fn retransmission(episode: &Episode) -> String {
    let packets = plural(episode.packets, "packet");
    let trigger = episode.trigger.name();
    match episode.reaction_ns.filter(|_| episode.trigger != Trigger::Timeout) {
        Some(ns) => format!("{packets} retransmitted {} µs after {trigger}", ns / 1_000),
        None => format!("{packets} retransmitted after {trigger}"),
    }
}

const fn loss(location: LossLocation, evidence: LossEvidence) -> &'static str {
    match (location, evidence) {
        (LossLocation::Upstream, LossEvidence::Skipped) => {
            "lost upstream of the tap: skipped while the packets around it were retransmitted"
        }
        (LossLocation::Upstream, LossEvidence::Response) => {
            "lost upstream of the tap: it was requested again, and a later request was acknowledged"
        }
        (LossLocation::Upstream, LossEvidence::Trimmed) => {
            "lost upstream of the tap: a switch there trimmed it, and it passed without its payload"
        }
        (LossLocation::Upstream, LossEvidence::Never) => "lost upstream of the tap: it left a gap and never came",
        (LossLocation::Upstream, _) => "lost upstream of the tap: it left a gap and was retransmitted later",
        (LossLocation::Downstream, LossEvidence::Response) => {
            "response lost downstream of the tap: the requester requested it again"
        }
        (LossLocation::Downstream, LossEvidence::Timeout) => {
            "lost downstream of the tap, or its answer was lost: retransmitted after a long wait"
        }
        (LossLocation::Downstream, _) => "lost downstream of the tap: the receiver requested it again",
    }
}
