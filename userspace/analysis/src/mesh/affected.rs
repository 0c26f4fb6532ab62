//! Captured flows that cross a suspicious place: by the paths that switches stated, where they are known, otherwise by
//! those that probes of the same 5-tuple traced.

use crate::paths::runs::{self, CapturedKey};
use rocescope_diagnose::hostmesh::{Analyzer, WindowDiagnosis};
use rocescope_model::{FLOW_PATH_TABLES, FlowRow, ROCE_UDP_PORT, UdpPath};
use rocescope_store::query::Timeline;
use rocescope_store::{Error, Query, Scan};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// A flow in the output: `source>destination:port`.
pub type Flow = String;

/// The `flows` of the dataset, read in step with the windows of the diagnosis.
#[derive(Debug)]
pub struct Affected<'a> {
    flows: Timeline<'a, FlowRow>,
    /// Flows of capture windows that may overlap with the next window of the diagnosis.
    pending: Vec<CapturedFlow>,
    has_flows: bool,
    /// Nodes of flows by the start of the run that found them.
    stated: BTreeMap<i64, HashMap<CapturedKey, Vec<String>>>,
    /// All nodes of these paths.
    nodes: HashSet<String>,
}

impl<'a> Affected<'a> {
    /// Reads the paths that runs stored.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub fn new(found: &'a Scan, root: &Path) -> Result<Self, Error> {
        let flows = found.select::<FlowRow>().timeline()?;
        let has_flows = flows.next_ns().is_some();
        // A run may have started before the time that is analyzed.
        let runs = runs::runs(&Query::default().tables(FLOW_PATH_TABLES).open(root)?)?;
        let stated = runs.into_iter().map(|(time_ns, run)| {
            let complete = run.paths.into_iter().filter(|path| !path.hops.is_empty());
            let nodes = complete.filter_map(|path| {
                let nodes = path.hops.into_iter().map(|hop| hop.0).collect();
                Some((runs::captured_key(&path.flow?), nodes))
            });
            (time_ns, nodes.collect())
        });
        let stated: BTreeMap<i64, HashMap<CapturedKey, Vec<String>>> = stated.collect();
        Ok(Self {
            flows,
            pending: Vec::new(),
            has_flows,
            nodes: stated.values().flat_map(HashMap::values).flatten().cloned().collect(),
            stated,
        })
    }

    /// Whether there are flows.
    #[must_use]
    pub const fn has_flows(&self) -> bool {
        self.has_flows
    }

    /// The flows of capture windows that overlap with the window of the diagnosis, for each of its verdicts.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub fn flows(&mut self, analyzer: &Analyzer, diagnosis: &WindowDiagnosis) -> Result<Vec<BTreeSet<Flow>>, Error> {
        let mut crossing = vec![BTreeSet::new(); diagnosis.places.len()];
        let end_ns = diagnosis.start_ns + diagnosis.sla.window_ns;
        while let Some(start_ns) = self.flows.next_ns().filter(|start| *start < end_ns) {
            let rows = self.flows.take(start_ns)?;
            self.pending
                .extend(rows.iter().filter_map(|(_, row)| CapturedFlow::of(row)));
        }
        self.pending.retain(|seen| seen.until_ns > diagnosis.start_ns);
        for seen in self.pending.iter().filter(|seen| !analyzer.is_within_a_host(seen.key)) {
            let at_ns = seen.from_ns.max(diagnosis.start_ns);
            let run = self
                .stated
                .range(..end_ns)
                .next_back()
                .or_else(|| self.stated.first_key_value());
            let key = (seen.key.src, seen.key.dst, seen.key.port);
            let nodes = run.and_then(|(_, flows)| flows.get(&key));
            for (place, flows) in diagnosis.places.iter().zip(&mut crossing) {
                let stated = nodes.and_then(|nodes| {
                    analyzer.crosses_nodes(*place, seen.key, nodes, |name| self.nodes.contains(name))
                });
                let crosses = stated.or_else(|| analyzer.crosses(*place, seen.key, ROCE_UDP_PORT, at_ns));
                if crosses == Some(true) {
                    let UdpPath { src, dst, port } = seen.key;
                    flows.insert(format!("{src}>{dst}:{port}"));
                }
            }
        }
        Ok(crossing)
    }
}

/// A flow of a capture window.
#[derive(Debug, Clone, Copy)]
struct CapturedFlow {
    key: UdpPath,
    from_ns: i64,
    until_ns: i64,
}

impl CapturedFlow {
    /// `None` if it is sprayed over many ports, and so over many paths.
    fn of(row: &FlowRow) -> Option<Self> {
        Some(Self {
            key: UdpPath {
                src: row.src,
                dst: row.dst,
                port: row.udp_src_port?,
            },
            from_ns: row.window_start_ns,
            until_ns: row.window_start_ns.saturating_add(row.window_ns),
        })
    }
}
