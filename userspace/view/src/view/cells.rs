//! The mesh: its rows, and the cursor on its matrix.

use super::View;
use crate::inside::Inside;
use crate::mesh::plan::{self, Plan};
use crate::pane::Pane;
use ratatui::layout::Rect;
use rocescope_diagnose::owners::Owners;
use rocescope_model::{HostPortRow, IncidentRow, LoopbackRow, MeshRows, PairRow};
use std::sync::Arc;

impl View {
    /// Sets the probe mesh of the windows that follow, until the next mesh.
    pub fn mesh(&mut self, rows: MeshRows) {
        self.mesh = Some(Arc::new(rows));
        if self.held.is_none() {
            self.refresh();
        }
    }

    /// Sets the ports of hosts in the windows that follow, until the next ports.
    pub fn host_ports(&mut self, rows: Vec<HostPortRow>) {
        self.host_ports = Arc::new(rows);
        if self.held.is_none() {
            self.refresh();
        }
    }

    /// Sets all incidents that are known, the worst first. Each window shows those of its time.
    pub fn incidents(&mut self, rows: Vec<IncidentRow>) {
        self.incidents = rows;
        self.refresh();
    }

    /// Sets the loopback tests inside hosts in the windows that follow: the last run of each host.
    pub fn loopback(&mut self, rows: Vec<LoopbackRow>) {
        self.inside = Arc::new(Inside::new(rows));
        if self.held.is_none() {
            self.refresh();
        }
    }

    /// Sets whose queue pairs are, of the time of the windows that follow.
    pub fn owners(&mut self, owners: Arc<Owners>) {
        self.owners = owners;
        if self.held.is_none() {
            self.refresh();
        }
    }

    /// Focuses this pane.
    pub const fn turn_to_pane(&mut self, pane: Pane) {
        self.focus = pane;
    }

    /// The mesh that is shown; `None` before the first.
    pub(crate) fn mesh_shown(&self) -> Option<&MeshRows> {
        let mesh = &self.shown.as_ref()?.mesh;
        (mesh.window_ns > 0).then_some(&**mesh)
    }

    /// The pair under the cursor.
    pub(crate) fn pair(&self) -> Option<&PairRow> {
        let chosen = self.listing(Pane::Mesh).chosen()?;
        self.mesh_shown()?.pairs.get(chosen)
    }

    /// The layout of the mesh in its pane.
    pub(crate) fn mesh_plan(&self, area: Rect) -> Plan {
        let cursor = self.pair().and_then(|pair| self.matrix.place(pair));
        plan::of(&self.matrix, area, cursor.unwrap_or_default(), |width| {
            crate::mesh::verdict_text::length(self, width)
        })
    }

    /// Moves the cursor `by` rows down.
    pub(super) fn step_down(&mut self, by: i64) {
        if let Some(cell) = self.pair().and_then(|pair| self.matrix.place(pair)) {
            self.choose_cell(self.matrix.down(cell, by));
        }
    }

    /// Moves the cursor `by` columns to the right.
    pub(super) fn turn_target(&mut self, by: i64) {
        if self.focus != Pane::Mesh {
            self.note("this key moves between probed NICs in the mesh pane");
        } else if let Some(cell) = self.pair().and_then(|pair| self.matrix.place(pair)) {
            self.choose_cell(self.matrix.right(cell, by));
        }
    }

    /// Selects the pair in a cell, if there is one.
    pub(super) fn choose_cell(&mut self, (row, column): (usize, usize)) {
        let pair = self.matrix.at(row, column);
        let order = &self.listing(Pane::Mesh).order;
        let place = order.iter().position(|at| Some(*at as usize) == pair);
        if let Some(place) = place {
            self.choose(Pane::Mesh, place);
        }
    }
}
