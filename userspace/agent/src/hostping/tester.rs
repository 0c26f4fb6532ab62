//! One run: tests, diagnosis, rows.

use super::backend::{self, Boxed};
use super::settings::HostpingSettings;
use super::traffic::Traffic;
use super::{measured, source};
use crate::error::{AgentError, Result, ensure};
use rocescope_diagnose::hostping::rows::{About, rows};
use rocescope_diagnose::hostping::topology::NodeKind;
use rocescope_diagnose::hostping::{Diagnosis, Judge, Matrix, NicLoad, Rule, Topology};
use rocescope_model::LoopbackRow;
use rocescope_model::human::plural;
use rocescope_probe::Nanos;
use rocescope_probe::loopback::schedule::Alarm;
use rocescope_probe::loopback::{self, Busy, Limits, Load, Outcome, Own, Plan, Shape, Watch};
use rocescope_runtime::clock::now;
use std::fmt;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between the two reads of the counters that show whether the host is idle.
const LOOK: Duration = Duration::from_millis(250);

/// Runs the tests of a host.
pub struct Tester {
    /// The links of the host.
    pub topology: Topology,
    settings: HostpingSettings,
    observer: String,
    backend: Boxed,
    baseline: Option<Matrix>,
    traffic: Traffic,
    /// Whether no other process may test at the same time.
    is_alone: bool,
    begun: Instant,
}

/// A run.
#[derive(Debug)]
pub struct Tested {
    outcome: Outcome,
    /// What was measured.
    pub measured: Matrix,
    loads: Vec<NicLoad>,
    busy: Vec<usize>,
    start_ns: i64,
}

impl Tested {
    /// How it ended, in a few lines.
    #[must_use]
    pub fn text(&self) -> String {
        let outcome = &self.outcome;
        let mut text = format!(
            "{:.2} s of tests, {:.2} GB written",
            outcome.time.0 as f64 / 1e9,
            outcome.bytes() as f64 / 1e9
        );
        if let Some(why) = outcome.end.text() {
            text += &format!("; {why}; {} left out", plural(outcome.untested as u64, "test"));
        }
        let mut failures: Vec<(String, Vec<String>)> = Vec::new();
        for (pair, failure) in &outcome.failures {
            let pair = format!("{} to {}", pair.nic, pair.endpoint);
            let why = failure.to_string();
            match failures.iter_mut().find(|(other, _)| *other == why) {
                Some((_, pairs)) => pairs.push(pair),
                None => failures.push((why, vec![pair])),
            }
        }
        for (why, pairs) in failures {
            text += &format!("\nnot measured: {}: {why}", pairs.join(", "));
        }
        text
    }
}

/// The tests of the chosen NICs and endpoints; on a busy host they are short.
///
/// # Errors
/// One of them does not exist.
pub fn plan(topology: &Topology, settings: &HostpingSettings, is_busy: bool) -> Result<Plan> {
    let shape = if is_busy { Shape::busy() } else { Shape::idle() };
    Plan::new(topology, &settings.nics, &settings.endpoints, shape).map_err(AgentError::Refused)
}

impl fmt::Debug for Tester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tests of {}", self.observer)
    }
}

impl Tester {
    /// Opens everything that a run needs.
    ///
    /// # Errors
    /// What cannot be read, or is refused.
    pub fn open(settings: &HostpingSettings, observer: &str) -> Result<Self> {
        let tester = Self::over(settings, observer, None, |_, plan| backend::open(plan))?;
        Ok(Self {
            is_alone: true,
            ..tester
        })
    }

