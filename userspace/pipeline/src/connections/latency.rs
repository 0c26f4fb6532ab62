//! How long answers took: histograms that a direction has once there is a sample.

use alloc::boxed::Box;
use rocescope_sketches::Quantiles;

/// The latencies of the requests of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latency {
    /// From the last packet of a request to the ACK that names its PSN: the part of the round trip
    /// behind the tap.
    pub(crate) rtt: Quantiles,
    /// From a READ or atomic request to the first packet of its response.
    pub(crate) response: Quantiles,
    /// From the first packet of a message to the answer that completes it.
    pub(crate) completion: Quantiles,
    /// From a NAK to the first packet sent again for it.
    pub(crate) reaction: Quantiles,
}

/// The same, boxed: nothing but a pointer before there is a sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies(Option<Box<Latency>>);

impl Latencies {
    pub(crate) fn get(&mut self) -> &mut Latency {
        self.0.get_or_insert_default()
    }

    pub(crate) fn seen(&self) -> Option<&Latency> {
        self.0.as_deref()
    }

    /// The smallest round trip seen.
    pub(crate) fn min_rtt_ns(&self) -> Option<u64> {
        self.0.as_ref().and_then(|latency| latency.rtt.min())
    }

    /// The largest round trip seen.
    pub(crate) fn max_rtt_ns(&self) -> Option<u64> {
        self.0.as_ref().and_then(|latency| latency.rtt.max())
    }
}
