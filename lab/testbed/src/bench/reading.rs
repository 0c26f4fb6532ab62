//! What opening a day takes: `report` and `diagnose` over the dataset of `bench day`, for `bench all`.

use super::cost::timed;
use super::day;
use super::figure::{Figure, Goal};
use anyhow::Result;
use xtask::product::{build, text};

/// The project's limits.
const SECONDS_MAX: f64 = 2.0;
const MIB_MAX: f64 = 200.0;

pub(super) fn figures() -> Result<Vec<Figure>> {
    let (rocescope, dataset) = (text(&build()?), text(&day::dataset()?));
    let mut figures = Vec::new();
    for name in ["report", "diagnose"] {
        let (seconds, kib) = timed(&rocescope, &[name, &dataset])?;
        let work = format!("{name} over a day of 86,400 windows");
        figures.push(Figure::new(work.clone(), seconds, "s", Goal::AtMost(SECONDS_MAX)));
        figures.push(Figure::new(
            format!("{work}: peak memory"),
            kib / 1_024.0,
            "MiB",
            Goal::AtMost(MIB_MAX),
        ));
    }
    Ok(figures)
}
