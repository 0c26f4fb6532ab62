//! Hostping's model of the latency of a loopback test: `T_proc + Lat_host + size / BW_host`.

use alloc::format;
use alloc::string::String;

/// The parameters of the model for one NIC and endpoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// `T_proc + Lat_host` in microseconds: what a message without bytes takes. One path cannot tell the two apart:
    /// `T_proc` is the same for all endpoints of a NIC, so that the difference between two endpoints is that of
    /// `Lat_host`.
    pub base_us: f64,
    /// `BW_host` in Gbit/s; infinite if latency does not grow with size.
    pub bandwidth_gbps: f64,
    /// Largest deviation of a measured latency from the model, as a share of it.
    pub deviation_ratio: f64,
}

impl Fit {
    /// The latency that the model predicts, in microseconds.
    #[must_use]
    pub fn latency_us(&self, bytes: f64) -> f64 {
        self.base_us + bytes * 8.0 / (self.bandwidth_gbps * 1e3)
    }

    /// As text.
    #[must_use]
    pub fn text(&self) -> String {
        format!(
            "T_proc + Lat_host {:.3} us, BW_host {:.1} Gbit/s, within {:.1} %",
            self.base_us,
            self.bandwidth_gbps,
            self.deviation_ratio * 100.0
        )
    }
}

/// Fits latencies in microseconds by size in bytes. Deviations count relative to the latency: otherwise the largest
/// sizes alone would determine the base. None with fewer than three sizes, or if latency falls with size.
#[must_use]
pub fn fit(by_size: &[(u64, f64)]) -> Option<Fit> {
    let (mut weights, mut sizes, mut latencies, mut squares, mut products) = (0.0, 0.0, 0.0, 0.0, 0.0);
    #[expect(clippy::cast_precision_loss, reason = "sizes of messages are below 2^53")]
    let points = || {
        by_size
            .iter()
            .map(|(size, latency)| (*size as f64, *latency))
            .filter(|(_, latency)| *latency > 0.0)
    };
    for (size, latency) in points() {
        let weight = 1.0 / (latency * latency);
        weights += weight;
        sizes += weight * size;
        latencies += weight * latency;
        squares += weight * size * size;
        products += weight * size * latency;
    }
    let scale = weights * squares - sizes * sizes;
    if points().count() < 3 || scale <= 0.0 {
        return None;
    }
    let slope = (weights * products - sizes * latencies) / scale;
    let base_us = (latencies - slope * sizes) / weights;
    if slope < 0.0 || base_us < 0.0 {
        return None;
    }
    let mut fit = Fit {
        base_us,
        // Microseconds a byte to Gbit/s.
        bandwidth_gbps: 8.0 / (slope * 1e3),
        deviation_ratio: 0.0,
    };
    let deviation = points().map(|(size, latency)| (fit.latency_us(size) / latency - 1.0).abs());
    fit.deviation_ratio = deviation.fold(0.0, f64::max);
    Some(fit)
}

#[cfg(test)]
mod tests {
    use super::fit;
    use alloc::vec::Vec;

    fn model(base: f64, gbps: f64, noise: f64) -> Vec<(u64, f64)> {
        let sizes = (1..24).map(|power| 1u64 << power);
        let sign = |size: u64| {
            if size.trailing_zeros().is_multiple_of(2) {
                1.0
            } else {
                -1.0
            }
        };
        sizes
            .map(|size| {
                (
                    size,
                    (base + size as f64 * 8.0 / (gbps * 1e3)) * (1.0 + sign(size) * noise),
                )
            })
            .collect()
    }

    #[test]
    fn the_parameters_of_a_path_come_back() {
        for (base, gbps) in [(2.5, 197.9), (3.5, 72.0), (40.0, 0.9)] {
            let exact = fit(&model(base, gbps, 0.0)).unwrap();
            assert!((exact.base_us / base - 1.0).abs() < 1e-6, "{exact:?}");
            assert!((exact.bandwidth_gbps / gbps - 1.0).abs() < 1e-6, "{exact:?}");
            let rough = fit(&model(base, gbps, 0.02)).unwrap();
            assert!((rough.base_us / base - 1.0).abs() < 0.02, "{rough:?}");
            assert!((rough.bandwidth_gbps / gbps - 1.0).abs() < 0.02, "{rough:?}");
            assert!(rough.deviation_ratio < 0.05);
        }
    }

    #[test]
    fn two_sizes_or_a_falling_latency_give_no_model() {
        assert_eq!(fit(&[(2, 1.0), (4, 2.0)]), None);
        assert_eq!(fit(&[(2, 3.0), (4_000_000, 2.0), (8_000_000, 1.0)]), None);
        assert_eq!(fit(&[(64, 1.0), (64, 1.0), (64, 1.0)]), None);
    }
}
