//! Whether a test is normal: its value against the baseline, or, on a busy NIC, against the NIC's other tests.

use super::measured::matrix::{Matrix, Quantity, median};
use super::rule::Rule;
use super::topology::{NodeKind, Path, Reach, Topology};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a test means for its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Every link on the path is normal.
    Normal,
    /// At least one link on it is abnormal.
    Abnormal,
    /// The value is as expected, but less than the links can do: it proves nothing.
    Unproven,
    /// There is no baseline to compare with.
    Unknown,
}

impl Status {
    /// Its name in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Abnormal => "abnormal",
            Self::Unproven => "unproven",
            Self::Unknown => "unknown",
        }
    }
}

/// A test with its path and what is expected of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// The NIC, a node of the topology.
    pub nic: usize,
    /// The endpoint, likewise.
    pub endpoint: usize,
    /// The path between them.
    pub path: Path,
    /// Measured bandwidth in Gbit/s.
    pub bandwidth_gbps: Option<f64>,
    /// Measured latency in microseconds.
    pub latency_us: Option<f64>,
    /// Bandwidth of the baseline in Gbit/s.
    pub expected_gbps: Option<f64>,
    /// Latency of the baseline in microseconds.
    pub expected_us: Option<f64>,
    /// The bandwidth below which it is abnormal, in Gbit/s.
    pub limit_gbps: Option<f64>,
    /// Whether the NIC is expected to reach this endpoint at full bandwidth.
    pub is_affinitive: bool,
    /// Whether the NIC carried traffic during the test.
    pub is_busy: bool,
    /// The judgement.
    pub status: Status,
    /// Whether the bandwidth is why it is abnormal.
    pub is_slow: bool,
}

/// The tests of a host, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The tests, NIC by NIC.
    pub tests: Vec<Test>,
    /// The threshold in force, in words.
    pub threshold: String,
    /// The baseline in force, in words.
    pub baseline: String,
    /// Standard deviation of the values around the baseline, as a share of it; none if unknown.
    pub noise_ratio: Option<f64>,
}

/// What judges.
#[derive(Debug, Clone, Copy)]
pub struct Judge<'a> {
    /// The host.
    pub topology: &'a Topology,
    /// What healthy hosts of this model measure; without it, the host is compared with itself.
    pub baseline: Option<&'a Matrix>,
    /// The threshold.
    pub rule: Rule,
    /// NICs that carried traffic during the tests.
    pub busy: &'a [usize],
    /// What NICs carried besides the tests, where counters were read.
    pub loads: &'a [NicLoad],
}

/// What a NIC carried besides the tests, by its counters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NicLoad {
    /// The NIC, a node of the topology.
    pub nic: usize,
    /// Gbit/s that it sent.
    pub sent_gbps: f64,
    /// Gbit/s that it received.
    pub received_gbps: f64,
}

/// An endpoint is affinitive if at least this share of the NIC's best bandwidth is expected.
const FULL: f64 = 0.9;
/// A threshold keeps at least this many standard deviations away from the baseline, down to half of it.
const DEVIATIONS: f64 = 5.0;
const MIN_RATIO: f64 = 0.5;
/// Number of values above the middle from which the noise is estimated.
const MIN_VALUES: usize = 6;

