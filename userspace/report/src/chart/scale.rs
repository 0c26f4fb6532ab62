//! Round numbers for axes, and their units.

use rocescope_model::Unit;

/// An axis from 0 to a round number, with round numbers between.
#[derive(Debug, PartialEq)]
pub(super) struct Linear {
    /// The upper end.
    pub(super) end: f64,
    /// The tick values, including 0 and the end.
    pub(super) ticks: Vec<f64>,
}

impl Linear {
    /// Creates an axis with about `count` steps of 1, 2 or 5 times a power of ten, up to `greatest` or just above.
    pub(super) fn to(greatest: f64, count: f64) -> Self {
        let greatest = if greatest.is_finite() && greatest > 0.0 {
            greatest
        } else {
            1.0
        };
        let rough = greatest / count;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(10.0 * power);
        let steps = (greatest / step - 1e-9).ceil().clamp(1.0, 100.0);
        let ticks = (0..=steps as u32).map(|at| f64::from(at) * step);
        Self {
            end: steps * step,
            ticks: ticks.collect(),
        }
    }
}

/// Returns the divisor for numbers up to `greatest`, and the unit of the result: `(1e6, "Mbit/s")`.
pub(super) fn prefix(unit: Unit, greatest: f64) -> (f64, &'static str) {
    let steps: &[(f64, &str)] = match unit {
        Unit::BitsPerSecond => &[
            (1.0, "bit/s"),
            (1e3, "kbit/s"),
            (1e6, "Mbit/s"),
            (1e9, "Gbit/s"),
            (1e12, "Tbit/s"),
        ],
        Unit::PacketsPerSecond => &[
            (1.0, "packets/s"),
            (1e3, "thousand packets/s"),
            (1e6, "million packets/s"),
            (1e9, "billion packets/s"),
        ],
        Unit::Bytes => &[
            (1.0, "B"),
            (1_024.0, "KiB"),
            (1_048_576.0, "MiB"),
            (1_073_741_824.0, "GiB"),
            (1_099_511_627_776.0, "TiB"),
            (1_125_899_906_842_624.0, "PiB"),
        ],
        Unit::Nanoseconds => &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")],
        Unit::Ratio => &[(0.01, "%")],
        _ => &[(1.0, ""), (1e3, "thousand"), (1e6, "million"), (1e9, "billion")],
    };
    let fits = steps.iter().rev().find(|(factor, _)| greatest >= *factor);
    fits.or(steps.first()).copied().unwrap_or((1.0, ""))
}

/// Formats a number of an axis with as many decimals as it needs.
pub(super) fn label(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Linear, label, prefix};
    use rocescope_model::Unit;

    #[test]
    fn axes_end_at_round_numbers_above_the_greatest() {
        for greatest in [0.001, 0.3, 1.0, 7.0, 9.99, 10.0, 10.01, 99.0, 12_345.0, 4e11] {
            let axis = Linear::to(greatest, 4.0);
            assert!(axis.end >= greatest * 0.999_999 && axis.end <= greatest * 2.1);
            assert!((3..=7).contains(&axis.ticks.len()), "{axis:?}");
        }
        assert_eq!(Linear::to(10.0, 4.0).ticks, [0.0, 5.0, 10.0]);
        assert_eq!(Linear::to(0.0, 4.0).end, 1.0);
        assert_eq!(Linear::to(f64::NAN, 4.0).end, 1.0);
    }

    #[test]
    fn units_fit_their_numbers() {
        assert_eq!(prefix(Unit::BitsPerSecond, 9.0e6), (1e6, "Mbit/s"));
        assert_eq!(prefix(Unit::BitsPerSecond, 0.0), (1.0, "bit/s"));
        assert_eq!(prefix(Unit::Bytes, 2_000.0), (1_024.0, "KiB"));
        assert_eq!(label(2.5), "2.5");
        assert_eq!(label(0.30000000000000004), "0.3");
        assert_eq!(label(20.0), "20");
    }
}
