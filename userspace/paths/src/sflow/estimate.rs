//! The packets of a flow, from what several switches sampled of them.
//!
//! Each point on the path samples the same packets, so each gives an estimate of the same number: they are averaged, not
//! added. An estimate counts by the inverse of its sampling rate, which for points of constant rates is the estimate of
//! maximum likelihood, samples / sum of 1 / rate. A point that saw only a part of the packets, such as one of several
//! spines that a leaf sprays over, would lower the mean; so where one point saw more than the mean by more than chance
//! allows, the largest counts alone.

/// What a point sampled of a flow.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Samples {
    pub(super) count: u64,
    /// The sum of the sampling rates: the estimate of the packets.
    packets: f64,
    /// The same with the bytes of frames.
    bytes: f64,
    /// The sum of the squares of the rates.
    squares: f64,
}

/// Packets and bytes of a flow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate {
    pub(super) packets: f64,
    pub(super) bytes: f64,
    /// Standard deviation of `packets`.
    deviation: f64,
}

/// How many standard deviations are beyond chance.
const CHANCE: f64 = 3.0;

impl Samples {
    /// Adds a sampled packet; samples with a rate of 0 are not read.
    pub(super) fn add(&mut self, rate: u32, frame_bytes: u32) {
        let rate = f64::from(rate.max(1));
        self.count += 1;
        self.packets += rate;
        self.bytes += rate * f64::from(frame_bytes);
        self.squares += rate * rate;
    }

    fn estimate(&self) -> Estimate {
        Estimate {
            packets: self.packets,
            bytes: self.bytes,
            // A packet of rate r is sampled with probability 1/r: variance r² (1 - 1/r) a sample.
            deviation: (self.squares - self.packets).max(0.0).sqrt(),
        }
    }
}

impl Estimate {
    /// From the samples of all points; each has some.
    pub(super) fn of(points: &[Samples]) -> Self {
        let mut mean = Self {
            packets: 0.0,
            bytes: 0.0,
            deviation: 0.0,
        };
        let (mut weights, mut variance) = (0.0, 0.0);
        for point in points {
            let one = point.estimate();
            let weight = point.packets / point.squares;
            weights += weight;
            mean.packets += weight * one.packets;
            mean.bytes += weight * one.bytes;
            variance += (weight * one.deviation).powi(2);
        }
        mean.packets /= weights;
        mean.bytes /= weights;
        mean.deviation = variance.sqrt() / weights;
        let estimates = points.iter().map(Samples::estimate);
        let largest = estimates.max_by(|a, b| a.packets.total_cmp(&b.packets)).unwrap_or(mean);
        match largest.packets - mean.packets > CHANCE * largest.deviation.max(mean.deviation) {
            true => largest,
            false => mean,
        }
    }

    /// `packets` is right to this share of it, in 95 of 100 cases.
    pub(super) fn error_percent(&self) -> f64 {
        196.0 * self.deviation / self.packets
    }
}
