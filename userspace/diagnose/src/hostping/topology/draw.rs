//! The tree as text.

use super::{Link, LinkKind, NodeKind, Topology};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

/// Draws the host: each processor with its memory and what is attached, then the links between processors.
#[must_use]
pub fn draw(topology: &Topology) -> String {
    let mut out = String::new();
    for cpu in topology.of_kind(NodeKind::Cpu) {
        let above = topology.nodes[cpu]
            .parent
            .map(|socket| format!(" on {}", topology.nodes[socket].name));
        let _ = writeln!(out, "{}{}", topology.nodes[cpu].name, above.unwrap_or_default());
        below(topology, cpu, "", &mut out);
    }
    for (at, link) in topology.links.iter().enumerate() {
        if link.kind == LinkKind::InterSocket {
            let (a, b) = topology.ends(at);
            let _ = writeln!(out, "{a} <-> {b}");
        }
    }
    for note in &topology.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

fn below(topology: &Topology, node: usize, lead: &str, out: &mut String) {
    let is_child = |at: &usize| topology.nodes[*at].parent == Some(node);
    let children: Vec<usize> = (0..topology.nodes.len()).filter(is_child).collect();
    for (place, child) in children.iter().enumerate() {
        let is_last = place + 1 == children.len();
        let _ = writeln!(
            out,
            "{lead}{}{}",
            if is_last { "└─ " } else { "├─ " },
            line(topology, *child)
        );
        let lead = format!("{lead}{}", if is_last { "   " } else { "│  " });
        below(topology, *child, &lead, out);
    }
}

/// A node with its address, line rate and link.
fn line(topology: &Topology, at: usize) -> String {
    let node = &topology.nodes[at];
    let mut line = node.name.clone();
    if node.kind != NodeKind::Memory {
        for alias in &node.aliases {
            line = format!("{line}, {alias}");
        }
    }
    if !node.address.is_empty() {
        line = format!("{line}  {}", node.address);
    }
    if let Some(rate) = node.rate_gbps {
        line = format!("{line}  port {rate:.0} Gbit/s");
    }
    let link: Option<&Link> = topology.links.iter().find(|link| link.a == at);
    match link.and_then(|link| Some((link.is_c2c, link.now?))) {
        Some((true, now)) => line = format!("{line}  C2C {:.0} GB/s", now.gbps / 8.0),
        Some((false, now)) => line = format!("{line}  PCIe {}", now.text()),
        None => {}
    }
    match link.and_then(|link| Some((link.now?, link.max?))) {
        Some((now, max)) if now.gbps < max.gbps * 0.99 => format!("{line}, below its maximum of {}", max.text()),
        _ => line,
    }
}
