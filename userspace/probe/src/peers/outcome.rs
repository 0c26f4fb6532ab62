//! The outcome of a probe to another host, and its rows: one for each way.

use super::lanes::Tuple;
use super::pending::{Arrived, Pending};
use crate::types::{Clock, Nanos, Nic, NicIndex, Refusal};
use rocescope_model::{ProbeRow, Text, Time};
use std::net::{IpAddr, Ipv4Addr};

/// What happened on a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Received,
    Lost,
    Unknown,
    Unsent(Refusal),
}

impl Way {
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

/// A probe with an outcome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finished {
    nic: NicIndex,
    peer: IpAddr,
    port: u16,
    dscp: u8,
    sequence: u32,
    due: Nanos,
    nic_sent: Option<Nanos>,
    arrived: Option<Arrived>,
    round_trip: Option<Nanos>,
    there: Way,
    /// The way of the answer, if one was sent.
    back: Option<Way>,
}

/// What all rows of an agent have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) observer: &'a Text,
    pub(crate) nics: &'a [Nic],
    pub(crate) names: &'a [Text],
    pub(crate) clock: Clock,
    pub(crate) udp_dst_port: u16,
}

impl Finished {
    pub(super) fn new(tuple: &Tuple, probe: &Pending, there: Way, back: Option<Way>) -> Self {
        let is_there = back == Some(Way::Received);
        Self {
            nic: tuple.nic,
            peer: tuple.peer.address,
            port: tuple.port,
            dscp: tuple.dscp,
            sequence: probe.sequence,
            due: probe.due,
            nic_sent: probe.nic_sent,
            arrived: probe.arrived.filter(|_| is_there),
            round_trip: probe.round_trip().filter(|_| is_there && !probe.torn),
            there,
            back,
        }
    }

    pub(super) fn rows(&self, origin: &Origin<'_>, rows: &mut Vec<ProbeRow>) {
        let own = origin.nics.get(self.nic.at()).map(|nic| nic.address);
        let own = own.unwrap_or(Ipv4Addr::UNSPECIFIED.into());
        let name = origin.names.get(self.nic.at()).cloned().unwrap_or_default();
        let either = ProbeRow {
            observer: origin.observer.clone(),
            time: Time(self.due.0),
            time_ns: self.due.0,
            udp_src_port: self.port,
            udp_dst_port: origin.udp_dst_port,
            dscp: Some(self.dscp),
            sequence: self.sequence.into(),
            clock_source: origin.clock.source.into(),
            clock_error_ns: origin.clock.error.0,
            ..ProbeRow::default()
        };
        rows.push(ProbeRow {
            src_nic: name.clone(),
            src: own,
            dst: self.peer,
            outcome: self.there.name().into(),
            nic_send_ns: self.nic_sent.map(|time| time.0),
            unsent_reason: match self.there {
                Way::Unsent(why) => Some(why.name().into()),
                _ => None,
            },
            round_trip_ns: self.round_trip.map(|time| time.0),
            ..either.clone()
        });
        let Some(back) = self.back else {
            return;
        };
        rows.push(ProbeRow {
            dst_nic: name,
            src: self.peer,
            dst: own,
            outcome: back.name().into(),
            nic_receive_ns: self.arrived.and_then(|arrived| arrived.nic_received).map(|time| time.0),
            app_receive_ns: self.arrived.map(|arrived| arrived.received.0),
            ..either
        });
    }
}