impl Judge<'_> {
    /// Judges what was measured. Pairs without a path are left out.
    #[must_use]
    pub fn judge(&self, measured: &Matrix) -> Judgement {
        let mut tests = self.tests(measured);
        self.expect(&mut tests);
        let noise_ratio = noise(&tests, self.baseline.is_some());
        let ratio = match noise_ratio {
            Some(noise) => (1.0 - DEVIATIONS * noise).max(MIN_RATIO).min(self.rule.ratio()),
            None => self.rule.ratio(),
        };
        for test in &mut tests {
            self.limit(test, ratio);
        }
        let nics: Vec<usize> = tests.iter().map(|test| test.nic).collect();
        for nic in self.busy.iter().filter(|nic| nics.contains(nic)) {
            let carried = self.carried_with(&tests, *nic);
            compare_with_each_other(&mut tests, *nic, ratio, carried);
        }
        for test in &mut tests {
            test.status = status(test, ratio);
        }
        Judgement {
            tests,
            threshold: self.threshold(ratio, noise_ratio),
            baseline: self.baseline_text(),
            noise_ratio,
        }
    }

    fn tests(&self, measured: &Matrix) -> Vec<Test> {
        let topology = self.topology;
        let mut tests = Vec::new();
        for name in &measured.nics {
            let Some(nic) = topology.find(name) else {
                continue;
            };
            let paths = topology.paths(nic);
            let test = |to: &String| {
                let cell = measured.cell(name, to)?;
                let endpoint = topology.find(to)?;
                Some(Test {
                    nic,
                    endpoint,
                    path: paths.to(endpoint)?,
                    bandwidth_gbps: cell.value(Quantity::Bandwidth),
                    latency_us: cell.value(Quantity::Latency),
                    expected_gbps: None,
                    expected_us: None,
                    limit_gbps: None,
                    is_affinitive: false,
                    is_busy: self.busy.contains(&nic),
                    status: Status::Unknown,
                    is_slow: false,
                })
            };
            tests.extend(measured.endpoints.iter().filter_map(test));
        }
        tests
    }

    /// Sets what is expected of the tests.
    fn expect(&self, tests: &mut [Test]) {
        let own = Peers::of(tests);
        let kept = self
            .baseline
            .map(|baseline| (baseline, Peers::of(&self.tests(baseline))));
        for test in tests.iter_mut() {
            if let Some((baseline, peers)) = &kept {
                let (nic, endpoint) = (
                    &self.topology.nodes[test.nic].name,
                    &self.topology.nodes[test.endpoint].name,
                );
                let cell = baseline.cell(nic, endpoint);
                let of = |quantity| cell.and_then(|cell| cell.value(quantity));
                test.expected_gbps =
                    of(Quantity::Bandwidth).or_else(|| peers.middle(test.path.reach, Quantity::Bandwidth));
                test.expected_us = of(Quantity::Latency).or_else(|| peers.middle(test.path.reach, Quantity::Latency));
            } else {
                test.expected_gbps = self.own_bandwidth(test, &own);
                test.expected_us = own.best(test.path.reach, Quantity::Latency);
            }
        }
        let mut best: BTreeMap<usize, f64> = BTreeMap::new();
        for test in tests.iter() {
            let best = best.entry(test.nic).or_default();
            *best = best.max(test.expected_gbps.unwrap_or_default());
        }
        for test in tests.iter_mut() {
            let full = best.get(&test.nic).copied().unwrap_or_default() * FULL;
            test.is_affinitive = match test.expected_gbps {
                Some(expected) => expected >= full,
                None => test.path.reach.is_direct(),
            };
        }
    }

    /// What a host without a baseline expects: the line rate of the NIC, or what its PCIe link can do if that is less,
    /// where the path does not cross the processor; elsewhere the upper quartile of the host's own tests of that reach.
    fn own_bandwidth(&self, test: &Test, own: &Peers) -> Option<f64> {
        if !test.path.reach.is_direct() {
            return own.best(test.path.reach, Quantity::Bandwidth);
        }
        let node = &self.topology.nodes[test.nic];
        let link = self.topology.links.iter().find(|link| link.a == test.nic);
        let pcie = link.and_then(|link| link.max.or(link.now)).map(|pcie| pcie.gbps);
        match node.rate_gbps {
            Some(rate) => Some(pcie.map_or(rate, |pcie| rate.min(pcie))),
            None => own.best_direct(),
        }
    }

    /// Sets the bandwidth below which a test is abnormal.
    fn limit(&self, test: &mut Test, ratio: f64) {
        test.limit_gbps = match self.rule {
            Rule::Figure { gbps, .. } if test.path.reach.is_direct() => Some(gbps),
            _ => test.expected_gbps.map(|expected| expected * ratio),
        };
    }

    /// The most that a link on all paths of a NIC carries besides the tests, in Gbit/s: the traffic of all NICs whose
    /// paths cross it. None if the counters of one of them are unknown.
    fn carried_with(&self, tests: &[Test], nic: usize) -> Option<f64> {
        let nics: BTreeSet<usize> = tests.iter().map(|test| test.nic).collect();
        let common: Vec<(usize, BTreeSet<usize>)> =
            nics.into_iter().map(|nic| (nic, common_links(tests, nic))).collect();
        let mut most: f64 = 0.0;
        for link in common_links(tests, nic) {
            let (mut sent, mut received) = (0.0, 0.0);
            for (behind, _) in common.iter().filter(|(_, links)| links.contains(&link)) {
                let load = self.loads.iter().find(|load| load.nic == *behind)?;
                sent += load.sent_gbps;
                received += load.received_gbps;
            }
            most = most.max(sent).max(received);
        }
        Some(most)
    }

    fn threshold(&self, ratio: f64, noise: Option<f64>) -> String {
        let mut text = self.rule.text();
        if let Some(noise) = noise
            && ratio < self.rule.ratio()
        {
            text = format!(
                "{text}, lowered to {:.1} % because values vary by {:.1} %",
                ratio * 100.0,
                noise * 100.0
            );
        }
        if !self.busy.is_empty() {
            text = format!("{text}; tests of busy NICs are compared with each other");
            if !self.loads.is_empty() {
                text = format!("{text}, and with what their counters leave of the baseline");
            }
        }
        text
    }

    fn baseline_text(&self) -> String {
        match self.baseline {
            Some(_) => "from the file".to_string(),
            None => {
                "none: line rate for memory and local GPUs, the upper quartile of this host's own tests for other GPUs"
                    .to_string()
            }
        }
    }
}

/// The values of tests by reach.
struct Peers {
    values: BTreeMap<(Reach, bool), Vec<f64>>,
}

impl Peers {
    fn of(tests: &[Test]) -> Self {
        let mut values: BTreeMap<(Reach, bool), Vec<f64>> = BTreeMap::new();
        for test in tests {
            let both = [(false, test.bandwidth_gbps), (true, test.latency_us)];
            for (is_latency, value) in both {
                values.entry((test.path.reach, is_latency)).or_default().extend(value);
            }
        }
        for values in values.values_mut() {
            values.sort_by(f64::total_cmp);
        }
        Self { values }
    }

