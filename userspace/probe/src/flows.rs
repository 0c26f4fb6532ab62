//! Probes along the path of a flow, to an agent of another host, which answers each.
//!
//! A controller asks both ends of a flow for them. They carry the flow's addresses and its UDP source port, so that
//! ECMP routes them as the flow; the answer returns with the same port. The answer has the time that the other end held
//! the probe, so that a round trip is that of the network. One clock stamps departure and arrival.
//!
//! A request is for the next window. Its probes are spread over the window, and its row is made when the outcome of
//! each is known. The agent's budget bounds the probes of a window, whatever the controller asks.

use crate::responder::RETRY;
use crate::types::{DatagramKind, Nanos, Nic, NicIndex, Outgoing, Refusal, Sequence};
use rocescope_model::{SmallFlowRow, Text, Time};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The shortest window: probes of a shorter one would leave in a burst.
const SHORTEST_NS: i64 = 10_000_000;
/// The longest window: results of a longer one would come too late to be of use.
const LONGEST_NS: i64 = 60_000_000_000;

/// A request for probes along the path of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowTask {
    /// The flow, as its row: what the agent measures is still missing.
    pub flow: SmallFlowRow,
    /// How many probes.
    pub probes: u16,
}

/// What happened to requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCounters {
    /// Flows that were probed, or are.
    pub probed: u64,
    /// Flows that were refused because their probes exceed the budget of the window.
    pub over_budget: u64,
    /// Flows that were refused because neither address is of this host, or a window or a number is out of range.
    pub refused: u64,
}

/// The flows that are probed.
#[derive(Clone, Debug)]
pub(crate) struct FlowProbes {
    /// Probes that may be requested for one window.
    budget: u32,
    timeout: Nanos,
    running: Vec<Running>,
    in_flight: BTreeMap<u64, InFlight>,
    next_sequence: u64,
    pub(crate) rows: Vec<SmallFlowRow>,
    pub(crate) counters: FlowCounters,
}

#[derive(Clone, Debug)]
struct Running {
    number: u64,
    row: SmallFlowRow,
    nic: NicIndex,
    peer: IpAddr,
    /// Its window.
    begin: Nanos,
    end: Nanos,
    /// Probes that are left, when the next is due, and the time between two.
    left: u16,
    requested: u16,
    due: Nanos,
    pace: Nanos,
    round_trips: Vec<i64>,
}

#[derive(Clone, Copy, Debug)]
struct InFlight {
    number: u64,
    sent: Nanos,
    nic_sent: Option<Nanos>,
    /// When its answer arrived, and how long the other end held it.
    arrived: Option<(Nanos, Nanos)>,
}

impl FlowProbes {
    pub(crate) const fn new(budget: u32, timeout: Nanos) -> Self {
        Self {
            budget,
            timeout,
            running: Vec::new(),
            in_flight: BTreeMap::new(),
            next_sequence: 0,
            rows: Vec::new(),
            counters: FlowCounters {
                probed: 0,
                over_budget: 0,
                refused: 0,
            },
        }
    }

    /// Accepts a request for the next window, or counts why not.
    pub(crate) fn request(&mut self, task: FlowTask, observer: &Text, nics: &[Nic], now: Nanos) {
        let FlowTask { flow, probes } = task;
        let own = |address: IpAddr| nics.iter().position(|nic| nic.address == address);
        let (end, nic, peer) = match (own(flow.src), own(flow.dst)) {
            (Some(nic), _) => ("sender", nic, flow.dst),
            (None, Some(nic)) => ("receiver", nic, flow.src),
            (None, None) => {
                self.counters.refused += 1;
                return;
            }
        };
        if probes == 0 || !(SHORTEST_NS..=LONGEST_NS).contains(&flow.window_ns) || own(peer).is_some() {
            self.counters.refused += 1;
            return;
        }
        let begin = Nanos(now.0 - now.0.rem_euclid(flow.window_ns) + flow.window_ns);
        let end_at = begin + Nanos(flow.window_ns);
        let overlaps = |running: &&Running| running.begin < end_at && begin < running.end;
        let spent: u32 = self
            .running
            .iter()
            .filter(overlaps)
            .map(|running| u32::from(running.requested))
            .sum();
        if spent + u32::from(probes) > self.budget {
            self.counters.over_budget += 1;
            return;
        }
        let pace = Nanos(flow.window_ns / i64::from(probes));
        // Flows of one window take turns.
        let turn = Nanos(pace.0 * (self.counters.probed % 16).cast_signed() / 16);
        let number = self.counters.probed;
        self.counters.probed += 1;
        self.running.push(Running {
            number,
            row: SmallFlowRow {
                observer: observer.clone(),
                end: Text::from_static(end),
                ..flow
            },
            nic: NicIndex(nic as u16),
            peer,
            begin,
            end: end_at,
            left: probes,
            requested: probes,
            due: begin + turn,
            pace,
            round_trips: Vec::new(),
        });
    }

