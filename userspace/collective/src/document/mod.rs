//! The analysis as a document: JSON, and text.
//!
//! | module | contents |
//! |---|---|
//! | `path` | the critical path |
//! | `culprits` | the link, rank or QP that made the collective slow |
//! | `failures` | transfers that NCCL reports as failed |
//! | `hangs` | collectives that hang |
//! | `flows` | other flows, with their ratings |
//! | `causes` | root causes |
//! | `evidence` | pauses that hosts counted, ECN marks, and paths that probes found slow |
//! | `provenance` | the weights of the provenance graph |
//! | `text` | sentences and tables |

mod causes;
mod culprits;
mod evidence;
mod failures;
mod flows;
pub(crate) mod hangs;
mod path;
mod provenance;
mod text;

use crate::analysis::Analysis;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
pub use causes::CauseDocument;
pub use culprits::CulpritDocument;
pub use evidence::{EvidenceDocument, SlowDocument};
pub use failures::{FailureDocument, SeenDocument};
pub use flows::{ContributorDocument, DelayedDocument, FlowDocument, WindowDocument};
pub use hangs::HangDocument;
pub use path::{PartDocument, PathDocument, VertexDocument};
pub use provenance::{FlowWeightDocument, PortDocument, PortWeightDocument, ReportDocument, ShareDocument};
use serde::Serialize;

/// The result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    /// Collectives that hang.
    pub hangs: Vec<HangDocument>,
    /// Transfers that NCCL's log reports as failed.
    pub failed_transfers: Vec<FailureDocument>,
    /// The critical path.
    pub critical_path: PathDocument,
    /// What made it slow, as far as the waits of its steps tell, the highest cost first.
    pub culprits: Vec<CulpritDocument>,
    /// Windows with a flow of the collective in a queue.
    pub windows: Vec<WindowDocument>,
    /// Flows outside the collective, the highest rating first.
    pub contributors: Vec<ContributorDocument>,
    /// Root causes.
    pub root_causes: Vec<CauseDocument>,
    /// What hosts and captures saw while it ran: pauses, ECN marks, slow paths.
    pub evidence: Vec<EvidenceDocument>,
    /// The weights of the provenance graph, by report.
    pub provenance: Vec<ReportDocument>,
    /// Hosts that take part.
    pub hosts: usize,
    /// Their steps.
    pub steps: usize,
    /// Steps whose wait was inferred from the steps of others.
    pub inferred_waits: u64,
    /// The result in sentences.
    pub summary: Vec<String>,
    /// What is missing or contradicts itself.
    pub complaints: Vec<String>,
}

const NANOS_IN_MS: f64 = 1e6;

fn ms(ns: i64) -> String {
    format!("{:.3} ms", ns as f64 / NANOS_IN_MS)
}

impl Document {
    /// The document of an analysis.
    #[must_use]
    pub fn of(analysis: &Analysis) -> Self {
        let steps = &analysis.steps;
        let critical_path = PathDocument::of(analysis);
        let root_causes: Vec<CauseDocument> = analysis.causes.iter().map(CauseDocument::of).collect();
        let contributors: Vec<ContributorDocument> = analysis
            .contributors
            .iter()
            .map(|(flow, rating)| ContributorDocument::of(flow, *rating, None))
            .collect();
        let culprits: Vec<CulpritDocument> = analysis
            .culprits
            .iter()
            .map(|delay| CulpritDocument::of(steps, delay))
            .collect();
        let has_waits = steps.steps.iter().any(|step| step.send_wait_ns().is_some());
        let hangs: Vec<HangDocument> = analysis.hangs.iter().map(HangDocument::of).collect();
        let mut summary: Vec<String> = hangs.iter().map(|hang| hang.text.clone()).collect();
        if hangs.len() > 1 {
            summary.push("The first of them may be the reason of the others.".to_string());
        }
        let is_any = !hangs.is_empty() || !analysis.failed.is_empty();
        let is_all = is_any && critical_path.parts.is_empty();
        let of_path = text::summary(&critical_path, &contributors, &root_causes, has_waits);
        summary.extend(of_path.into_iter().filter(|_| !is_all));
        if has_waits && !steps.steps.is_empty() {
            let none = || "No link, rank or QP is slower than the others.".to_string();
            summary.push(culprits.first().map_or_else(none, |first| first.text.clone()));
        }
        // Rows without a receiver have a host without a name, too.
        let hosts: BTreeSet<u32> = steps.streams.iter().map(|stream| stream.host).collect();
        Self {
            hangs,
            failed_transfers: analysis.failed.iter().map(FailureDocument::of).collect(),
            critical_path,
            culprits,
            windows: analysis.windows.iter().map(WindowDocument::of).collect(),
            contributors,
            root_causes,
            evidence: analysis.evidence.iter().map(EvidenceDocument::of).collect(),
            provenance: analysis.reports.iter().map(ReportDocument::of).collect(),
            hosts: hosts.len(),
            steps: steps.steps.len(),
            inferred_waits: steps.inferred,
            summary,
            complaints: analysis.complaints.lines(),
        }
    }
}
