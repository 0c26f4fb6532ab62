//! Probes along the path of a flow, to an agent of another host, which answers each.
//!
//! A controller asks both ends of a flow for them. They carry the flow's addresses and its UDP source port, so that
//! ECMP routes them as the flow; the answer returns with the same port. The answer has the time that the other end held
//! the probe, so that a round trip is that of the network. One clock stamps departure and arrival.
//!
//! A request is for the next window. Its probes are spread over the window, and its row is made when the outcome of
//! each is known. The agent's budget bounds the probes of a window, whatever the controller asks.

use crate::agent::host::Host;
use crate::agent::prober::{Prober, Received};
use crate::payload::Payload;
use crate::requests::{Asker, Request};
use crate::responder::RETRY;
use crate::types::{Nanos, NicIndex, Outgoing, Refusal};
use rocescope_model::{SmallFlowRow, Text, Time};
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

impl FlowProbes {
    pub(crate) const fn new(budget: u32, timeout: Nanos) -> Self {
        Self {
            budget,
            timeout,
            running: Vec::new(),
            rows: Vec::new(),
            counters: FlowCounters {
                probed: 0,
                over_budget: 0,
                refused: 0,
            },
        }
    }

    /// Accepts a request for the next window, or counts why not.
    pub(crate) fn request(&mut self, task: FlowTask, host: &Host, now: Nanos) {
        let FlowTask { flow, probes } = task;
        let (end, nic, peer) = match (host.nic(flow.src), host.nic(flow.dst)) {
            (Some(nic), _) => ("sender", nic, flow.dst),
            (None, Some(nic)) => ("receiver", nic, flow.src),
            (None, None) => {
                self.counters.refused += 1;
                return;
            }
        };
        if probes == 0 || !(SHORTEST_NS..=LONGEST_NS).contains(&flow.window_ns) || host.nic(peer).is_some() {
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
                observer: host.settings.observer.clone(),
                end: Text::from_static(end),
                ..flow
            },
            nic,
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

    fn running(&mut self, number: u64) -> Option<&mut Running> {
        self.running.iter_mut().find(|running| running.number == number)
    }

    /// Counts the round trip of a probe, if it is known.
    fn measured(&mut self, probe: Option<Request<Asker>>) {
        if let Some(probe) = probe
            && let Some(trip) = probe.round_trip()
            && let Asker::Flow(number) = probe.asked
            && let Some(running) = self.running(number)
        {
            running.round_trips.push(trip.0);
        }
    }
}

impl Prober for FlowProbes {
    fn next_due(&self, _host: &Host) -> Option<Nanos> {
        let probes = self.running.iter().map(|running| match running.left {
            0 => running.end + self.timeout + Nanos(1),
            _ => running.due,
        });
        probes.min()
    }

    fn next_packet(&mut self, now: Nanos, host: &mut Host) -> Option<Outgoing> {
        let running = self
            .running
            .iter_mut()
            .find(|running| running.left > 0 && running.due <= now)?;
        running.left -= 1;
        running.due = (running.due + running.pace).max(now);
        running.row.probes += 1;
        let asker = Asker::Flow(running.number);
        Some(host.ask(asker, running.nic, running.peer, running.row.udp_src_port, now))
    }

    fn left(&mut self, payload: &Payload, nic_sent: Nanos, host: &mut Host) {
        self.measured(host.questions.left(payload.sequence.0, nic_sent));
    }

