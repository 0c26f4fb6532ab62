//! ECN marks: a packet with congestion experienced (CE) met a queue upstream of the capture.

use super::{Marked, Source, Telemetry};
use crate::steps::FlowKey;
use rocescope_model::FlowRow;

/// Rows of `flows`. Those without marks say nothing.
#[derive(Debug, Clone, Copy)]
pub struct Marks<'a>(pub &'a [FlowRow]);

impl Source for Marks<'_> {
    fn telemetry(&self) -> Telemetry {
        let marked = self.0.iter().filter(|row| row.ecn_ce_packets > 0).map(|row| Marked {
            flow: FlowKey {
                src: row.src,
                dst: row.dst,
                src_port: row.udp_src_port,
            },
            observer: row.observer.clone(),
            start_ns: row.window_start_ns,
            end_ns: row.window_start_ns.saturating_add(row.window_ns),
            packets: row.packets,
            marked: row.ecn_ce_packets,
        });
        Telemetry {
            marks: marked.collect(),
            ..Telemetry::default()
        }
    }
}
