//! The outcome of a probe to another host, and its rows: one for each way.

use super::lanes::Tuple;
use super::pending::{Pending, round_trip};
use super::receipt_message::numbers;
use crate::agent::host::Host;
use crate::types::Refusal;
use rocescope_model::{ProbeRow, Time};

/// What happened on a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WayOutcome {
    Received,
    Lost,
    Unknown,
    Unsent(Refusal),
}

impl WayOutcome {
    /// The name in the column `outcome`.
    const fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Lost => "timeout",
            Self::Unknown => "unknown",
            Self::Unsent(_) => "unsent",
        }
    }
}

/// Adds the rows of a probe: that of the way there, and that of the answer, if one was sent.
pub(super) fn add_rows(
    host: &mut Host,
    tuple: &Tuple,
    probe: &Pending,
    (there, back): (WayOutcome, Option<WayOutcome>),
) {
    let is_answered = back == Some(WayOutcome::Received);
    let own = host.address(tuple.nic);
    let name = host.name(tuple.nic);
    let clock = host.clock_of_others();
    let either = ProbeRow {
        observer: host.settings.observer.clone(),
        time: Time(probe.due.0),
        time_ns: probe.due.0,
        udp_src_port: tuple.port,
        udp_dst_port: host.settings.port(true),
        dscp: Some(tuple.dscp),
        sequence: numbers(probe.number).1.into(),
        clock_source: clock.source.into(),
        clock_error_ns: clock.error.0,
        ..ProbeRow::default()
    };
    let is_measured = is_answered && !probe.invalidated;
    let round_trip = round_trip(probe).filter(|_| is_measured);
    host.probe_rows.push(ProbeRow {
        src_nic: name.clone(),
        src: own,
        dst: tuple.peer.address,
        outcome: there.name().into(),
        nic_send_ns: probe.nic_sent.map(|time| time.0),
        unsent_reason: match there {
            WayOutcome::Unsent(why) => Some(why.name().into()),
            _ => None,
        },
        round_trip_ns: round_trip.map(|time| time.0),
        ..either.clone()
    });
    let arrival = probe.arrival.filter(|_| is_answered);
    host.probe_rows.extend(back.map(|back| ProbeRow {
        dst_nic: name,
        src: tuple.peer.address,
        dst: own,
        outcome: back.name().into(),
        nic_receive_ns: arrival.and_then(|arrival| arrival.nic_received).map(|time| time.0),
        app_receive_ns: arrival.map(|arrival| arrival.received.0),
        ..either
    }));
}
