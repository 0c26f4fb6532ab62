//! The incidents of collectives that a tap sees: what made them slow, from their steps and their connections together.

use super::{STRAGGLERS, ring, settings, steps};
use crate::generated;
use crate::incidents::judged::{Judged, Planted, Run};
use crate::table::Size;
use rocescope_collective::analysis::analyze;
use rocescope_collective::incidents;
use rocescope_collective::telemetry::Telemetry;
use rocescope_diagnose::incidents::{Captured, Incident, Wire, join};
use rocescope_generate::truth::StragglerTruth;

pub(crate) fn runs(size: Size) -> Vec<Run> {
    let seeds = size.choose(super::SEEDS, super::ALL_SEEDS);
    let all = STRAGGLERS
        .into_iter()
        .flat_map(|(kind, keys)| (1..=seeds).map(move |seed| (kind, keys, seed)));
    all.map(|(kind, keys, seed)| Run::new(format!("{kind} seed {seed}"), move || judge(keys, seed)))
        .collect()
}

fn judge(straggler: &str, seed: u64) -> Judged {
    let (mut captured, mut rows) = (Captured::default(), Vec::new());
    let truth = generated::capture(&ring("", straggler), seed, settings(), |mut window| {
        captured.rows(&window);
        rows.append(&mut window.steps);
    });
    let mut found = captured.document().incidents;
    found.extend(incidents::of(&analyze(steps(&rows), &Telemetry::default())));
    let planted: Vec<Planted<'_>> = truth
        .stragglers
        .iter()
        .map(|planted| -> Planted<'_> { (format!("{planted:?}"), Box::new(|one| is_it(planted, one))) })
        .collect();
    Judged::of(&planted, join(found, &Wire::default()))
}

fn is_it(planted: &StragglerTruth, incident: &Incident) -> bool {
    let place = match planted.dst_host {
        Some(to) => format!("{} > {to}", planted.host),
        None => planted.host.to_string(),
    };
    // Where the tap sees the losses, they are the cause.
    let class = match planted.kind {
        "lossy_qp" => "network_loss",
        kind => kind,
    };
    incident.class == class && incident.place.name == place
}
