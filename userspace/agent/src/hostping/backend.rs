//! What runs the tests.

use super::measured;
use super::settings::{HostpingSettings, LoopbackBackend};
use crate::error::{AgentError, Result, ensure};
use rocescope_diagnose::hostping::simulated::Host;
use rocescope_diagnose::hostping::{Matrix, Topology};
use rocescope_probe::loopback::modeled::Modeled;
use rocescope_probe::loopback::{Backend, Plan};

/// A backend that a thread may take along.
pub(super) type Boxed = Box<dyn Backend + Send>;

/// Others' measurements, if they are to be replayed.
pub(super) fn replayed(settings: &HostpingSettings, topology: &Topology) -> Result<Option<Matrix>> {
    ensure!(
        (settings.backend == LoopbackBackend::Replay) != settings.replay.is_empty(),
        "--backend replay needs --replay FILE, and only that does"
    );
    ensure!(
        settings.backend == LoopbackBackend::Simulated || settings.slow.is_empty(),
        "--slow is for --backend simulated"
    );
    let matrix = (!settings.replay.is_empty()).then(|| measured::one(&settings.replay, None, topology));
    matrix.transpose()
}

/// Opens the backend for a plan.
pub(super) fn open(
    settings: &HostpingSettings,
    topology: &Topology,
    plan: &Plan,
    replayed: Option<Matrix>,
) -> Result<Boxed> {
    match (settings.backend, replayed) {
        (LoopbackBackend::Verbs, _) => verbs(plan),
        (LoopbackBackend::Replay, matrix) => Ok(Box::new(Modeled::new(matrix.unwrap_or_default()))),
        (LoopbackBackend::Simulated, _) => {
            let host = simulated(settings, topology)?;
            // With counters, the time is that in which they grow.
            Ok(match settings.counters_root {
                Some(_) => Box::new(Modeled::paced(host)),
                None => Box::new(Modeled::new(host)),
            })
        }
    }
}

fn simulated(settings: &HostpingSettings, topology: &Topology) -> Result<Host> {
    let mut host = Host::healthy(topology.clone());
    for slow in &settings.slow {
        let [a, b] = &slow.ends;
        let ends = topology.find(a).zip(topology.find(b));
        let link = ends.and_then(|(a, b)| {
            let is = |ends: (usize, usize)| ends == (a, b) || ends == (b, a);
            topology.links.iter().position(|link| is((link.a, link.b)))
        });
        let link =
            link.ok_or_else(|| AgentError::Refused(format!("--slow: the topology has no link between {a} and {b}")))?;
        host = host.with(link, slow.share);
    }
    Ok(host)
}

#[cfg(feature = "verbs")]
fn verbs(plan: &Plan) -> Result<Boxed> {
    use rocescope_host::pci::near_processors;
    use rocescope_probe::loopback::verbs::Verbs;
    use std::path::Path;

    let mut nics: Vec<&String> = plan.pairs.iter().map(|pair| &pair.nic).collect();
    nics.dedup();
    let near = |nic: &String| (nic.clone(), near_processors(Path::new("/sys"), nic));
    Ok(Box::new(Verbs::open(nics.into_iter().map(near))?))
}

#[cfg(not(feature = "verbs"))]
fn verbs(_: &Plan) -> Result<Boxed> {
    Err(AgentError::Refused(
        "this rocescope was built without verbs (`cargo build --release --features verbs`, which requires cmake and libclang); --backend replay takes what perftest measured"
            .to_owned(),
    ))
}
