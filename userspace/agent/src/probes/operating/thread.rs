//! The thread: serves and asks peers, and makes rows of what it measures.

use super::{Operating, OperationSettings};
use crate::error::Result;
use crate::worker::Worker;
use rocescope_collector::control::Member;
use rocescope_model::catalogue::{Driver, Kind, Metric};
use rocescope_model::{CounterRow, Text, Time};
use rocescope_probe::Nic;
use rocescope_probe::operations::{Measured, Message, Operations, Turn};
use rocescope_runtime::clock::now;
use rocescope_runtime::status;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long a message of a peer may wait.
const STEP: Duration = Duration::from_millis(100);

pub(super) fn start(
    wanted: &OperationSettings,
    observer: &str,
    nics: &[(Nic, u32)],
    member: Option<Arc<Member>>,
) -> Result<Option<Operating>> {
    // The time of the start is as good a seed as any: queue pairs of a process that is restarted get other PSNs.
    let seed = now().0.unsigned_abs();
    let (operations, left_out) = Operations::open(observer, nics, &wanted.peers, wanted.interval, seed);
    for error in left_out {
        status!("RDMA operations are not measured: {error}");
    }
    if !operations.has_devices() {
        return Ok(None);
    }
    let (send, rows) = channel();
    let mut operating = Thread {
        operations,
        observer: observer.to_owned().into(),
        member,
        rows: send,
        problems: BTreeMap::new(),
    };
    let run = move |ended: Receiver<()>| {
        while ended.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
            operating.step();
        }
    };
    Ok(Some(Operating {
        rows,
        worker: Some(Worker::start("operations", run)?),
        tallies: BTreeMap::new(),
    }))
}

struct Thread {
    operations: Operations,
    observer: Text,
    member: Option<Arc<Member>>,
    rows: Sender<CounterRow>,
    /// What was reported, by NIC and peer.
    problems: BTreeMap<(String, String), String>,
}

impl Thread {
    fn step(&mut self) {
        let received = self.member.as_ref();
        let received = received.map(|member| member.received(|text| Message::parse(text).is_some()));
        for message in received.into_iter().flatten() {
            let Some(parsed) = Message::parse(&message.text) else {
                continue;
            };
            if let Some(reply) = self.operations.receive(&message.agent, parsed) {
                self.send(&message.agent, &reply);
            }
        }
        let turn = self.operations.turn(Instant::now());
        for (peer, message) in &turn.messages {
            self.send(peer, message);
        }
        self.report(&turn);
        for measured in turn.measured {
            // Without a receiver the process ends.
            let _ = self.rows.send(row(&self.observer, measured, now()));
        }
    }

    fn send(&self, peer: &str, message: &Message) {
        if let Some(member) = &self.member {
            member.send_to(peer, message.to_string());
        }
    }

    /// Reports what does not work, once, and again after it worked.
    fn report(&mut self, turn: &Turn) {
        for measured in turn.measured.iter().filter(|measured| measured.latency.is_some()) {
            self.problems.remove(&(measured.nic.clone(), measured.peer.clone()));
        }
        for (nic, peer, why) in &turn.problems {
            let key = (nic.clone(), peer.clone());
            if self.problems.get(&key) != Some(why) {
                status!("RDMA operations from {nic} to {peer} are not measured: {why}");
                self.problems.insert(key, why.clone());
            }
        }
    }
}

fn row(observer: &Text, measured: Measured, time: Time) -> CounterRow {
    let metric = Metric::named("rdma_operation_latency");
    let nanos = measured.latency.map(|latency| latency.as_nanos());
    let nanos = nanos.map(|nanos| u64::try_from(nanos).unwrap_or(u64::MAX));
    let driver = Driver::of_device(&measured.device);
    CounterRow {
        observer: observer.clone(),
        time,
        time_ns: time.0,
        device: measured.device.into(),
        port: Some(measured.port.into()),
        netdev: Some(measured.nic.into()),
        driver: driver.map_or("", Driver::name).into(),
        source: "operation".into(),
        name: format!("{} {}", measured.verb.name(), measured.address).into(),
        metric: metric.map(|metric| metric.name.into()),
        dimension: metric.map(|metric| metric.dimension.name().into()),
        level: metric.map(|metric| metric.level.name().into()),
        sign: metric.map(|metric| metric.sign.name().into()),
        kind: Kind::Gauge.name().into(),
        value: nanos.map(|nanos| nanos as f64),
        unit: metric.map_or("", |metric| metric.unit.name()).into(),
        raw_value: nanos.and_then(|nanos| i64::try_from(nanos).ok()),
        text: Some(measured.peer.into()),
        event: nanos.is_none().then(|| Text::from_static("failed")),
        ..CounterRow::default()
    }
}
