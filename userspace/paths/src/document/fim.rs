//! The Flow Imbalance Metric in words.

use rocescope_diagnose::paths::Imbalance;

/// A percentage, or why there is none.
#[must_use]
pub fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.1} %"))
}

/// Names the lowest possible FIM, unless it is 0.
#[must_use]
pub fn lower_bound(imbalance: &Imbalance) -> String {
    match imbalance.min_fim_percent {
        Some(min) if min >= 0.05 => format!("; whole flows allow {min:.1} % at best"),
        _ => String::new(),
    }
}
