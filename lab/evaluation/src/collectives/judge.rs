//! Runs a case, and judges what each method finds (§IV-A of the paper).

use super::cases::{Case, Class};
use super::methods::Method;
use rocescope_collective::analysis::{Analysis, analyze};
use rocescope_collective::causes::Kind;
use rocescope_collective::steps::{Builder, FlowKey};
use rocescope_collective::telemetry::{Source, Telemetry};
use rocescope_fabric::packets::{Collected, Outcome, Watch, run};
use std::collections::BTreeMap;

/// How right a method is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All flows, or the port where the pauses begin.
    Right,
    /// Some flows only, or pauses without their beginning.
    Partial,
    /// Nothing.
    Missed,
}

/// What a method made of a case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Score {
    pub(super) verdict: Verdict,
    /// Ports that are named as the root of pauses and are not.
    pub(super) wrong_roots: usize,
    pub(super) polls: u64,
    pub(super) telemetry_bytes: u64,
    pub(super) wire_bytes: u64,
}

/// What came of a case.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) scores: Vec<Score>,
    /// Flows of the case that never stood in a queue with the collective.
    pub(super) never_met: usize,
    /// How long the collective took.
    pub(super) took_ns: i64,
    pub(super) events: u64,
}

/// A case that ran under all methods.
pub(super) struct Ran {
    pub(super) outcome: Outcome,
    /// Flows of the case that stood in a queue with the collective.
    pub(super) met: Vec<FlowKey>,
}

impl Ran {
    /// Runs a case under all methods; `None` if it is none: no other flow meets the collective, or no pause reaches it.
    pub(super) fn of(case: &Case, methods: &[Method], scale: u64) -> Option<Self> {
        let scenario = &case.scenario;
        let ranks = &scenario.collective.ranks;
        let rtt_ns = |rank: usize| {
            let to = ranks[(rank + 1) % ranks.len()];
            let path = scenario
                .network
                .route(ranks[rank], to, scenario.collective.src_ports[rank], scenario.seed);
            scenario.settings.base_rtt_ns(path.len())
        };
        let rtts_ns: Vec<i64> = (0..ranks.len()).map(rtt_ns).collect();
        let mut watches: Vec<Box<dyn Watch>> = methods.iter().map(|method| method.watch(&rtts_ns, scale)).collect();
        let mut watches: Vec<&mut dyn Watch> = watches.iter_mut().map(|watch| &mut **watch as &mut dyn Watch).collect();
        let outcome = run(scenario, &mut watches);
        assert_eq!(outcome.dropped, 0, "the headroom holds");
        assert!(outcome.completed, "the collective ends");
        let met: Vec<FlowKey> = scenario
            .background
            .iter()
            .zip(&outcome.met)
            .filter(|(_, met)| **met)
            .map(|(flow, _)| case.key(flow))
            .collect();
        let is_case = match case.class {
            Class::Contention | Class::Incast => !met.is_empty(),
            Class::Storm | Class::Backpressure => outcome.halted > 0,
            Class::Healthy => true,
        };
        is_case.then_some(Self { outcome, met })
    }

    /// What the analyzer of a method makes of what it collected.
    pub(super) fn analysis(&self, collected: &Collected, method: Method) -> Analysis {
        let mut builder = Builder::default();
        for row in &self.outcome.steps {
            builder.add(row);
        }
        analyze(builder.finish(), &kept(collected, method))
    }
}

/// Judges all methods over a case; `None` if it is none.
pub(super) fn judge(case: &Case, methods: &[Method], scale: u64) -> Option<Judged> {
    let ran = Ran::of(case, methods, scale)?;
    let scores = methods.iter().zip(&ran.outcome.collected).map(|(method, collected)| {
        let (verdict, wrong_roots) = verdict(case, &ran.met, &ran.analysis(collected, *method));
        Score {
            verdict,
            wrong_roots,
            polls: collected.polls,
            telemetry_bytes: collected.telemetry_bytes,
            wire_bytes: collected.wire_bytes,
        }
    });
    Some(Judged {
        scores: scores.collect(),
        never_met: case.scenario.background.len() - ran.met.len(),
        took_ns: ran.outcome.end_ns,
        events: ran.outcome.events,
    })
}

/// The reports that the method's analyzer keeps.
fn kept(collected: &Collected, method: Method) -> Telemetry {
    let mut telemetry = collected.rows[..].telemetry();
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    telemetry.reports.retain(|report| {
        let before = last.insert(report.switch.to_string(), report.time_ns);
        before.is_none_or(|before| report.time_ns - before >= method.kept_ns())
    });
    telemetry
}

fn verdict(case: &Case, met: &[FlowKey], analysis: &Analysis) -> (Verdict, usize) {
    let of_pauses = |kind: Kind| !matches!(kind, Kind::FlowContention | Kind::LoadImbalance | Kind::RoutingLoop);
    let pauses = || analysis.causes.iter().filter(move |cause| of_pauses(cause.kind));
    let at_root = |cause: &&rocescope_collective::causes::Cause| {
        case.root
            .as_ref()
            .is_some_and(|(switch, port)| cause.port.switch == *switch && cause.port.port == *port)
    };
    match case.class {
        Class::Contention | Class::Incast | Class::Healthy => {
            let named = |flow: &FlowKey| {
                analysis.contributors.iter().any(|(other, _)| other == flow)
                    || analysis.causes.iter().any(|cause| cause.flows.contains(flow))
            };
            let found = met.iter().filter(|flow| named(flow)).count();
            let verdict = match found {
                _ if found == met.len() => Verdict::Right,
                0 => Verdict::Missed,
                _ => Verdict::Partial,
            };
            (
                verdict,
                if case.class == Class::Healthy {
                    analysis.causes.len()
                } else {
                    0
                },
            )
        }
        Class::Storm | Class::Backpressure => {
            let is_right = |kind: Kind| match case.class {
                Class::Storm => kind == Kind::PfcStorm,
                _ => matches!(kind, Kind::Incast | Kind::PfcBackpressure),
            };
            let right = pauses().filter(at_root).any(|cause| is_right(cause.kind));
            let wrong_roots = pauses().filter(|cause| !at_root(cause)).count();
            let verdict = match (right, pauses().next()) {
                (true, _) => Verdict::Right,
                (false, Some(_)) => Verdict::Partial,
                (false, None) => Verdict::Missed,
            };
            (verdict, wrong_roots)
        }
    }
}
