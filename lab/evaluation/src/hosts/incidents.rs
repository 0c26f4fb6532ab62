//! The incidents of the scripted runs: what `diagnose` makes of counters and captured connections together.

use super::cause::Cause;
use super::run::play;
use super::script::{Expected, Script};
use super::world::{address, host};
use super::{ALL_SEEDS, SEEDS, run};
use crate::incidents::judged::{Judged, Planted, Run};
use crate::table::Size;
use rocescope_diagnose::hosts::Class;
use rocescope_diagnose::incidents::faults::Faults;
use rocescope_diagnose::incidents::{Incident, Wire, join};

pub(crate) fn runs(size: Size) -> Vec<Run> {
    let seeds = size.choose(SEEDS, ALL_SEEDS);
    let all = Cause::ALL
        .into_iter()
        .flat_map(|cause| (1..=seeds).map(move |seed| (cause, seed)));
    all.map(|(cause, seed)| Run::new(format!("{cause:?} seed {seed}"), move || judge(cause, seed)))
        .collect()
}

fn judge(cause: Cause, seed: u64) -> Judged {
    let mut script = Script::new(cause, seed);
    let (rows, captured, _) = play(&mut script, seed);
    let mut faults = Faults::default();
    faults.note(run::analyze(&rows, &captured));
    let mut wire = Wire::default();
    captured.windows.iter().for_each(|row| wire.window(row));
    captured.events.iter().for_each(|row| wire.event(row));
    captured.connections.iter().for_each(|row| wire.connection(row));
    let mut found = wire.find().incidents;
    found.extend(faults.incidents(Vec::new(), false));
    // A rate that jumps is no fault by itself.
    let class = cause.class().filter(|class| *class != Class::Jitter);
    let planted: Vec<Planted<'_>> = class
        .map(|class| -> Planted<'_> {
            let expected = script.expected.clone();
            let name = format!("{} {expected:?}", class.name());
            let is_it = move |one: &Incident| one.class == class.name() && is_place(expected.as_ref(), one);
            (name, Box::new(is_it))
        })
        .into_iter()
        .collect();
    Judged::of(&planted, join(found, &wire))
}

fn is_place(expected: Option<&Expected>, incident: &Incident) -> bool {
    let place = &incident.place;
    match expected {
        Some(Expected::Host(number)) => place.host.as_deref() == Some(&host(*number)),
        Some(Expected::Ends(src, dst)) => place.src == Some(address(*src)) && place.dst == Some(address(*dst)),
        Some(Expected::Mirror) => place.kind == "mirror",
        None => false,
    }
}
