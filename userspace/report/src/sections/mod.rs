//! The document: findings, facts, tables and charts in an operator's order, one file for each section.
//!
//! Only this module determines the content of a section, so text, markdown and HTML have the same content. Values of
//! columns use titles and units of the model's registry.
//!
//! | module | its question |
//! |---|---|
//! | `incidents` | what is wrong, where, since when, who suffers, and what to do? |
//! | `overview` | what was captured, and when? |
//! | `loss` | was everything captured? |
//! | `rates` | how much traffic? |
//! | `opcodes` | which operations? |
//! | `flows` | which flows carry it? |
//! | `spread` | how evenly do senders spray packets over their ports? |
//! | `groups` | who sends, who receives, and what? |
//! | `connections` | which connections have problems? |
//! | `owners` | whose traffic is it? |
//! | `pdcs` | which packet delivery contexts of UET have problems? |
//! | `events` | which events happened? |
//! | `congestion` | was there congestion? |
//! | `classes` | do packets use the traffic classes they should? |
//! | `mesh` | does every NIC reach every other? |
//! | `sla` | what is its service level over time? |
//! | `verdicts` | what fails, and where? |
//! | `coverage` | which links did probes cross? |
//! | `host_faults` | whose fault is it: application, host, NIC, link or network? |
//! | `paths`, `paths_drawn` | how evenly do flows load the links of the fabric? |
//! | `collective` | which step, flow and port made a collective slow? |
//! | `loopback` | which links inside hosts are abnormal? |
//! | `counters` | what did the hosts count? |
//! | `switches` | what did the switches count? |
//!
//! `section`, `grid` and `periods` contain their common parts.

mod classes;
mod collective;
mod congestion;
mod connections;
mod counters;
mod coverage;
mod events;
mod flows;
mod grid;
mod groups;
mod host_faults;
pub(crate) mod incidents;
mod loopback;
mod loss;
mod mesh;
mod opcodes;
mod overview;
mod owners;
mod paths;
mod paths_drawn;
mod pdcs;
mod periods;
mod rates;
mod section;
mod sla;
mod spread;
mod switches;
mod verdicts;

use crate::Report;
use crate::chart::Chart;
use rocescope_model::hosts::Hosts;
use rocescope_model::human::visible;

pub use grid::{Cell, Grid, Head, Source};
pub use overview::{Figure, headline};
pub use section::{Finding, Level, Section};

/// Returns all sections with content.
#[must_use]
pub fn all(report: &Report) -> Vec<Section> {
    let mut sections: Vec<Section> = incidents::section(report).into_iter().collect();
    sections.push(overview::section(report));
    if !report.is_empty() {
        sections.extend([
            loss::section(report),
            rates::section(report),
            opcodes::section(report),
            flows::section(report),
        ]);
        sections.extend(spread::section(report));
        if let Some(groups) = &report.groups {
            sections.push(groups::section(report, groups));
        }
    }
    // A dataset with only probes, counters, loopback tests or switches has no connections and events.
    let other = report.mesh.is_some()
        || report.collective.is_some()
        || report.counters.is_some()
        || report.loopback.is_some()
        || report.paths.is_some()
        || report.switches.is_some();
    let captured = !report.is_empty() || !other;
    if captured || report.connections.count > 0 {
        sections.push(connections::section(report));
    }
    if let Some(owners) = report.owners.as_ref().filter(|owners| !owners.rows.is_empty()) {
        sections.push(owners::section(report, owners));
    }
    sections.extend(pdcs::section(report));
    if captured || !report.events.kinds.is_empty() {
        sections.push(events::section(report));
    }
    if !report.is_empty() {
        sections.push(congestion::section(report));
    }
    sections.extend(classes::section(report));
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
    if let Some(paths) = &report.paths {
        sections.push(paths::section(report, paths));
    }
    if let Some(figures) = &report.collective {
        sections.push(collective::section(report, figures));
    }
    if let Some(faults) = &report.host_faults {
        sections.push(host_faults::section(report, faults));
    }
    if let Some(loopback) = &report.loopback {
        sections.push(loopback::section(loopback));
    }
    if let Some(counters) = &report.counters {
        sections.push(counters::section(report, counters));
    }
    if let Some(switches) = &report.switches {
        sections.push(switches::section(report, switches));
    }
    for section in &mut sections {
        for name in section.charts.iter_mut().flat_map(Chart::names_mut) {
            *name = visible(name);
        }
        name_addresses(section, &report.origin.hosts);
    }
    sections
}

/// Adds the names of addresses to every text of a section.
fn name_addresses(section: &mut Section, hosts: &Hosts) {
    if hosts.is_empty() {
        return;
    }
    let findings = section.findings.iter_mut().map(|finding| &mut finding.text);
    let facts = section.facts.iter_mut().map(|(_, fact)| fact);
    let cells = section.grids.iter_mut().flat_map(|grid| grid.rows.iter_mut().flatten());
    let charts = section.charts.iter_mut().flat_map(Chart::names_mut);
    let texts = findings
        .chain(facts)
        .chain(cells.map(|cell| &mut cell.text))
        .chain(charts);
    for text in texts {
        *text = hosts.text(text);
    }
}
