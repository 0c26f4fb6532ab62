//! The faults that counters of hosts and captured traffic show.

use super::gathered::{Gathered, Settings};
use crate::Error;
use crate::hosts::diagnosis;
use rocescope_diagnose::hosts;
use rocescope_diagnose::incidents::faults::{is_fault, is_known_of_a_sample, without_counters};
use rocescope_diagnose::incidents::{captured, convert};
use rocescope_model::human::plural;
use rocescope_model::{CounterRow, Row};

pub(super) fn add(settings: &Settings, gathered: &mut Gathered) -> Result<(), Error> {
    let found = diagnosis::open(&settings.dataset, settings.time)?;
    if diagnosis::rows(&found) == 0 {
        return Ok(());
    }
    let has_counters = found.row_count(CounterRow::TABLE.name) > 0;
    let window_ns = match has_counters {
        true => hosts::Settings::default().window_ns,
        false => captured::WINDOW_NS,
    };
    let Some(document) = diagnosis::diagnose(&found, settings.time, window_ns, &settings.names, None)? else {
        return Ok(());
    };
    let is_sampled = gathered.sampled_one_of.is_some();
    let verdicts = document.verdicts.iter();
    let verdicts = verdicts.filter(|verdict| !is_sampled || is_known_of_a_sample(verdict));
    if !has_counters {
        let (faults, note) = without_counters(verdicts);
        gathered.incidents.extend(faults);
        gathered.notes.extend(note);
    } else {
        let faults = verdicts.filter(|verdict| is_fault(verdict));
        gathered.incidents.extend(faults.map(convert::host));
        gathered
            .judged
            .push(format!("counters of {}", plural(document.counts.ports, "port")));
        let unknown = document.unknown.iter().map(|unknown| {
            let places = unknown.places.join(", ");
            let of = if places.is_empty() {
                String::new()
            } else {
                format!(" of {places}")
            };
            format!("unknown: {}{of}: {}", unknown.what, unknown.reason)
        });
        gathered.notes.extend(unknown);
    }
    Ok(())
}
