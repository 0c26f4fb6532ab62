//! Rows of `switch_drops`: reports of dropped packets, those of a few seconds together.

use super::Names;
use rocescope_model::{SwitchDropRow, Text, Time};
use std::collections::HashMap;
use std::net::IpAddr;

/// Rows that are open at a time, at most.
const MAX_ROWS: usize = 65_536;

/// A dropped packet that a switch reported.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dropped {
    /// Address of the switch.
    pub switch: IpAddr,
    /// Index of the port at which it arrived.
    pub in_port: Option<u32>,
    /// Index of the port at which it was to leave.
    pub out_port: Option<u32>,
    /// Queue of that port.
    pub queue: Option<u32>,
    /// Why.
    pub reason: Text,
    /// What the switch calls it.
    pub detail: Option<Text>,
    /// Source and destination address, UDP source port, destination queue pair of a RoCEv2 packet.
    pub flow: Option<(IpAddr, IpAddr, u16, u32)>,
}

/// Joins reports.
#[derive(Debug, Default)]
pub struct Drops {
    rows: HashMap<Dropped, Counted>,
    overflow: u64,
}

#[derive(Debug)]
struct Counted {
    first_ns: i64,
    last_ns: i64,
    frames: u64,
    estimated: Option<u64>,
}

impl Drops {
    /// Reports beyond the bound: they are in no row.
    #[must_use]
    pub const fn overflow(&self) -> u64 {
        self.overflow
    }

    /// Adds a report; `rate` is that of the sampling, if the frame was sampled.
    pub fn add(&mut self, now_ns: i64, dropped: Dropped, rate: Option<u32>) {
        if self.rows.len() >= MAX_ROWS && !self.rows.contains_key(&dropped) {
            self.overflow += 1;
            return;
        }
        let counted = self.rows.entry(dropped).or_insert(Counted {
            first_ns: now_ns,
            last_ns: now_ns,
            frames: 0,
            estimated: None,
        });
        counted.last_ns = now_ns;
        counted.frames += 1;
        if let Some(rate) = rate {
            *counted.estimated.get_or_insert(0) += u64::from(rate);
        }
    }

    /// The rows of what was reported since the last call, in the order of time.
    pub fn rows(&mut self, observer: &Text, source: &'static str, names: &Names) -> Vec<SwitchDropRow> {
        let rows = self.rows.drain().map(|(dropped, counted)| SwitchDropRow {
            observer: observer.clone(),
            time: Time(counted.last_ns),
            time_ns: counted.last_ns,
            first_ns: counted.first_ns,
            switch: names.switch(dropped.switch),
            in_port: dropped.in_port.map(|port| names.port(dropped.switch, port)),
            out_port: dropped.out_port.map(|port| names.port(dropped.switch, port)),
            queue: dropped.queue,
            reason: dropped.reason,
            detail: dropped.detail,
            src: dropped.flow.map(|flow| flow.0),
            dst: dropped.flow.map(|flow| flow.1),
            udp_src_port: dropped.flow.map(|flow| flow.2),
            dst_qpn: dropped.flow.map(|flow| flow.3),
            dropped_frames: counted.frames,
            estimated_frames: counted.estimated,
            source: source.into(),
        });
        let mut rows: Vec<SwitchDropRow> = rows.collect();
        rows.sort_by(|a, b| order(a).cmp(&order(b)));
        rows
    }
}

/// Rows of the same time have an order too.
fn order(row: &SwitchDropRow) -> impl Ord + use<'_> {
    let place = (row.in_port.as_deref(), row.out_port.as_deref(), row.queue);
    let flow = (row.src, row.dst, row.udp_src_port, row.dst_qpn);
    (row.time_ns, &*row.switch, place, &*row.reason, flow)
}
