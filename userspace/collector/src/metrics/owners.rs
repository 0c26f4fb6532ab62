//! Traffic by owner in the last window: what captured connections of a job, a pod, a unit or a process sent.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use rocescope_diagnose::growth::Sums;
use rocescope_runtime::metrics::page::{counter, gauge};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Owners that have series of their own: those with the most payload in the window. Further ones count as `other`.
pub const MAX_OWNERS: usize = 50;

/// The metrics of owners: the analysis sets windows, the endpoint reads.
#[derive(Clone, Debug, Default)]
pub struct OwnerMetrics(Arc<Mutex<Option<Window>>>);

/// A window that has ended.
#[derive(Debug)]
pub struct Window {
    /// Its length.
    pub length_ns: i64,
    /// Owners, at most [`MAX_OWNERS`] and those that stand for others.
    pub owners: Vec<(String, Sums)>,
    /// Rows of connections that found no room, since the start.
    pub crowded_out: u64,
}

impl Window {
    /// Writes a figure of each owner.
    fn sums(&self, encoder: &mut DescriptorEncoder<'_>, name: &str, text: &str, of: fn(&Sums) -> u64) -> fmt::Result {
        let mut family = encoder.encode_descriptor(name, text, None, MetricType::Gauge)?;
        for (owner, sums) in &self.owners {
            let labels = [("owner", owner.as_str())];
            ConstGauge::new(of(sums) as f64).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

impl OwnerMetrics {
    /// Sets the last window.
    pub fn set(&self, window: Window) {
        *self.lock() = Some(window);
    }

    pub(super) fn encode(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let window = self.lock();
        let Some(window) = &*window else {
            return Ok(());
        };
        let text = "Length of the window of the metrics of owners, in seconds";
        gauge(encoder, "owner_window_seconds", text, window.length_ns as f64 / 1e9)?;
        let text = "Payload that captured connections of the owner sent in the window, in bytes";
        window.sums(encoder, "owner_payload_bytes", text, |sums| sums.payload_bytes)?;
        let text = "Packets of the owner that the fabric lost in the window";
        window.sums(encoder, "owner_fabric_lost_packets", text, |sums| {
            sums.fabric_lost_packets
        })?;
        let text = "Packets that the owner retransmitted in the window";
        window.sums(encoder, "owner_retransmitted_packets", text, |sums| {
            sums.retransmitted_packets
        })?;
        let text =
            "Rows of connections that are missing in the metrics of owners, because there are too many connections";
        counter(encoder, "owner_untracked_rows", text, window.crowded_out)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Window>> {
        // Each change is one assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
