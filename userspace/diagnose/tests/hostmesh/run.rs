//! A fabric, its agents, and the analyzer, window by window.

use rocescope_diagnose::hostmesh::{Analyzer, Settings, WindowDiagnosis};
use rocescope_fabric::probing::{Mesh, Names, Probe};
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, FiveTuple, Rails};
use rocescope_model::{PathRow, ProbeRow, Text, Time, VerdictRow};

/// Length of a window.
pub(crate) const WINDOW: i64 = 20_000_000_000;
/// The start of a window and of a pool of ports.
pub(crate) const START: i64 = 1_795_200_000_000_000_000;

pub(crate) struct Run {
    pub(crate) fabric: Fabric,
    pub(crate) mesh: Mesh,
    pub(crate) analyzer: Analyzer,
    names: Names,
    at: i64,
    /// Hosts whose probes do not arrive, from and until when after the start.
    pub(crate) silent: Vec<(&'static str, i64, i64)>,
    /// A NIC of each host from which every probe takes so much longer, in nanoseconds.
    pub(crate) slow_sender: Option<(&'static str, i64)>,
    /// Whether a row of a path has no address: its hop did not answer.
    pub(crate) hides: Option<fn(&PathRow) -> bool>,
    /// What happens to the probes of one class.
    pub(crate) of_class: Option<fn(&Fabric, &Probe, &mut ProbeRow)>,
}

/// Ports have two classes.
pub(crate) const fn dscp(port: u16) -> u8 {
    if port.is_multiple_of(2) { 26 } else { 0 }
}

impl Run {
    pub(crate) fn new(rails: Rails, seed: u64) -> Self {
        Self::with(rails, seed, Settings::default())
    }

    pub(crate) fn with(rails: Rails, seed: u64, settings: Settings) -> Self {
        let fabric = Fabric::new(rails.build().unwrap(), seed);
        let mut analyzer = Analyzer::new(settings, "diagnose").unwrap();
        let topology = &fabric.topology;
        for link in (0..topology.links()).map(rocescope_fabric::LinkId) {
            let (lower, upper) = topology.ends(link);
            analyzer.know(topology.address(link, false), &topology.name(lower));
            analyzer.know(topology.address(link, true), &topology.name(upper));
        }
        Self {
            names: Names::new(&fabric),
            mesh: Mesh {
                seed,
                ..Mesh::default()
            },
            fabric,
            analyzer,
            at: START,
            silent: Vec::new(),
            slow_sender: None,
            hides: None,
            of_class: None,
        }
    }

    /// Adds a permanent fault that begins `after_ns` from now.
    pub(crate) fn fault(&mut self, kind: FaultKind, place: FaultLocation, after_ns: i64) {
        self.fabric.faults.push(Fault {
            kind,
            place,
            from_ns: self.at + after_ns,
            until_ns: i64::MAX,
        });
    }

    /// Traces a flow to another host, as the agent of its sender does.
    pub(crate) fn trace_flow(&mut self, flow: FiveTuple) {
        let hops = self.fabric.trace(flow, self.at);
        for row in self.names.path(&self.fabric, flow, self.at, &hops) {
            self.analyzer.path(&PathRow {
                dst_nic: Text::default(),
                ..row
            });
        }
    }

    /// Runs a window with probes; its traces run at its start.
    pub(crate) fn window(&mut self) -> WindowDiagnosis {
        self.any_window().unwrap()
    }

    /// Runs two windows; what is late is a verdict in the second.
    pub(crate) fn second_window(&mut self) -> WindowDiagnosis {
        let first = self.window();
        assert!(
            first.verdicts.iter().all(|verdict| &*verdict.symptom == "loss"),
            "{:?}",
            lines(&first)
        );
        self.window()
    }

    /// Runs a window; without any probe it may have no diagnosis.
    pub(crate) fn any_window(&mut self) -> Option<WindowDiagnosis> {
        let Self {
            fabric,
            mesh,
            analyzer,
            names,
            at,
            silent,
            slow_sender,
            hides,
            of_class,
        } = self;
        mesh.paths(fabric, *at, |tuple, hops| {
            for mut row in names.path(fabric, tuple, *at, &hops) {
                row.address = row.address.filter(|_| !hides.is_some_and(|hides| hides(&row)));
                analyzer.path(&row);
            }
        });
        mesh.probes(fabric, *at, *at + WINDOW, |probe| {
            let mut row = names.probe(fabric, mesh, &probe);
            if let Some(of_class) = of_class {
                row.dscp = Some(dscp(row.udp_src_port));
                of_class(fabric, &probe, &mut row);
            }
            if let Some((nic, longer_ns)) = slow_sender
                && row.src_nic.as_str() == *nic
            {
                row.network_latency_ns = row.network_latency_ns.map(|ns| ns + *longer_ns);
            }
            let at_ns = row.time_ns - START;
            let is_silent = |(host, from_ns, until_ns): &(&str, i64, i64)| {
                row.observer.as_str() == *host && (*from_ns..*until_ns).contains(&at_ns)
            };
            if !silent.iter().any(is_silent) {
                analyzer.probe(&row);
            }
        });
        *at += WINDOW;
        let mut found = analyzer.advance(Time(*at));
        assert!(found.len() <= 1);
        found.pop()
    }
}

/// Formats each verdict as one line.
pub(crate) fn lines(found: &WindowDiagnosis) -> Vec<String> {
    found.verdicts.iter().map(line).collect()
}

fn line(verdict: &VerdictRow) -> String {
    format!("{} {} {}", verdict.class, verdict.place_kind, verdict.place)
}
