//! Captured flows that cross a suspicious place.

use anyhow::Result;
use rocescope_diagnose::hostmesh::flows::FlowKey;
use rocescope_diagnose::hostmesh::{Analyzer, WindowDiagnosis};
use rocescope_model::FlowRow;
use rocescope_store::Scan;
use rocescope_store::query::Timeline;
use std::collections::BTreeSet;

/// A flow in the output: `source>destination:port`.
pub(super) type Flow = String;

/// The `flows` of the dataset, read in step with the windows of the diagnosis.
pub(super) struct Affected<'a> {
    flows: Timeline<'a, FlowRow>,
    /// Flows of capture windows that may overlap with the next window of the diagnosis.
    pending: Vec<CapturedFlow>,
    has_flows: bool,
}

impl<'a> Affected<'a> {
    pub(super) fn new(found: &'a Scan) -> Result<Self> {
        let flows = found.select::<FlowRow>().timeline()?;
        let has_flows = flows.next_ns().is_some();
        Ok(Self {
            flows,
            pending: Vec::new(),
            has_flows,
        })
    }

    pub(super) const fn has_flows(&self) -> bool {
        self.has_flows
    }

    /// The flows of capture windows that overlap with the window of the diagnosis, for each of its verdicts.
    pub(super) fn flows(&mut self, analyzer: &Analyzer, diagnosis: &WindowDiagnosis) -> Result<Vec<BTreeSet<Flow>>> {
        let mut crossing = vec![BTreeSet::new(); diagnosis.places.len()];
        let end_ns = diagnosis.start_ns + diagnosis.sla.window_ns;
        while let Some(start_ns) = self.flows.next_ns().filter(|start| *start < end_ns) {
            let rows = self.flows.take(start_ns)?;
            self.pending
                .extend(rows.iter().filter_map(|(_, row)| CapturedFlow::of(row)));
        }
        self.pending.retain(|seen| seen.until_ns > diagnosis.start_ns);
        for seen in &self.pending {
            let at_ns = seen.from_ns.max(diagnosis.start_ns);
            for (place, flows) in diagnosis.places.iter().zip(&mut crossing) {
                if analyzer.crosses(*place, seen.key, ROCE_PORT, at_ns) == Some(true) {
                    let FlowKey { src, dst, udp_src_port } = seen.key;
                    flows.insert(format!("{src}>{dst}:{udp_src_port}"));
                }
            }
        }
        Ok(crossing)
    }
}

/// A flow of a capture window.
#[derive(Debug, Clone, Copy)]
struct CapturedFlow {
    key: FlowKey,
    from_ns: i64,
    until_ns: i64,
}

impl CapturedFlow {
    /// `None` if it is sprayed over many ports, and so over many paths.
    fn of(row: &FlowRow) -> Option<Self> {
        Some(Self {
            key: FlowKey {
                src: row.src,
                dst: row.dst,
                udp_src_port: row.udp_src_port?,
            },
            from_ns: row.window_start_ns,
            until_ns: row.window_start_ns.saturating_add(row.window_ns),
        })
    }
}

/// The destination port of captured traffic and, by default, of probes: paths are known for it.
const ROCE_PORT: u16 = 4791;
