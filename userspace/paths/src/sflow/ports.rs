//! What samples say of switches: readings of ports and queues, and dropped packets.

use super::counters::PortCounters;
use super::datagram::QueueSample;
use crate::switch::{Counters, Dropped, Drops, Gauges, Names, Part, Reading, Source};
use rocescope_model::{SwitchDropRow, Text};
use std::collections::HashMap;
use std::net::IpAddr;

/// Queues that are open at a time, and readings that wait, at most.
const MAX_WAITING: usize = 262_144;

/// Switches, as samples show them.
#[derive(Debug, Default)]
pub struct Switches {
    names: Names,
    readings: Vec<Reading>,
    queues: HashMap<(IpAddr, u32, u32), Queue>,
    /// When the queues were passed on.
    since_ns: Option<i64>,
    drops: Drops,
    overflow: u64,
}

/// What the sampled packets found in a queue.
#[derive(Debug, Default)]
struct Queue {
    last_bytes: Option<u64>,
    max_bytes: Option<u64>,
    transit_max_ns: Option<i64>,
}

impl Switches {
    /// Switches with these names, from this time on.
    #[must_use]
    pub fn new(names: Names, now_ns: i64) -> Self {
        Self {
            names,
            since_ns: Some(now_ns),
            ..Self::default()
        }
    }

    /// Takes the counters of a port.
    pub fn port(&mut self, now_ns: i64, switch: IpAddr, index: u32, restarts: u32, read: &PortCounters) {
        if let Some(name) = &read.name {
            self.names.learn(switch, index, name);
        }
        if self.readings.len() >= MAX_WAITING {
            self.overflow += 1;
            return;
        }
        self.readings.push(Reading {
            time_ns: now_ns,
            switch: self.names.switch(switch),
            port: self.names.port(switch, index),
            port_index: Some(index),
            part: Part::Port,
            feed: 0,
            restarts,
            span_ns: None,
            counters: read.counters,
            gauges: read.gauges,
        });
    }

    /// Takes what a sampled packet found in its queue.
    pub fn queue(&mut self, sample: &QueueSample) {
        let key = (sample.switch, sample.port, sample.queue);
        if self.queues.len() >= MAX_WAITING && !self.queues.contains_key(&key) {
            self.overflow += 1;
            return;
        }
        let queue = self.queues.entry(key).or_default();
        if let Some(bytes) = sample.depth_bytes.map(u64::from) {
            queue.last_bytes = Some(bytes);
            queue.max_bytes = queue.max_bytes.max(Some(bytes));
        }
        queue.transit_max_ns = queue.transit_max_ns.max(sample.transit_ns.map(i64::from));
    }

    /// Takes a dropped packet; `rate` is that of the sampling, if it was sampled.
    pub fn dropped(&mut self, now_ns: i64, dropped: Dropped, rate: Option<u32>) {
        self.drops.add(now_ns, dropped, rate);
    }

    /// The rows of the drops since the last call.
    pub fn drops(&mut self, observer: &Text) -> Vec<SwitchDropRow> {
        self.drops.rows(observer, Self::NAME, &self.names)
    }

    /// What is in no row, because too much was open at a time.
    #[must_use]
    pub const fn overflow(&self) -> u64 {
        self.overflow + self.drops.overflow()
    }
}

impl Source for Switches {
    const NAME: &'static str = "sflow";

    const LACKS: &'static [(&'static str, &'static str)] = &[
        ("priority", "its PFC structure adds up all priorities"),
        ("ecn_marked_frames", "no structure has ECN marks"),
        (
            "pausing_ns",
            "its PFC structure does not state the direction of the paused time",
        ),
        (
            "paused_ns",
            "its PFC structure does not state the direction of the paused time",
        ),
        ("fec_corrected", "no structure has FEC"),
        ("fec_uncorrected", "no structure has FEC"),
        ("bit_error_ratio", "no structure has FEC"),
    ];

    fn readings(&mut self, now_ns: i64, take: &mut dyn FnMut(Reading)) {
        self.readings.drain(..).for_each(&mut *take);
        let since_ns = self.since_ns.replace(now_ns);
        let span_ns = since_ns.map_or(0, |since| now_ns.saturating_sub(since).max(0));
        let mut queues: Vec<_> = self.queues.drain().collect();
        queues.sort_by_key(|(key, _)| *key);
        for ((switch, port, number), queue) in queues {
            take(Reading {
                time_ns: now_ns,
                switch: self.names.switch(switch),
                port: self.names.port(switch, port),
                port_index: Some(port),
                part: Part::Queue(number),
                feed: 0,
                restarts: 0,
                span_ns: Some(span_ns),
                counters: Counters::default(),
                gauges: Gauges {
                    queue_bytes: queue.last_bytes,
                    queue_max_bytes: queue.max_bytes,
                    transit_max_ns: queue.transit_max_ns,
                    ..Gauges::default()
                },
            });
        }
    }
}
