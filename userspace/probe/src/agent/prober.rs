//! What the agent asks of each of its probers.

use super::host::Host;
use crate::payload::Payload;
use crate::requests::Arrival;
use crate::types::{Nanos, NicIndex, Outgoing, Refusal};
use std::net::IpAddr;

/// A datagram that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received<'a> {
    /// The receiving NIC.
    pub(crate) nic: NicIndex,
    pub(crate) payload: &'a Payload,
    /// The address that sent it; always known to the probers of other hosts.
    pub(crate) from: Option<IpAddr>,
    pub(crate) arrival: Arrival,
}

/// A kind of datagrams: when they are due, and what their outcomes mean. It gets only what concerns its own.
pub(crate) trait Prober {
    /// When it has to act next.
    fn next_due(&self, host: &Host) -> Option<Nanos>;

    /// The next datagram at `now`, if any is due.
    fn next_packet(&mut self, now: Nanos, host: &mut Host) -> Option<Outgoing>;

    /// A datagram left (2).
    fn left(&mut self, _payload: &Payload, _nic_sent: Nanos, _host: &mut Host) {}

    /// A datagram was not sent.
    fn refused(&mut self, outgoing: &Outgoing, why: Refusal, host: &mut Host);

    /// A datagram, or an answer to one, arrived.
    fn arrived(&mut self, received: &Received<'_>, host: &mut Host);

    /// Finishes what timed out.
    fn expire(&mut self, _now: Nanos, _host: &mut Host) {}

    /// The clock was set. Questions to other agents are forgotten already.
    fn stepped(&mut self, by: Nanos, host: &mut Host);

    /// The settings of the host changed.
    fn reconfigure(&mut self, _now: Nanos, _host: &mut Host) {}

    /// Begins nothing more.
    fn stop(&mut self, _host: &mut Host) {}
}
