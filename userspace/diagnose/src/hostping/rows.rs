//! Tests as rows of the table `loopback`, and back.

use super::judge::{Judgement, NicLoad};
use super::measured::{Matrix, fit};
use super::topology::{Pcie, Suspicion, Topology, suspicions};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::{LoopbackRow, Text, Time};

/// Between the names of a path.
const JOINT: &str = " > ";
/// Between the ends of a link.
const BETWEEN: &str = " <-> ";
/// Between kind and place of a suspicion.
const AT: &str = ": ";
/// Between suspicions.
const NEXT: &str = "; ";

/// What the rows of a run have in common.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// Name of the host.
    pub observer: &'a str,
    /// Start of the run, in nanoseconds since 1970.
    pub start_ns: i64,
    /// Its length; 0 if unknown.
    pub length_ns: i64,
    /// What the NICs carried besides the tests, where counters were read.
    pub loads: &'a [NicLoad],
}

/// The rows of a run.
#[must_use]
pub fn rows(topology: &Topology, measured: &Matrix, judgement: &Judgement, about: &About<'_>) -> Vec<LoopbackRow> {
    let suspicions = suspicions(topology);
    let row = |test: &super::Test| {
        let (nic, endpoint) = (&topology.nodes[test.nic].name, &topology.nodes[test.endpoint].name);
        let cell = measured.cell(nic, endpoint);
        let fitted = cell.and_then(|cell| fit(&cell.by_size));
        let names: Vec<&str> = test
            .path
            .nodes
            .iter()
            .map(|node| topology.nodes[*node].name.as_str())
            .collect();
        let bps = |gbps: Option<f64>| gbps.map(|gbps| gbps * 1e9);
        let load = about.loads.iter().find(|load| load.nic == test.nic);
        LoopbackRow {
            observer: Text::from(String::from(about.observer)),
            window_start: Time(about.start_ns),
            window_start_ns: about.start_ns,
            window_ns: about.length_ns,
            nic: Text::from(nic.clone()),
            endpoint: Text::from(endpoint.clone()),
            reach: test.path.reach.name().into(),
            path: names.join(JOINT).into(),
            size_bytes: cell.and_then(|cell| cell.size_bytes),
            measured_bps: bps(test.bandwidth_gbps),
            latency_ns: test.latency_us.map(nanoseconds),
            base_ns: fitted.map(|fitted| nanoseconds(fitted.base_us)),
            model_bps: bps(fitted.map(|fitted| fitted.bandwidth_gbps)).filter(|bps| bps.is_finite()),
            baseline_bps: bps(test.expected_gbps),
            baseline_ns: test.expected_us.map(nanoseconds),
            limit_bps: bps(test.limit_gbps),
            affinitive: test.is_affinitive,
            busy: test.is_busy,
            status: test.status.name().into(),
            aliases: Some(topology.nodes[test.nic].aliases.join(" ").into()),
            link_speeds: Some(speeds(topology, &test.path.nodes).into()),
            sent_bps: bps(load.map(|load| load.sent_gbps)),
            received_bps: bps(load.map(|load| load.received_gbps)),
            suspicions: Some(on_path(&suspicions, &names).into()),
        }
    };
    judgement.tests.iter().map(row).collect()
}

/// What the links of a path run at.
fn speeds(topology: &Topology, nodes: &[usize]) -> String {
    let speed = |pair: &[usize]| {
        let link = topology.link_between(pair[0], pair[1]);
        let now = link.and_then(|link| topology.links[link].now);
        now.map_or("-".to_string(), |now| format!("{:.1}", now.gbps))
    };
    let speeds: Vec<String> = nodes.windows(2).map(speed).collect();
    speeds.join(JOINT)
}

/// The suspicions whose places are on a path.
fn on_path(suspicions: &[Suspicion], names: &[&str]) -> String {
    let is_here = |one: &&Suspicion| one.place.split(BETWEEN).all(|name| names.contains(&name));
    let here = suspicions.iter().filter(is_here);
    let texts: Vec<String> = here.map(|one| format!("{}{AT}{}", one.kind, one.place)).collect();
    texts.join(NEXT)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a float converts to the nearest integer of the range"
)]
fn nanoseconds(us: f64) -> i64 {
    libm::round(us * 1e3) as i64
}

