//! The windows of the mesh of probes in a dataset.

use super::index::Index;
use anyhow::Result;
use rocescope_analysis::incidents::analyzer_of;
use rocescope_analysis::mesh::PATHS_NS;
use rocescope_diagnose::hostmesh::Settings;
use rocescope_diagnose::mesh::Pairs;
use rocescope_model::{LinkRow, MeshRows, PathRow, ProbeRow, Revisions, SlaRow, Text, VerdictRow};
use rocescope_store::{Scan, TimeRange};
use std::collections::BTreeSet;

/// The windows of the mesh, and their analyzer.
#[derive(Debug, Default)]
pub(super) struct MeshWindows {
    /// Starts of all windows with probes or a row in `sla`, ascending.
    pub(super) starts: Vec<i64>,
    pub(super) window_ns: i64,
    /// The observer of the `sla`, `verdicts` and `links` on the screen: the one with the most rows.
    pub(super) analyzer: Option<String>,
}

impl MeshWindows {
    pub(super) fn new(found: &Scan, time: TimeRange) -> Result<Self> {
        let analyzer = analyzer_of(found);
        let mut window_ns = Settings::default().window_ns;
        let mut starts = BTreeSet::new();
        let analyses = found.select::<SlaRow>().within(time).written_by(analyzer.as_deref());
        analyses.integers(["window_start_ns", "window_ns"], |[start, length]| {
            window_ns = length.max(1);
            starts.insert(start);
        })?;
        let mut last = None;
        found
            .select::<ProbeRow>()
            .within(time)
            .integers(["time_ns"], |[time]| {
                let start = time - time.rem_euclid(window_ns);
                if last != Some(start) {
                    starts.insert(start);
                    last = Some(start);
                }
            })?;
        Ok(Self {
            starts: starts.into_iter().collect(),
            window_ns,
            analyzer,
        })
    }

    /// The number of the window that contains this time.
    pub(super) fn at(&self, time_ns: i64) -> Option<usize> {
        let last = self.starts.partition_point(|start| *start <= time_ns);
        let at = last.checked_sub(1)?;
        (time_ns < self.starts[at].saturating_add(self.window_ns)).then_some(at)
    }
}

impl Index {
    /// The mesh in a window, and the number of probes of pairs beyond those that can be tracked.
    pub(super) fn mesh(&mut self, at: usize) -> Result<(MeshRows, u64)> {
        let Some(&start_ns) = self.meshes().starts.get(at) else {
            return Ok(Default::default());
        };
        let window_ns = self.meshes().window_ns;
        let analyzer: Option<Text> = self.meshes().analyzer.clone().map(Text::from);
        let span = start_ns..start_ns.saturating_add(window_ns);
        let mut pairs = Pairs::default();
        for probe in self.rows::<ProbeRow>(&span)? {
            pairs.probe(&probe);
        }
        let before = start_ns.saturating_sub(PATHS_NS)..span.end;
        let mut paths = self.rows::<PathRow>(&before)?;
        paths.sort_by_key(|hop| hop.time_ns);
        paths.iter().for_each(|hop| pairs.path(hop));
        let by = |observer: &Text| Some(observer) == analyzer.as_ref();
        let mut mesh = MeshRows {
            start_ns,
            window_ns,
            pairs: pairs.rows(start_ns, window_ns),
            sla: self.rows::<SlaRow>(&span)?,
            verdicts: self.rows::<VerdictRow>(&span)?,
            links: self.rows::<LinkRow>(&span)?,
        };
        let revisions = Revisions::of(&mesh.sla);
        mesh.sla.retain(|row| by(&row.observer) && revisions.has(row));
        mesh.verdicts.retain(|row| by(&row.observer) && revisions.has(row));
        mesh.links.retain(|row| by(&row.observer) && revisions.has(row));
        Ok((mesh, pairs.unfollowed()))
    }
}
