//! The verbs backend and the agent on a test double of libibverbs: three NICs, two of them ports of one device.
//!
//! | module | contents |
//! |---|---|
//! | `operations` | the latency of RDMA operations between agents |
//! | `rc` | SEND, WRITE and READ between RC queue pairs, and how they fail |
//! | `loopback` | loopback tests of Hostping |
//! | `frames` | what queue pairs cannot send |
//! | `failures` | losses, queue pairs in error, missing devices |
#![expect(clippy::unwrap_used, reason = "it is a test")]

mod failures;
mod frames;
mod loopback;
mod operations;
mod rc;

use rocescope_model::ProbeRow;
use rocescope_probe::backend::verbs::Verbs;
use rocescope_probe::{Agent, Backend, Nanos, Nic, Settings, drive};
use rocescope_testkit::verbs::{LATENCY, NICS, Stamps, address, with};
use std::collections::BTreeMap;

const MILLISECOND: i64 = 1_000_000;

/// Loads the double, and returns its NICs with their interface indices.
fn nics() -> Vec<(Nic, u32)> {
    rocescope_testkit::verbs::load();
    let nic = |(at, (_, _, interface))| {
        let nic = Nic {
            name: format!("rail{at}"),
            address: address(at).into(),
        };
        (nic, interface)
    };
    NICS.into_iter().enumerate().map(nic).collect()
}

struct Run {
    agent: Agent,
    verbs: Verbs,
    rows: Vec<ProbeRow>,
}

impl Run {
    /// Starts an agent that probes every 5 ms with this timeout.
    fn begin(timeout: Nanos) -> Self {
        let verbs = Verbs::open(&nics()).unwrap();
        let settings = Settings {
            interval: Nanos(5 * MILLISECOND),
            timeout,
            traces_per_second: 0.0,
            ..Settings::new("h0", 7)
        };
        Self {
            agent: Agent::new(settings, verbs.nics(), verbs.clock(), verbs.now()),
            verbs,
            rows: Vec::new(),
        }
    }

    fn run(&mut self, milliseconds: i64) {
        let until = self.verbs.now() + Nanos(milliseconds * MILLISECOND);
        while self.verbs.now() < until {
            let mut events = Vec::new();
            if drive(&mut self.agent, &mut self.verbs, until, &mut events).unwrap() {
                break;
            }
        }
        self.rows.append(self.agent.rows().0);
    }

    /// Runs until it is so, however long the machine takes.
    fn run_until(&mut self, is_so: impl Fn(&Self) -> bool) {
        while !is_so(self) {
            self.run(20);
        }
    }

    /// Runs until nothing is in flight; every probe then has a row.
    fn end(&mut self) {
        self.agent.stop();
        while self.agent.next_due().is_some() {
            self.run(1_000);
        }
        let counters = self.agent.counters();
        assert!(counters.is_balanced() && counters.in_flight == 0);
        assert_eq!(self.rows.len() as u64, counters.probes);
    }

    fn outcome(&self, outcome: &str) -> Vec<&ProbeRow> {
        let rows = self.rows.iter();
        rows.filter(|row| &*row.outcome == outcome).collect()
    }
}

/// A timeout that is long enough for a busy machine.
const LONG_TIMEOUT: Nanos = Nanos(10 * Nanos::SECOND.0);

/// Half a second in which nothing fails.
fn run() -> Run {
    let mut run = Run::begin(LONG_TIMEOUT);
    run.run_until(|run| run.rows.len() > 50);
    run.end();
    assert_eq!(run.outcome("received").len(), run.rows.len());
    run
}

fn clocks_of_devices_are_distinguished(stamps: [Stamps; 2]) {
    const AHEAD: i64 = 2_000 * MILLISECOND;
    with(|double| (double.stamps, double.ahead) = (stamps, [0, AHEAD]));
    let run = run();
    let mut with_offset = 0;
    for row in &run.rows {
        assert_eq!(&*row.clock_source, "nic hardware");
        let device = |name: &str| NICS[name[4..].parse::<usize>().unwrap()].0 as i64;
        let ahead = AHEAD * (device(&row.dst_nic) - device(&row.src_nic));
        let stamped = row.nic_receive_ns.unwrap() - row.nic_send_ns.unwrap();
        // Ticks are 12.8 ns.
        assert!((stamped - ahead - LATENCY).abs() <= 26, "{row:?}");
        if let Some(offset) = row.clock_offset_ns {
            with_offset += 1;
            assert!((offset - ahead).abs() <= row.clock_error_ns, "{row:?}");
            let latency = row.network_latency_ns.unwrap();
            assert!((latency - LATENCY).abs() <= row.clock_error_ns, "{row:?}");
        }
    }
    assert!(with_offset > run.rows.len() / 2, "{with_offset}");
}

#[test]
fn with_wall_clocks_one_way_latency_is_right_within_its_error() {
    clocks_of_devices_are_distinguished([Stamps::WallClock; 2]);
}

#[test]
fn with_ticks_one_way_latency_is_right_within_its_error() {
    clocks_of_devices_are_distinguished([Stamps::Ticks, Stamps::WallClock]);
}

/// Timestamps of a device are not comparable with those of the processor.
#[test]
fn if_one_device_does_not_stamp_the_processor_stamps_for_all() {
    with(|double| {
        double.stamps = [Stamps::WallClock, Stamps::Unsupported];
        double.ahead = [7 * Nanos::SECOND.0; 2];
    });
    let run = run();
    for row in &run.rows {
        assert_eq!(&*row.clock_source, "cpu");
        assert_eq!(row.clock_offset_ns, Some(0));
        let (left, came) = (row.nic_send_ns.unwrap(), row.nic_receive_ns.unwrap());
        assert!(row.time_ns < left && left <= came, "{row:?}");
        assert_eq!(row.nic_receive_ns, row.app_receive_ns);
    }
    // The queues with timestamps are closed again.
    assert_eq!(with(|double| double.cqs.len()), NICS.len());
}

/// The flow label of the handle determines the port; the payload contains the expected one.
#[test]
fn every_probe_leaves_with_the_source_port_of_its_row() {
    let run = run();
    let mut rows = BTreeMap::new();
    for row in &run.rows {
        rows.insert((row.src_nic[4..].parse::<u16>().unwrap(), row.sequence), row);
    }
    let wire = with(|double| std::mem::take(&mut double.wire));
    assert_eq!(wire.len(), run.rows.len());
    for (port, bytes) in wire {
        assert_eq!(bytes.len(), rocescope_probe::payload::LEN);
        let payload = rocescope_probe::payload::Payload::read(&bytes).unwrap();
        let row = rows[&(payload.src.0, payload.sequence.0)];
        assert_eq!((port, port), (row.udp_src_port, payload.port));
    }
}

/// Packets of a trace have no TTL here: none is sent, and each is counted.
#[test]
fn traces_are_refused() {
    let mut run = Run::begin(LONG_TIMEOUT);
    let settings = Settings {
        traces_per_second: 100.0,
        ..Settings::new("h0", 7)
    };
    run.agent = Agent::new(settings, run.verbs.nics(), run.verbs.clock(), run.verbs.now());
    run.run_until(|run| run.agent.counters().traces > 0);
    let counters = run.agent.counters();
    assert!(counters.traces_unsent >= counters.traces);
    assert_eq!(with(|double| double.wire.len()) as u64, counters.probes);
}