    fn refused(&mut self, outgoing: &Outgoing, why: Refusal, host: &mut Host) {
        let probe = host.questions.remove(outgoing.sequence.0);
        let Some(Asker::Flow(number)) = probe.map(|probe| probe.asked) else {
            return;
        };
        let Some(running) = self.running(number) else {
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

    fn arrived(&mut self, received: &Received<'_>, host: &mut Host) {
        let sequence = received.payload.sequence.0;
        let asked = host.questions.get(sequence).map(|probe| probe.asked);
        if let Some(Asker::Flow(number)) = asked
            && self.running(number).map(|running| running.peer) == received.from
        {
            self.measured(host.questions.arrived(sequence, received.arrival));
        }
    }

    /// Makes the rows of the flows whose probes all have an outcome.
    fn expire(&mut self, now: Nanos, host: &mut Host) {
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
            let unstamped = host.questions.extract_if(|probe| probe.asked == Asker::Flow(number));
            trips.extend(unstamped.iter().filter_map(|probe| {
                let arrival = probe.arrival?;
                Some((arrival.at() - probe.sent - arrival.held).0)
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

    /// What is in flight cannot be measured.
    fn stepped(&mut self, _by: Nanos, _host: &mut Host) {
        self.running.clear();
    }

    /// Sends no more probes; those in flight complete.
    fn stop(&mut self, _host: &mut Host) {
        self.running.retain(|running| running.row.probes > 0);
        for running in &mut self.running {
            running.row.unsent += u64::from(std::mem::take(&mut running.left));
            running.end = running.end.min(running.due - running.pace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::Arrival;

    const MS: i64 = 1_000_000;

    fn left(flows: &mut FlowProbes, host: &mut Host, outgoing: &Outgoing, at: Nanos) {
        flows.left(&outgoing.into(), at, host);
    }

    fn answered(flows: &mut FlowProbes, host: &mut Host, outgoing: &Outgoing, (from, held, at): (IpAddr, i64, Nanos)) {
        let received = Received {
            nic: outgoing.src,
            payload: &outgoing.into(),
            from: Some(from),
            arrival: Arrival {
                intact: true,
                nic_received: Some(at),
                received: at,
                held: Nanos(held),
            },
        };
        flows.arrived(&received, host);
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
        let (mut flows, mut host) = (FlowProbes::new(100, Nanos(500 * MS)), Host::single());
        flows.request(task("10.0.0.1", "10.0.0.2", 50_000, 10), &host, Nanos(1234 * MS));
        let mut times = Vec::new();
        let (peer, other) = ("10.0.0.2".parse().unwrap(), "10.0.0.3".parse().unwrap());
        while let Some(due) = flows.next_due(&host).filter(|due| *due < Nanos(3000 * MS)) {
            let outgoing = flows.next_packet(due, &mut host).unwrap();
            assert_eq!((outgoing.port, outgoing.remote), (50_000, Some(peer)));
            times.push(due.0 / MS);
            left(&mut flows, &mut host, &outgoing, due + Nanos(1000));
            // One in five is lost; the other end held each for 3 ms.
            if !outgoing.sequence.0.is_multiple_of(5) {
                let answer = (peer, 3 * MS, due + Nanos(3 * MS + 21_000));
                answered(&mut flows, &mut host, &outgoing, answer);
            } else {
                // Another host is not the other end.
                answered(&mut flows, &mut host, &outgoing, (other, 0, due + Nanos(21_000)));
            }
        }
        assert_eq!(times, (0..10).map(|n| 2000 + 100 * n).collect::<Vec<i64>>());
        flows.expire(Nanos(3500 * MS), &mut host);
        assert!(flows.rows.is_empty());
        flows.expire(Nanos(3500 * MS + 1), &mut host);
        let row = &flows.rows[0];
        assert_eq!((row.probes, row.answered, row.unsent), (10, 8, 0));
        assert_eq!(row.mean_round_trip_ns, Some(20_000));
        assert_eq!((&*row.end, &*row.observer), ("sender", "h0"));
        assert!(flows.next_due(&host).is_none() && host.questions.is_empty());
    }

    #[test]
    fn a_request_above_the_budget_of_a_window_is_refused_and_counted() {
        let (mut flows, host) = (FlowProbes::new(25, Nanos(500 * MS)), Host::single());
        let mut request = |task, now| flows.request(task, &host, Nanos(now));
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
        let (mut flows, mut host) = (FlowProbes::new(10, Nanos(500 * MS)), Host::single());
        flows.request(task("10.0.0.1", "10.0.0.2", 1, 1), &host, Nanos(0));
        let first = flows.next_packet(Nanos(1000 * MS), &mut host).unwrap();
        flows.refused(&first, Refusal::Resolving, &mut host);
        assert_eq!(flows.next_packet(Nanos(1004 * MS), &mut host), None);
        let again = flows.next_packet(Nanos(1005 * MS), &mut host).unwrap();
        flows.refused(&again, Refusal::Down, &mut host);
        flows.expire(Nanos(2600 * MS), &mut host);
        assert_eq!((flows.rows[0].probes, flows.rows[0].unsent), (0, 1));
    }
}
