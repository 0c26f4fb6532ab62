//! The document: sentences, facts, tables and charts in an operator's order, one file a section.
//!
//! What a section says is decided here and nowhere else, so text, markdown and the page say the
//! same. Figures that have a column are shown as the registry of the model tells.
//!
//! | module | its question |
//! |---|---|
//! | `overview` | what was captured, and when? |
//! | `loss` | is it all? |
//! | `rates` | how much? |
//! | `opcodes` | of what? |
//! | `flows` | by whom? |
//! | `connections` | who is in trouble? |
//! | `events` | what happened? |
//! | `congestion` | was it too much? |
//! | `mesh` | does every NIC reach every other? |
//! | `sla` | how well did the mesh do over time? |
//! | `verdicts` | what fails in it, and where? |
//! | `coverage` | which links did probes cross? |
//!
//! `section`, `grid` and `periods` are what they are made of.

mod congestion;
mod connections;
mod coverage;
mod events;
mod flows;
mod grid;
mod loss;
mod mesh;
mod opcodes;
mod overview;
mod periods;
mod rates;
mod section;
mod sla;
mod verdicts;

use crate::Report;

pub use grid::{Cell, Grid, Head};
pub use overview::{Figure, headline};
pub use section::{Finding, Level, Section};

/// All sections that have something to say.
#[must_use]
pub fn all(report: &Report) -> Vec<Section> {
    let mut sections = vec![overview::section(report)];
    if !report.is_empty() {
        sections.extend([
            loss::section(report),
            rates::section(report),
            opcodes::section(report),
            flows::section(report),
        ]);
    }
    // Where there are probes alone, nobody has looked for connections and events.
    let captured = !report.is_empty() || report.mesh.is_none();
    if captured || report.connections.count > 0 {
        sections.push(connections::section(report));
    }
    if captured || !report.events.kinds.is_empty() {
        sections.push(events::section(report));
    }
    if !report.is_empty() {
        sections.push(congestion::section(report));
    }
    if let Some(mesh) = &report.mesh {
        sections.push(mesh::section(report, mesh));
        if mesh.total.windows > 0 {
            sections.push(sla::section(report, mesh));
            sections.push(verdicts::section(report, mesh));
        }
        if !mesh.links.is_empty() {
            sections.push(coverage::section(report, mesh));
        }
    }
    sections
}