    fn get(&self, reach: Reach, quantity: Quantity) -> &[f64] {
        let values = self.values.get(&(reach, quantity == Quantity::Latency));
        values.map_or(&[], Vec::as_slice)
    }

    fn middle(&self, reach: Reach, quantity: Quantity) -> Option<f64> {
        median(self.get(reach, quantity).iter().copied())
    }

    /// A bottleneck only lowers bandwidth and raises latency: the better quartile is what healthy paths do while fewer
    /// than three quarters are affected.
    fn best(&self, reach: Reach, quantity: Quantity) -> Option<f64> {
        let values = self.get(reach, quantity);
        let at = match quantity {
            Quantity::Bandwidth => values.len() * 3 / 4,
            Quantity::Latency => values.len() / 4,
        };
        values.get(at.min(values.len().saturating_sub(1))).copied()
    }

    /// The best quartile over all reaches for which full bandwidth is expected.
    fn best_direct(&self) -> Option<f64> {
        let direct = [Reach::NearMemory, Reach::FarMemory, Reach::LocalGpu];
        let best = direct
            .into_iter()
            .filter_map(|reach| self.best(reach, Quantity::Bandwidth));
        best.max_by(f64::total_cmp)
    }
}

/// Noise, from the values above the middle: a bottleneck only adds values below it. The middle is the baseline, or else
/// the median of the tests that should all reach the line rate.
fn noise(tests: &[Test], has_baseline: bool) -> Option<f64> {
    let idle = || tests.iter().filter(|test| !test.is_busy);
    let shares: Vec<f64> = if has_baseline {
        let share = |test: &Test| Some(test.bandwidth_gbps? / test.expected_gbps?);
        idle().filter_map(share).collect()
    } else {
        let direct = || {
            idle()
                .filter(|test| test.path.reach.is_direct())
                .filter_map(|test| test.bandwidth_gbps)
        };
        let middle = median(direct())?;
        direct().map(|bandwidth| bandwidth / middle).collect()
    };
    let above: Vec<f64> = shares
        .iter()
        .map(|share| share - 1.0)
        .filter(|excess| *excess > 0.0)
        .collect();
    if above.len() < MIN_VALUES {
        return None;
    }
    let squares: f64 = above.iter().map(|excess| excess * excess).sum();
    #[expect(clippy::cast_precision_loss, reason = "a number of tests")]
    let count = above.len() as f64;
    Some(libm::sqrt(squares / count))
}

/// Sets the limits of a busy NIC. Its own traffic leaves it less than its line rate: the best two of its tests show how
/// much, and an endpoint is expected to reach that or its baseline, whichever is lower. A link on all of its paths lowers
/// all of its tests alike; only what it carries, by counters, can show that traffic does not explain that.
fn compare_with_each_other(tests: &mut [Test], nic: usize, ratio: f64, carried_gbps: Option<f64>) {
    let own = |test: &&mut Test| test.nic == nic;
    let mut values: Vec<f64> = tests
        .iter_mut()
        .filter(own)
        .filter_map(|test| test.bandwidth_gbps)
        .collect();
    values.sort_by(|a, b| b.total_cmp(a));
    let seen = match values.as_slice() {
        [first, second, ..] => f64::midpoint(*first, *second),
        _ => return,
    };
    let expected = tests.iter_mut().filter(own).filter_map(|test| test.expected_gbps);
    let counted = expected.max_by(f64::total_cmp).zip(carried_gbps);
    let counted = counted.map_or(0.0, |(expected, carried)| expected - carried);
    let left = seen.max(counted);
    for test in tests.iter_mut().filter(own) {
        test.limit_gbps = test.expected_gbps.map(|expected| expected.min(left) * ratio);
    }
}

/// The links on all paths of a NIC.
pub(super) fn common_links(tests: &[Test], nic: usize) -> BTreeSet<usize> {
    let mut paths = tests.iter().filter(|test| test.nic == nic).map(|test| &test.path.links);
    let mut common: BTreeSet<usize> = paths.next().into_iter().flatten().copied().collect();
    for links in paths {
        common.retain(|link| links.contains(link));
    }
    common
}

fn status(test: &mut Test, ratio: f64) -> Status {
    let slow = test
        .bandwidth_gbps
        .zip(test.limit_gbps)
        .map(|(measured, limit)| measured < limit);
    // Traffic of others delays operations: on a busy NIC a latency means nothing.
    let latency = test.latency_us.zip(test.expected_us).filter(|_| !test.is_busy);
    let late = latency.map(|(measured, expected)| measured > expected / ratio);
    test.is_slow = slow == Some(true);
    match (slow, late) {
        (Some(true), _) | (_, Some(true)) => Status::Abnormal,
        (None, None) => Status::Unknown,
        _ if test.is_affinitive && !test.is_busy => Status::Normal,
        _ => Status::Unproven,
    }
}

/// Whether a node is memory.
pub(super) fn is_memory(topology: &Topology, node: usize) -> bool {
    topology.nodes[node].kind == NodeKind::Memory
}
