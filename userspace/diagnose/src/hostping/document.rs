//! A diagnosis as text and as values for JSON.

use super::diagnosis::Diagnosis;
use super::judge::Status;
use super::measured::{Matrix, Quantity, fit};
use super::topology::Topology;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;
use serde::Serialize;

/// A link by the names of its ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkName {
    /// The end farther from the processor.
    pub a: String,
    /// The other end.
    pub b: String,
    /// Its kind: `nic`, `gpu`, `switch`, `root-port`, `memory` or `inter-socket`.
    pub kind: &'static str,
}

/// A root cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CauseName {
    /// Its name.
    pub cause: &'static str,
    /// `likely` or `possible`.
    pub certainty: &'static str,
    /// The links that it concerns.
    pub links: Vec<LinkName>,
    /// What speaks for it.
    pub evidence: String,
    /// What to do.
    pub action: &'static str,
    /// What the link carried besides the tests, in Gbit/s; none if no counter shows it.
    pub load_gbps: Option<f64>,
    /// The same as a share of what the link runs at.
    pub utilization_ratio: Option<f64>,
    /// The threshold in force.
    pub threshold: String,
}

/// A link that tests accuse.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rank {
    /// The link.
    #[serde(flatten)]
    pub link: LinkName,
    /// Number of NICs that accuse it.
    pub nics: usize,
    /// Number of abnormal tests over it.
    pub abnormal_tests: usize,
    /// Number of tests over it.
    pub tests: usize,
}

/// A test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestName {
    /// The NIC.
    pub nic: String,
    /// The endpoint.
    pub endpoint: String,
    /// How far it is.
    pub reach: &'static str,
    /// Bandwidth in Gbit/s.
    pub measured_gbps: Option<f64>,
    /// Baseline in Gbit/s.
    pub baseline_gbps: Option<f64>,
    /// The bandwidth below which it is abnormal.
    pub limit_gbps: Option<f64>,
    /// Latency in microseconds.
    pub latency_us: Option<f64>,
    /// Baseline in microseconds.
    pub baseline_us: Option<f64>,
    /// Whether full bandwidth is expected.
    pub affinitive: bool,
    /// Whether the NIC carried traffic.
    pub busy: bool,
    /// The judgement.
    pub status: &'static str,
}

/// The model fitted to a NIC and endpoint.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Model {
    /// The NIC.
    pub nic: String,
    /// The endpoint.
    pub endpoint: String,
    /// `T_proc + Lat_host` in microseconds.
    pub base_us: f64,
    /// `BW_host` in Gbit/s.
    pub bandwidth_gbps: f64,
    /// Largest deviation, as a share of the latency.
    pub deviation_ratio: f64,
    /// As text.
    #[serde(skip)]
    pub text: String,
}

/// The document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    /// Abnormal links.
    pub abnormal_links: Vec<LinkName>,
    /// Sets of links of which at least one is abnormal, and which the tests cannot distinguish.
    pub ambiguous: Vec<Vec<LinkName>>,
    /// Root causes, the likely ones first.
    pub causes: Vec<CauseName>,
    /// Links of which the tests prove nothing.
    pub unproven: Vec<LinkName>,
    /// Links on all paths of busy NICs whose traffic is unknown: only an idle test can show them.
    pub unseen: Vec<LinkName>,
    /// Abnormal tests all of whose links passed other tests.
    pub unexplained: Vec<[String; 2]>,
    /// Links that tests accuse, the most likely first.
    pub ranking: Vec<Rank>,
    /// The threshold in force.
    pub threshold: String,
    /// The baseline in force.
    pub baseline: String,
    /// Standard deviation of the values, as a share of the baseline.
    pub noise_ratio: Option<f64>,
    /// Whether NICs carried traffic.
    pub busy: bool,
    /// The tests.
    pub tests: Vec<TestName>,
    /// Models of latency, where several sizes were measured.
    pub models: Vec<Model>,
}