    /// With another backend than the queue pairs of this host, and counters below `sys` instead of `/sys`.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn over(
        settings: &HostpingSettings,
        observer: &str,
        sys: Option<&Path>,
        open: impl FnOnce(&Topology, &Plan) -> Result<Boxed>,
    ) -> Result<Self> {
        let topology = source::read(&settings.source)?;
        let plan = plan(&topology, settings, settings.force)?;
        let backend = open(&topology, &plan)?;
        let baseline = settings.baseline.as_ref();
        let baseline = baseline.map(|file| measured::one(std::slice::from_ref(file), None, &topology));
        // Applications may use NICs that are not tested: their memory and links are the same.
        let nics: Vec<usize> = topology.of_kind(NodeKind::Nic).collect();
        let traffic = Traffic::new(&topology, &nics, sys);
        Ok(Self {
            baseline: baseline.transpose()?,
            settings: settings.clone(),
            observer: observer.to_owned(),
            begun: Instant::now(),
            topology,
            backend,
            traffic,
            is_alone: false,
        })
    }

    /// The loads since the last call; none before there are two reads of every NIC's counters.
    pub(super) fn look(&mut self) -> Option<Vec<Load>> {
        let loads = self.traffic.look(self.begun.elapsed().into(), &Own::default());
        (!loads.is_empty() && self.traffic.uncounted().is_empty()).then_some(loads)
    }

    /// A counter that calls for tests.
    pub(super) fn alarm(&mut self) -> Option<Alarm> {
        self.traffic.alarm()
    }

    /// Who uses the NICs now.
    ///
    /// # Errors
    /// Nothing counts the traffic of a NIC.
    pub fn busy(&mut self) -> Result<Option<Busy>> {
        let traffic = &mut self.traffic;
        traffic.look(self.begun.elapsed().into(), &Own::default());
        let uncounted = traffic.uncounted();
        ensure!(
            uncounted.is_empty(),
            "nothing counts the traffic of {}, so that nothing shows that the host is idle: --force tests it nevertheless",
            uncounted.join(", ")
        );
        sleep(LOOK);
        Ok(traffic.busy(self.begun.elapsed().into(), &Own::default()))
    }

    /// Runs the tests. If `is_forced`, traffic of others does not end them.
    ///
    /// # Errors
    /// Another process tests this host.
    pub fn test(&mut self, is_forced: bool, is_over: &dyn Fn() -> bool) -> Result<Tested> {
        let plan = plan(&self.topology, &self.settings, is_forced)?;
        let _lock = self.is_alone.then(host_lock).transpose()?;
        self.traffic.begin();
        let limits = Limits {
            time: self.settings.max_time.into(),
            bytes: self.settings.max_bytes,
        };
        let start_ns = now().0;
        let mut watcher = RunWatcher {
            traffic: &mut self.traffic,
            is_forced,
            is_over,
        };
        let outcome = loopback::run(&plan, limits, self.backend.as_mut(), &mut watcher);
        // Short tests end before the first check.
        self.traffic.look(self.backend.now(), &outcome.own);
        let (loads, busy) = self.traffic.of_run();
        let measured = Matrix::of(&outcome.measurements, &self.topology).map_err(AgentError::Refused)?;
        Ok(Tested {
            // What ended the tests was not there during most of them.
            busy: if is_forced { busy } else { Vec::new() },
            outcome,
            measured,
            loads,
            start_ns,
        })
    }

    /// Diagnoses a run.
    #[must_use]
    pub fn diagnose(&self, tested: &Tested) -> Diagnosis {
        let rule: Rule = self.settings.rule;
        let judge = Judge {
            topology: &self.topology,
            baseline: self.baseline.as_ref(),
            rule,
            busy: &tested.busy,
            loads: &tested.loads,
        };
        judge.diagnose(&tested.measured)
    }

    /// The rows of a run.
    #[must_use]
    pub fn rows(&self, tested: &Tested, diagnosis: &Diagnosis) -> Vec<LoopbackRow> {
        let about = About {
            observer: &self.observer,
            start_ns: tested.start_ns,
            length_ns: tested.outcome.time.0,
            loads: &tested.loads,
        };
        rows(&self.topology, &tested.measured, &diagnosis.judgement, &about)
    }

    /// The time of the schedule.
    pub(super) fn now(&self) -> Nanos {
        self.begun.elapsed().into()
    }
}

impl Tested {
    /// Why it ended.
    #[must_use]
    pub const fn end(&self) -> &loopback::End {
        &self.outcome.end
    }
}

/// Watches traffic during a run.
struct RunWatcher<'a> {
    traffic: &'a mut Traffic,
    is_forced: bool,
    is_over: &'a dyn Fn() -> bool,
}

impl Watch for RunWatcher<'_> {
    fn busy(&mut self, now: Nanos, own: &Own) -> Option<Busy> {
        let busy = self.traffic.busy(now, own);
        busy.filter(|_| !self.is_forced)
    }

    fn is_over(&mut self) -> bool {
        (self.is_over)()
    }
}

/// Holds a name that one process of the host has at a time.
fn host_lock() -> Result<UnixListener> {
    let name = SocketAddr::from_abstract_name("rocescope-hostping").map_err(AgentError::IsTested)?;
    UnixListener::bind_addr(&name).map_err(AgentError::IsTested)
}

#[cfg(test)]
mod tests {
    use super::host_lock;
    use crate::error::AgentError;

    #[test]
    fn one_process_of_a_host_tests_at_a_time() {
        let held = host_lock().unwrap();
        assert!(matches!(host_lock(), Err(AgentError::IsTested(_))));
        drop(held);
        host_lock().unwrap();
    }
}