/// A run, as its rows describe it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// The host, as far as tests crossed it.
    pub topology: Topology,
    /// What was measured.
    pub measured: Matrix,
    /// The baseline that was in force.
    pub baseline: Matrix,
    /// The NICs that carried traffic.
    pub busy: Vec<usize>,
    /// What NICs carried besides the tests.
    pub loads: Vec<NicLoad>,
}

impl Run {
    /// The run of these rows, all of one host and time.
    #[must_use]
    pub fn of(rows: &[LoopbackRow]) -> Self {
        let mut topology = Topology::of_paths(rows.iter().map(|row| row.path.split(JOINT).collect()));
        describe(&mut topology, rows);
        let mut loads: Vec<NicLoad> = Vec::new();
        let (mut measured, mut baseline) = (Matrix::default(), Matrix::default());
        let gbps = |bps: Option<f64>| bps.map(|bps| bps / 1e9);
        #[expect(clippy::cast_precision_loss, reason = "a latency is below 2^53 ns")]
        let us = |ns: Option<i64>| ns.map(|ns| ns as f64 / 1e3);
        let mut busy: Vec<usize> = Vec::new();
        for row in rows {
            let cell = measured.cell_mut(&row.nic, &row.endpoint);
            cell.bandwidth_gbps = gbps(row.measured_bps);
            cell.latency_us = us(row.latency_ns);
            cell.size_bytes = row.size_bytes;
            let cell = baseline.cell_mut(&row.nic, &row.endpoint);
            cell.bandwidth_gbps = gbps(row.baseline_bps);
            cell.latency_us = us(row.baseline_ns);
            let Some(nic) = topology.find(&row.nic) else {
                continue;
            };
            if row.busy {
                busy.push(nic);
            }
            if let (Some(sent), Some(received), true) =
                (row.sent_bps, row.received_bps, loads.iter().all(|load| load.nic != nic))
            {
                loads.push(NicLoad {
                    nic,
                    sent_gbps: sent / 1e9,
                    received_gbps: received / 1e9,
                });
            }
        }
        busy.sort_unstable();
        busy.dedup();
        Self {
            topology,
            measured,
            baseline,
            busy,
            loads,
        }
    }
}

/// Adds to a topology what rows have besides paths: other names of NICs, speeds of links, and suspicions.
fn describe(topology: &mut Topology, rows: &[LoopbackRow]) {
    for row in rows {
        let nodes: Vec<&str> = row.path.split(JOINT).collect();
        if let (Some(nic), Some(aliases)) = (topology.find(&row.nic), &row.aliases) {
            topology.nodes[nic].aliases = aliases.split_whitespace().map(ToString::to_string).collect();
        }
        for (pair, speed) in nodes
            .windows(2)
            .zip(row.link_speeds.iter().flat_map(|all| all.split(JOINT)))
        {
            let ends = topology.find(pair[0]).zip(topology.find(pair[1]));
            let link = ends.and_then(|(a, b)| topology.link_between(a, b));
            if let (Some(link), Ok(gbps)) = (link, speed.parse()) {
                topology.links[link].now = Some(Pcie::of_bandwidth(gbps));
            }
        }
        for one in row.suspicions.iter().flat_map(|all| all.split(NEXT)) {
            let (kind, place) = one.split_once(AT).unwrap_or_default();
            let node = topology.find(place);
            match (kind, node) {
                ("acs-on-bare-metal", Some(node)) => {
                    topology.nodes[node].acs = Some(true);
                    topology.is_virtual = Some(false);
                }
                ("ats-off-in-vm", Some(node)) => {
                    topology.nodes[node].ats = Some(false);
                    topology.is_virtual = Some(true);
                }
                ("", _) => {}
                _ => {
                    let note = format!("{one}, when the tests ran");
                    if !topology.notes.contains(&note) {
                        topology.notes.push(note);
                    }
                }
            }
        }
    }
}

/// Groups rows by host and time, in that order.
#[must_use]
pub fn runs(mut rows: Vec<LoopbackRow>) -> Vec<(String, i64, Vec<LoopbackRow>)> {
    rows.sort_by(|a, b| (&*a.observer, a.window_start_ns).cmp(&(&*b.observer, b.window_start_ns)));
    let mut runs: Vec<(String, i64, Vec<LoopbackRow>)> = Vec::new();
    for row in rows {
        match runs.last_mut() {
            Some((host, start, run)) if **host == *row.observer && *start == row.window_start_ns => run.push(row),
            _ => runs.push((String::from(&*row.observer), row.window_start_ns, alloc::vec![row])),
        }
    }
    runs
}