impl Document {
    /// The document of a diagnosis.
    #[must_use]
    pub fn of(topology: &Topology, measured: &Matrix, diagnosis: &Diagnosis) -> Self {
        let inference = &diagnosis.inference;
        let judgement = &diagnosis.judgement;
        let link = |link: &usize| name(topology, *link);
        let node = |at: usize| topology.nodes[at].name.clone();
        let model = |(nic, endpoint, cell): (&str, &str, &super::measured::matrix::Cell)| {
            let fitted = fit(&cell.by_size).filter(|fitted| fitted.bandwidth_gbps.is_finite())?;
            Some(Model {
                nic: nic.to_string(),
                endpoint: endpoint.to_string(),
                base_us: fitted.base_us,
                bandwidth_gbps: fitted.bandwidth_gbps,
                deviation_ratio: fitted.deviation_ratio,
                text: fitted.text(),
            })
        };
        let causes = diagnosis.causes.iter().map(|finding| CauseName {
            cause: finding.cause.name(),
            certainty: finding.certainty.name(),
            links: finding.links.iter().map(link).collect(),
            evidence: finding.evidence.clone(),
            action: finding.cause.action(),
            load_gbps: finding.utilization.map(|utilization| utilization.gbps),
            utilization_ratio: finding.utilization.and_then(|utilization| utilization.ratio),
            threshold: judgement.threshold.clone(),
        });
        let tests = judgement.tests.iter().map(|test| TestName {
            nic: node(test.nic),
            endpoint: node(test.endpoint),
            reach: test.path.reach.name(),
            measured_gbps: test.bandwidth_gbps,
            baseline_gbps: test.expected_gbps,
            limit_gbps: test.limit_gbps,
            latency_us: test.latency_us,
            baseline_us: test.expected_us,
            affinitive: test.is_affinitive,
            busy: test.is_busy,
            status: test.status.name(),
        });
        let ranking = diagnosis.ranking.iter().map(|accused| Rank {
            link: name(topology, accused.link),
            nics: accused.nics,
            abnormal_tests: accused.abnormal_tests,
            tests: accused.tests,
        });
        let unexplained = inference.unexplained.iter().map(|at| {
            let test = &judgement.tests[*at];
            [node(test.nic), node(test.endpoint)]
        });
        Self {
            abnormal_links: inference.abnormal.iter().map(link).collect(),
            ambiguous: inference
                .ambiguous
                .iter()
                .map(|set| set.iter().map(link).collect())
                .collect(),
            causes: causes.collect(),
            unproven: inference.unproven.iter().map(link).collect(),
            unseen: diagnosis.unseen.iter().map(link).collect(),
            unexplained: unexplained.collect(),
            ranking: ranking.collect(),
            threshold: judgement.threshold.clone(),
            baseline: judgement.baseline.clone(),
            noise_ratio: judgement.noise_ratio,
            busy: diagnosis.is_busy,
            tests: tests.collect(),
            models: measured.cells().filter_map(model).collect(),
        }
    }

    /// The document as text: what is wrong first, then the matrices.
    #[must_use]
    pub fn text(&self, measured: &Matrix) -> String {
        let mut out = String::new();
        if self.abnormal_links.is_empty() && self.ambiguous.is_empty() {
            let _ = writeln!(out, "no abnormal links found");
        }
        for link in &self.abnormal_links {
            let _ = writeln!(out, "abnormal   {}", text(link));
        }
        for set in &self.ambiguous {
            let _ = writeln!(out, "ambiguous  at least one of {}", list(set));
        }
        for cause in &self.causes {
            let _ = writeln!(out, "\n{} ({}): {}", cause.cause, cause.certainty, list(&cause.links));
            let _ = writeln!(out, "    evidence: {}", cause.evidence);
            let _ = writeln!(out, "    threshold: {}", cause.threshold);
            let _ = writeln!(out, "    do: {}", cause.action);
        }
        let _ = writeln!(out);
        if self.busy {
            for (at, rank) in self.ranking.iter().enumerate() {
                let _ = writeln!(
                    out,
                    "rank {:<5} {}: accused by {} NICs, {} of {} tests over it abnormal",
                    at + 1,
                    text(&rank.link),
                    rank.nics,
                    rank.abnormal_tests,
                    rank.tests
                );
            }
        }
        for [nic, endpoint] in &self.unexplained {
            let _ = writeln!(
                out,
                "unexplained {nic} to {endpoint}: abnormal, but each link on its path passed another test"
            );
        }
        if !self.unproven.is_empty() {
            let _ = writeln!(out, "unproven   {}", list(&self.unproven));
        }
        if !self.unseen.is_empty() {
            let _ = writeln!(
                out,
                "unseen     {}: on all paths of a busy NIC whose traffic is unknown; test them while it is idle",
                list(&self.unseen)
            );
        }
        let count = |status: Status| self.tests.iter().filter(|test| test.status == status.name()).count();
        let _ = writeln!(
            out,
            "tests      {}: {} normal, {} abnormal, {} unproven, {} without a baseline",
            self.tests.len(),
            count(Status::Normal),
            count(Status::Abnormal),
            count(Status::Unproven),
            count(Status::Unknown)
        );
        let _ = writeln!(out, "threshold  {}", self.threshold);
        let _ = writeln!(out, "baseline   {}", self.baseline);
        for model in &self.models {
            let _ = writeln!(out, "model      {} to {}: {}", model.nic, model.endpoint, model.text);
        }
        let mark = |nic: &str, endpoint: &str| {
            let test = self
                .tests
                .iter()
                .find(|test| test.nic == nic && test.endpoint == endpoint);
            match test.map(|test| test.status) {
                Some("abnormal") => "!",
                _ => " ",
            }
        };
        for quantity in [Quantity::Bandwidth, Quantity::Latency] {
            let matrix = measured.text(quantity, mark);
            if !matrix.is_empty() {
                let _ = write!(out, "\n{matrix}");
            }
        }
        out
    }
}

fn name(topology: &Topology, link: usize) -> LinkName {
    let (a, b) = topology.ends(link);
    LinkName {
        a: a.to_string(),
        b: b.to_string(),
        kind: topology.links[link].kind.name(),
    }
}

fn text(link: &LinkName) -> String {
    format!("{} <-> {}", link.a, link.b)
}

fn list(links: &[LinkName]) -> String {
    let names: Vec<String> = links.iter().map(text).collect();
    names.join(", ")
}
