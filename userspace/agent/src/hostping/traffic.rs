//! What others send over the NICs, from the counters of their ports.

use crate::counters::moment;
use rocescope_diagnose::hostping::NicLoad;
use rocescope_diagnose::hostping::Topology;
use rocescope_host::counters::{Reader, Rows, Sources, Wanted};
use rocescope_model::CounterRow;
use rocescope_probe::Nanos;
use rocescope_probe::loopback::schedule::Alarm;
use rocescope_probe::loopback::{Busy, Load, Meter, Own, PACKET, Sample};
use std::path::Path;
use std::time::Instant;

/// Reads the counters of the NICs under test.
pub(super) struct Traffic {
    bytes: Reader,
    alarms: Reader,
    begun: Instant,
    nics: Vec<Nic>,
    meter: Meter,
    /// Time of the last sample.
    sampled: Option<Nanos>,
}

/// A NIC: what its counters grew by, and its loads over a run.
struct Nic {
    node: usize,
    name: String,
    aliases: Vec<String>,
    rate_bps: u64,
    /// Sent and received; none if there is no such counter.
    bytes: [Option<u64>; 2],
    packets: [Option<u64>; 2],
    /// Bits sent and received by others in this run, and seconds.
    run: [f64; 3],
}

impl Nic {
    fn add(&mut self, row: &CounterRow) {
        let (place, at) = match row.metric.as_deref() {
            Some("port_xmit_data") => (&mut self.bytes, 0),
            Some("port_rcv_data") => (&mut self.bytes, 1),
            Some("port_xmit_packets") => (&mut self.packets, 0),
            Some("port_rcv_packets") => (&mut self.packets, 1),
            _ => return,
        };
        *place[at].get_or_insert(0) += row.increase.unwrap_or_default();
    }

    /// None if nothing counts its traffic.
    fn sample(&self) -> Option<Sample> {
        let count = |at: usize| self.bytes[at].or(self.packets[at].map(|packets| packets * PACKET));
        Some(Sample {
            nic: self.name.clone(),
            sent_bytes: count(0)?,
            received_bytes: count(1)?,
            rate_bps: self.rate_bps,
            is_packets: self.bytes.iter().any(Option::is_none),
        })
    }
}

impl Traffic {
    /// A reader of the counters of these NICs, nodes of the topology.
    pub(super) fn new(topology: &Topology, nics: &[usize], root: Option<&Path>) -> Self {
        let reader = |metrics: Vec<&str>| {
            let sources = root.map_or_else(Sources::this_host, |root| Sources::copy(root.to_owned()));
            let wanted = Wanted {
                metrics: metrics.into_iter().map(str::to_owned).collect(),
                ..Wanted::default()
            };
            Reader::new(sources, wanted, "")
        };
        let nic = |node: &usize| {
            let described = &topology.nodes[*node];
            Nic {
                node: *node,
                name: described.name.clone(),
                aliases: described.aliases.clone(),
                rate_bps: described.rate_gbps.map_or(0, |gbps| (gbps * 1e9) as u64),
                bytes: [None; 2],
                packets: [None; 2],
                run: [0.0; 3],
            }
        };
        Self {
            bytes: reader(vec![
                "port_xmit_data",
                "port_rcv_data",
                "port_xmit_packets",
                "port_rcv_packets",
            ]),
            alarms: reader(Alarm::metrics().collect()),
            begun: Instant::now(),
            nics: nics.iter().map(nic).collect(),
            meter: Meter::default(),
            sampled: None,
        }
    }

    /// Begins a run.
    pub(super) fn begin(&mut self) {
        self.meter = Meter::default();
        self.sampled = None;
        for nic in &mut self.nics {
            nic.run = [0.0; 3];
        }
    }

    /// The loads since the last call, without what the tests wrote.
    pub(super) fn look(&mut self, now: Nanos, own: &Own) -> Vec<Load> {
        let nics = &mut self.nics;
        self.bytes.read(moment(self.begun), Rows::All, &mut |row| {
            let is_of = |nic: &&mut Nic| *nic.name == *row.device || nic.aliases.iter().any(|one| **one == *row.device);
            if let Some(nic) = nics.iter_mut().find(is_of) {
                nic.add(&row);
            }
        });
        let samples: Vec<Sample> = nics.iter().filter_map(Nic::sample).collect();
        let loads = self.meter.take(now, samples, own);
        if loads.is_empty() {
            self.sampled.get_or_insert(now);
            return loads;
        }
        let seconds = self
            .sampled
            .replace(now)
            .map_or(0.0, |then| (now - then).0 as f64 / 1e9);
        for load in &loads {
            if let Some(nic) = self.nics.iter_mut().find(|nic| nic.name == load.nic) {
                nic.run[0] += load.sent_bps * seconds;
                nic.run[1] += load.received_bps * seconds;
                nic.run[2] += seconds;
            }
        }
        loads
    }

    /// The NICs whose traffic nothing counts.
    pub(super) fn uncounted(&self) -> Vec<&str> {
        let uncounted = self.nics.iter().filter(|nic| nic.sample().is_none());
        uncounted.map(|nic| nic.name.as_str()).collect()
    }

    /// A counter that calls for tests.
    pub(super) fn alarm(&mut self) -> Option<Alarm> {
        let mut rows = Vec::new();
        self.alarms
            .read(moment(self.begun), Rows::All, &mut |row| rows.push(row));
        Alarm::of(&rows)
    }

    /// What others carried in the run, and which NICs were busy.
    pub(super) fn of_run(&self) -> (Vec<NicLoad>, Vec<usize>) {
        let counted = self.nics.iter().filter(|nic| nic.run[2] > 0.0);
        let load = |nic: &Nic| {
            let [sent, received, seconds] = nic.run;
            Load::new(&nic.name, sent / seconds, received / seconds, nic.rate_bps)
        };
        let all: Vec<(usize, Load)> = counted.map(|nic| (nic.node, load(nic))).collect();
        let loads = all.iter().map(|(node, load)| NicLoad {
            nic: *node,
            sent_gbps: load.sent_bps / 1e9,
            received_gbps: load.received_bps / 1e9,
        });
        let busy = all.iter().filter(|(_, load)| load.is_busy).map(|(node, _)| *node);
        (loads.collect(), busy.collect())
    }

    /// Who is busy, if someone is.
    pub(super) fn busy(&mut self, now: Nanos, own: &Own) -> Option<Busy> {
        Busy::of(&self.look(now, own))
    }
}
