//! Pauses (PFC) that the NICs of hosts count: what a host sent to its switch, and what it received.
//!
//! | metric | meaning |
//! |---|---|
//! | `tx_pause_duration`, `tx_pause_frames` | the host paused its switch: it cannot take what arrives |
//! | `rx_pause_duration`, `rx_pause_frames` | the switch paused the host: a queue beyond it is full |
//!
//! The counters of a port are read every few seconds, so it is unknown when between two reads it was paused.

use super::{HostPause, Source, Telemetry};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::CounterRow;

/// Rows of `counters`. Needed are those of the metrics above and of `addresses`; others are ignored.
#[derive(Debug, Clone, Copy)]
pub struct Counters<'a>(pub &'a [CounterRow]);

/// Host, device and port.
type Place = (String, String, Option<u16>);

impl Counters<'_> {
    /// Whether a metric is one of those that count.
    #[must_use]
    pub fn need(metric: &str) -> bool {
        metric == "addresses" || direction(metric).is_some()
    }
}

/// Whether a metric is about pauses that the host sent, and whether it is their time.
fn direction(metric: &str) -> Option<(bool, bool)> {
    Some(match metric {
        "tx_pause_duration" => (true, true),
        "tx_pause_frames" => (true, false),
        "rx_pause_duration" => (false, true),
        "rx_pause_frames" => (false, false),
        _ => return None,
    })
}

impl Source for Counters<'_> {
    fn telemetry(&self) -> Telemetry {
        let mut addresses: BTreeMap<Place, Vec<IpAddr>> = BTreeMap::new();
        let mut pauses: BTreeMap<(i64, Place, bool), HostPause> = BTreeMap::new();
        for row in self.0 {
            let place = (row.observer.to_string(), row.device.to_string(), row.port);
            let Some(metric) = row.metric.as_deref() else { continue };
            if metric == "addresses" {
                let text = row.text.as_deref().unwrap_or_default();
                let known = text.split_whitespace().filter_map(|word| word.parse().ok());
                addresses.insert(place, known.collect());
                continue;
            }
            let (Some((is_by_host, is_time)), Some(increase), Some(interval_ns)) = (
                direction(metric),
                row.increase.filter(|increase| *increase > 0),
                row.interval_ns,
            ) else {
                continue;
            };
            let port = row.netdev.clone().unwrap_or_else(|| row.device.clone());
            let pause = pauses
                .entry((row.time_ns, place, is_by_host))
                .or_insert_with(|| HostPause {
                    host: row.observer.clone(),
                    port,
                    addresses: Vec::new(),
                    is_by_host,
                    start_ns: row.time_ns.saturating_sub(interval_ns),
                    end_ns: row.time_ns,
                    paused_ns: None,
                    frames: None,
                });
            // Priorities add up.
            match is_time {
                true => {
                    let ns = increase.saturating_mul(if &*row.unit == "µs" { 1_000 } else { 1 });
                    let ns = i64::try_from(ns).unwrap_or(i64::MAX);
                    pause.paused_ns = Some(pause.paused_ns.unwrap_or(0).saturating_add(ns));
                }
                false => pause.frames = Some(pause.frames.unwrap_or(0).saturating_add(increase)),
            }
        }
        let known = pauses.into_iter().map(|((_, place, _), pause)| HostPause {
            addresses: addresses.get(&place).cloned().unwrap_or_default(),
            ..pause
        });
        Telemetry {
            host_pauses: known.collect(),
            ..Telemetry::default()
        }
    }
}