    /// When something is due.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        let probes = self.running.iter().map(|running| match running.left {
            0 => running.end + self.timeout + Nanos(1),
            _ => running.due,
        });
        probes.min()
    }

    /// Sends no more probes; those in flight complete.
    pub(crate) fn stop(&mut self) {
        self.running.retain(|running| running.row.probes > 0);
        for running in &mut self.running {
            running.row.unsent += u64::from(std::mem::take(&mut running.left));
            running.end = running.end.min(running.due - running.pace);
        }
    }

    /// The next datagram at `now`, of an agent with this number.
    pub(crate) fn next_packet(&mut self, agent: u64, now: Nanos) -> Option<Outgoing> {
        let running = self
            .running
            .iter_mut()
            .find(|running| running.left > 0 && running.due <= now)?;
        running.left -= 1;
        running.due = (running.due + running.pace).max(now);
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        let probe = InFlight {
            number: running.number,
            sent: now,
            nic_sent: None,
            arrived: None,
        };
        self.in_flight.insert(sequence, probe);
        running.row.probes += 1;
        Some(Outgoing {
            src: running.nic,
            dst: running.nic,
            remote: Some(running.peer),
            port: running.row.udp_src_port,
            dscp: 0,
            sequence: Sequence(sequence),
            kind: DatagramKind::Question,
            sent: now,
            agent,
        })
    }

    /// A probe was not sent.
    pub(crate) fn refused(&mut self, outgoing: &Outgoing, why: Refusal) {
        let probe = self.in_flight.remove(&outgoing.sequence.0);
        let Some(running) = probe.and_then(|probe| self.running(probe.number)) else {
            return;
        };
        running.row.probes -= 1;
        if why == Refusal::Resolving && outgoing.sent < running.end {
            running.left += 1;
            running.due = outgoing.sent + RETRY;
        } else {
            running.row.unsent += 1;
        }
    }

    fn running(&mut self, number: u64) -> Option<&mut Running> {
        self.running.iter_mut().find(|running| running.number == number)
    }

    /// A probe left.
    pub(crate) fn left(&mut self, sequence: Sequence, nic_sent: Nanos) {
        if let Some(probe) = self.in_flight.get_mut(&sequence.0) {
            probe.nic_sent = Some(nic_sent);
        }
        self.complete(sequence.0);
    }

    /// An answer to a probe arrived.
    pub(crate) fn answered(&mut self, sequence: Sequence, from: IpAddr, held: Nanos, arrived: Nanos) {
        let number = self.in_flight.get(&sequence.0).map(|probe| probe.number);
        if number
            .and_then(|number| self.running(number))
            .is_none_or(|running| running.peer != from)
        {
            return;
        }
        if let Some(probe) = self.in_flight.get_mut(&sequence.0)
            && probe.arrived.is_none()
        {
            probe.arrived = Some((arrived, held));
        }
        self.complete(sequence.0);
    }

    /// Counts a probe of which both times are known.
    fn complete(&mut self, sequence: u64) {
        let probe = self.in_flight.get(&sequence).copied();
        let Some((probe, sent, (arrived, held))) =
            probe.and_then(|probe| Some((probe, probe.nic_sent?, probe.arrived?)))
        else {
            return;
        };
        self.in_flight.remove(&sequence);
        if let Some(running) = self.running(probe.number) {
            running.round_trips.push((arrived - sent - held).0);
        }
    }

    /// Makes the rows of the flows whose probes all have an outcome.
    pub(crate) fn expire(&mut self, now: Nanos) {
        let timeout = self.timeout;
        let is_over = |running: &Running| now > running.end + timeout;
        for running in self.running.extract_if(.., |running| is_over(running)) {
            let Running {
                mut row,
                number,
                round_trips,
                left,
                end,
                ..
            } = running;
            // Their answers came, and the times of their departure did not.
            let mut trips = round_trips;
            let unstamped = self.in_flight.extract_if(.., |_, probe| probe.number == number);
            trips.extend(unstamped.filter_map(|(_, probe)| {
                let (arrived, held) = probe.arrived?;
                Some((arrived - probe.sent - held).0)
            }));
            row.unsent += u64::from(left);
            row.answered = trips.len() as u64;
            let count = i64::try_from(trips.len()).unwrap_or(i64::MAX);
            row.mean_round_trip_ns = (count > 0).then(|| trips.iter().sum::<i64>() / count.max(1));
            row.min_round_trip_ns = trips.iter().min().copied();
            row.max_round_trip_ns = trips.iter().max().copied();
            row.time = Time(end.0);
            row.time_ns = end.0;
            self.rows.push(row);
        }
    }

    /// The clock was set: what is in flight cannot be measured.
    pub(crate) fn stepped(&mut self) {
        self.in_flight.clear();
        self.running.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn nics() -> Vec<Nic> {
        vec![Nic {
            name: "rail0".into(),
            address: "10.0.0.1".parse().unwrap(),
        }]
    }

    fn task(src: &str, dst: &str, port: u16, probes: u16) -> FlowTask {
        FlowTask {
            flow: SmallFlowRow {
                src: src.parse().unwrap(),
                dst: dst.parse().unwrap(),
                udp_src_port: port,
                window_ns: 1000 * MS,
                ..SmallFlowRow::default()
            },
            probes,
        }
    }

    #[test]
    fn probes_are_spread_over_the_next_window_and_their_mean_is_of_the_network() {
        let mut flows = FlowProbes::new(100, Nanos(500 * MS));
        flows.request(
            task("10.0.0.1", "10.0.0.2", 50_000, 10),
            &"h0".into(),
            &nics(),
            Nanos(1234 * MS),
        );
        let mut times = Vec::new();
        let (peer, other) = ("10.0.0.2".parse().unwrap(), "10.0.0.3".parse().unwrap());
        while let Some(due) = flows.next_due().filter(|due| *due < Nanos(3000 * MS)) {
            let outgoing = flows.next_packet(7, due).unwrap();
            assert_eq!((outgoing.port, outgoing.remote), (50_000, Some(peer)));
            times.push(due.0 / MS);
            flows.left(outgoing.sequence, due + Nanos(1000));
            // One in five is lost; the other end held each for 3 ms.
            if !outgoing.sequence.0.is_multiple_of(5) {
                flows.answered(outgoing.sequence, peer, Nanos(3 * MS), due + Nanos(3 * MS + 21_000));
            } else {
                // Another host is not the other end.
                flows.answered(outgoing.sequence, other, Nanos(0), due + Nanos(21_000));
            }
        }
        assert_eq!(times, (0..10).map(|n| 2000 + 100 * n).collect::<Vec<i64>>());
        flows.expire(Nanos(3500 * MS));
        assert!(flows.rows.is_empty());
        flows.expire(Nanos(3500 * MS + 1));
        let row = &flows.rows[0];
        assert_eq!((row.probes, row.answered, row.unsent), (10, 8, 0));
        assert_eq!(row.mean_round_trip_ns, Some(20_000));
        assert_eq!((&*row.end, &*row.observer), ("sender", "h0"));
        assert!(flows.next_due().is_none() && flows.in_flight.is_empty());
    }

    #[test]
    fn a_request_above_the_budget_of_a_window_is_refused_and_counted() {
        let mut flows = FlowProbes::new(25, Nanos(500 * MS));
        let mut request = |task, now| flows.request(task, &"h0".into(), &nics(), Nanos(now));
        for port in 0..3 {
            request(task("10.0.0.1", "10.0.0.2", port, 10), 0);
        }
        // Another window has a budget of its own.
        request(task("10.0.0.3", "10.0.0.1", 9, 10), 1000 * MS);
        request(task("10.0.0.8", "10.0.0.9", 9, 1), 1000 * MS);
        let counters = flows.counters;
        assert_eq!((counters.probed, counters.over_budget, counters.refused), (3, 1, 1));
    }

    #[test]
    fn an_unknown_neighbour_delays_a_probe_and_loses_none() {
        let mut flows = FlowProbes::new(10, Nanos(500 * MS));
        flows.request(task("10.0.0.1", "10.0.0.2", 1, 1), &"h0".into(), &nics(), Nanos(0));
        let first = flows.next_packet(7, Nanos(1000 * MS)).unwrap();
        flows.refused(&first, Refusal::Resolving);
        assert_eq!(flows.next_packet(7, Nanos(1004 * MS)), None);
        let again = flows.next_packet(7, Nanos(1005 * MS)).unwrap();
        flows.refused(&again, Refusal::Down);
        flows.expire(Nanos(2600 * MS));
        assert_eq!((flows.rows[0].probes, flows.rows[0].unsent), (0, 1));
    }
}
