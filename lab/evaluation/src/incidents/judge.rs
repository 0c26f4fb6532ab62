//! A scenario, generated, analyzed and compared with what was planted.

use super::cases::{ALL_TO_ALL, Case};
use super::judged::{Judged, Planted};
use crate::generated;
use rocescope_diagnose::incidents::{Captured, Incident};
use rocescope_pipeline::connections::ConnectionSettings;

/// What a capture of a file reports.
pub(super) fn judge(case: &Case, seed: u64) -> Judged {
    let text = format!("{ALL_TO_ALL}{}", case.groups.concat());
    let mut captured = Captured::default();
    generated::capture(&text, seed, ConnectionSettings::default(), |rows| captured.rows(&rows));
    let planted: Vec<Planted<'_>> = case
        .expected
        .iter()
        .map(|(class, place)| -> Planted<'_> {
            let is_it = move |one: &Incident| one.class == *class && one.place.name == *place;
            (format!("{class} {place}"), Box::new(is_it))
        })
        .collect();
    Judged::of(&planted, captured.document().incidents)
}
