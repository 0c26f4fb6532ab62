//! Latencies of answers: histograms, allocated with the first samples.

use alloc::boxed::Box;
use rocescope_sketches::Quantiles;

/// The latencies of the requests of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies {
    /// From the last packet of a request to the ACK with its PSN: the part of the round trip downstream of the tap.
    pub(crate) rtt: GatheredHistogram,
    /// From the first packet of a message to the answer that completes it.
    pub(crate) completion: GatheredHistogram,
    /// The two rare ones.
    others: Option<Box<RareLatencies>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct RareLatencies {
    /// From a READ or atomic request to the first packet of its response.
    pub(crate) response: Quantiles,
    /// From a NAK to the first packet retransmitted for it.
    pub(crate) reaction: Quantiles,
}

impl Latencies {
    /// The rare histograms, to add a sample.
    pub(crate) fn rare_mut(&mut self) -> &mut RareLatencies {
        self.others.get_or_insert_default()
    }

    /// The rare histograms, if any.
    pub(crate) fn rare(&self) -> Option<&RareLatencies> {
        self.others.as_deref()
    }

    /// Bytes that they have allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        let rare = self.others.as_ref();
        self.rtt.heap_bytes()
            + self.completion.heap_bytes()
            + rare.map_or(0, |rare| {
                size_of::<RareLatencies>() + rare.response.heap_bytes() + rare.reaction.heap_bytes()
            })
    }

    /// Answers passed this much earlier than their times say. The histograms keep what they have.
    pub(crate) const fn shorten(&mut self, by_ns: u64) {
        self.rtt.shorten(by_ns);
        self.completion.shorten(by_ns);
    }

    /// The smallest round trip seen.
    pub(crate) fn min_rtt_ns(&self) -> Option<u64> {
        self.rtt.min()
    }

    /// The round trip that 99 % do not exceed; the largest of fewer than 100.
    pub(crate) fn usual_rtt_ns(&self) -> Option<u64> {
        self.rtt.percentile_99()
    }

    /// The largest round trip seen.
    pub(crate) fn max_rtt_ns(&self) -> Option<u64> {
        self.rtt.max()
    }
}

/// Samples collected before they are added to the histogram.
const GATHERED: usize = 5;

/// A histogram and samples to add: with 100,000 directions no histogram is in the CPU cache, so several samples share
/// one visit. The result does not depend on when they are added. 40 bytes.
#[derive(Clone, Debug)]
pub(crate) struct GatheredHistogram {
    gathered: [u32; GATHERED],
    count: u8,
    /// The minimum of all samples below 4.3 s; the histogram has the others.
    min: u32,
    max: u32,
    histogram: Option<Box<Quantiles>>,
}

impl Default for GatheredHistogram {
    fn default() -> Self {
        Self {
            gathered: [0; GATHERED],
            count: 0,
            min: u32::MAX,
            max: 0,
            histogram: None,
        }
    }
}

impl GatheredHistogram {
    fn heap_bytes(&self) -> usize {
        let histogram = self.histogram.as_ref();
        histogram.map_or(0, |histogram| size_of::<Quantiles>() + histogram.heap_bytes())
    }

    #[inline]
    pub(crate) fn add(&mut self, ns: u64) {
        self.add_answered(ns, false);
    }

    /// Adds a sample; [`max`](Self::max) leaves out one that `is_repaired`: that waited for the repeat of an earlier packet.
    #[inline]
    pub(crate) fn add_answered(&mut self, ns: u64, is_repaired: bool) {
        let short = u32::try_from(ns).unwrap_or(u32::MAX);
        self.min = self.min.min(short);
        if short > self.max && !is_repaired {
            self.max = short;
        }
        match self.gathered.get_mut(self.count as usize) {
            Some(slot) if short < u32::MAX => {
                *slot = short;
                self.count += 1;
            }
            _ => self.pour(ns),
        }
    }

    /// Adds the collected samples and one more to the histogram.
    #[cold]
    #[inline(never)]
    fn pour(&mut self, ns: u64) {
        let mut histogram = self.histogram.take().unwrap_or_default();
        for gathered in self.gathered() {
            histogram.add(gathered);
        }
        histogram.add(ns);
        self.count = 0;
        self.histogram = Some(histogram);
    }

    fn gathered(&self) -> impl Iterator<Item = u64> {
        let gathered = self.gathered.iter().take(self.count as usize);
        gathered.map(|ns| u64::from(*ns))
    }

    /// The shortest and the longest sample were longer than the others will be.
    const fn shorten(&mut self, by_ns: u64) {
        if by_ns < u32::MAX as u64 && self.min < u32::MAX {
            self.min = self.min.saturating_sub(by_ns as u32);
            if self.max < u32::MAX {
                self.max = self.max.saturating_sub(by_ns as u32);
            }
        }
    }

    #[inline]
    pub(crate) fn min(&self) -> Option<u64> {
        if self.min < u32::MAX {
            return Some(u64::from(self.min));
        }
        self.histogram.as_ref().and_then(|times| times.min())
    }

    /// The longest sample that did not wait for a repeat.
    pub(crate) fn max(&self) -> Option<u64> {
        if self.max == u32::MAX {
            return self.histogram.as_ref().and_then(|times| times.max());
        }
        self.min().map(|_| u64::from(self.max))
    }

    /// The 99th percentile of the samples in the histogram, which lacks at most the last five; the maximum of fewer than
    /// 100.
    fn percentile_99(&self) -> Option<u64> {
        let histogram = self.histogram.as_ref().filter(|times| times.samples() >= 100);
        histogram.map_or_else(|| self.max(), |times| times.quantile(0.99))
    }

    /// The number of samples.
    pub(crate) fn samples(&self) -> u64 {
        let histogram = self.histogram.as_ref();
        u64::from(self.count) + histogram.map_or(0, |times| times.samples())
    }

    /// The histogram of all samples; `None` without any.
    pub(crate) fn all(&self) -> Option<Quantiles> {
        let histogram = self.histogram.as_deref();
        if self.count == 0 {
            return histogram.cloned();
        }
        let mut all = histogram.cloned().unwrap_or_default();
        self.gathered().for_each(|ns| all.add(ns));
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::GatheredHistogram;
    use proptest::prelude::*;
    use rocescope_sketches::Quantiles;

    proptest! {
        #[test]
        fn collecting_samples_changes_nothing(
            samples in proptest::collection::vec(prop_oneof![0u64..1 << 20, any::<u64>(), 0xffff_fff0u64..0x1_0000_000f], 0..400),
        ) {
            let (mut times, mut histogram) = (GatheredHistogram::default(), Quantiles::default());
            for sample in samples {
                times.add(sample);
                histogram.add(sample);
                prop_assert_eq!((times.min(), times.max()), (histogram.min(), histogram.max()));
                let all = times.all();
                prop_assert_eq!(all.as_ref(), Some(&histogram));
            }
        }
    }
}
