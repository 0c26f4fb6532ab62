//! The incidents of the cases.

use super::cases::{Case, Class};
use super::judge::Ran;
use super::methods::Method;
use super::{CASES, SCALE, of_number};
use crate::incidents::judged::{Judged, Planted, Run};
use crate::table::Size;
use rocescope_collective::incidents;
use rocescope_collective::monitor::Settings;
use rocescope_collective::steps::FlowKey;
use rocescope_diagnose::incidents::{Incident, Wire, join};
use rocescope_model::Text;

/// What flows that meet the collective may be called: several to one receiver are an incast.
const CONTENTION: [&str; 2] = ["flow_contention", "incast"];

pub(crate) fn runs(size: Size) -> Vec<Run> {
    let limit = size.choose(CASES, u64::MAX);
    let all = Class::ALL
        .into_iter()
        .flat_map(|class| (0..class.cases().min(limit)).map(move |number| (class, number)));
    all.map(|(class, number)| {
        let name = format!("{} {number}", class.name());
        Run::new(name, move || of_number(number, |seed| judge(class, seed)))
    })
    .collect()
}

/// The scale is the small one in both sizes: what is measured is the join.
fn judge(class: Class, seed: u64) -> Option<Judged> {
    let (case, method) = (Case::draw(class, seed, SCALE), Method::Monitors(Settings::default()));
    let ran = Ran::of(&case, &[method], SCALE)?;
    let analysis = ran.analysis(&ran.outcome.collected[0], method);
    let found = join(incidents::of(&analysis), &Wire::default());
    Some(Judged::of(&planted(&case, &ran.met), found))
}

/// The faults of a case: pauses have a port, an incast the port of its receiver, and flows that cross no port in common
/// contend with the collective each for itself.
fn planted<'a>(case: &'a Case, met: &'a [FlowKey]) -> Vec<Planted<'a>> {
    let at = |classes: &'static [&'static str], (switch, port): (Text, Text)| -> Planted<'a> {
        let place = format!("switch {switch}, port {port}");
        let name = format!("{} at {place}", classes.join(" or "));
        let is_it = move |one: &Incident| classes.contains(&&*one.class) && one.place.name == place;
        (name, Box::new(is_it))
    };
    let root = |classes| case.root.clone().map(|root| at(classes, root)).into_iter().collect();
    match case.class {
        Class::Healthy => Vec::new(),
        Class::Storm => root(&["pfc_storm"]),
        Class::Backpressure => root(&["incast", "pfc_backpressure"]),
        Class::Incast => {
            let last = case.scenario.background.first().and_then(|flow| case.route(flow).pop());
            last.map(|port| at(&["incast"], case.name(port))).into_iter().collect()
        }
        Class::Contention => {
            let groups = case.groups(met).into_iter();
            groups
                .map(|group| -> Planted<'a> {
                    let name = format!("contention of {group:?}");
                    let is_it = move |one: &Incident| {
                        let mut flows = group.iter();
                        CONTENTION.contains(&&*one.class)
                            && flows.any(|flow| one.place.pairs.contains(&(flow.src, flow.dst)))
                    };
                    (name, Box::new(is_it))
                })
                .collect()
        }
    }
}
