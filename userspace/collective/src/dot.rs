//! The graphs for Graphviz.

use crate::analysis::Analysis;
use crate::steps::FlowKey;
use crate::telemetry::PortKey;
use crate::waiting::Vertex;
use alloc::format;
use alloc::string::String;

/// The critical path, and the provenance graph of each window, in the language of Graphviz.
#[must_use]
pub fn dot(analysis: &Analysis) -> String {
    let mut out = String::from("digraph collective {\n  rankdir=LR;\n  node [shape=box];\n");
    let steps = &analysis.steps;
    let name = |vertex: &Vertex| {
        let step = &steps.steps[vertex.step];
        let channel = match steps.streams[step.stream as usize].channel {
            Some(channel) => format!(" channel {channel}"),
            None => String::new(),
        };
        format!(
            "{}{channel} step {} {}",
            steps.host(step),
            step.number,
            vertex.event.name()
        )
    };
    out.push_str("  subgraph cluster_path {\n    label=\"critical path\";\n");
    for two in analysis.path.vertices.windows(2) {
        let part = analysis.path.parts.iter().find(|part| part.step == two[0].step);
        // Only an edge from an end has a weight.
        let ns = part.filter(|_| two[0].event.name() == "end").map_or(0, |part| part.ns);
        let (from, to) = (quote(&name(&two[0])), quote(&name(&two[1])));
        out.push_str(&format!("    {from} -> {to} [label=\"{} ms\"];\n", ns as f64 / 1e6));
    }
    out.push_str("  }\n");
    for (number, window) in analysis.windows.iter().enumerate() {
        let id = |text: &str| quote(&format!("w{number} {text}"));
        out.push_str(&format!(
            "  subgraph cluster_window{number} {{\n    label=\"window at {} ms\";\n",
            window.start_ns as f64 / 1e6
        ));
        for port in &window.graph.ports {
            let here = port_name(&port.key);
            out.push_str(&format!("    {} [label={}];\n", id(&here), quote(&here)));
            for edge in &port.flows {
                let flow = flow_name(&edge.flow);
                out.push_str(&format!("    {} [label={}, shape=ellipse];\n", id(&flow), quote(&flow)));
                let (port, flow) = (id(&here), id(&flow));
                out.push_str(&format!("    {port} -> {flow} [label=\"{:.1}\"];\n", edge.port_waits));
                if edge.flow_waits > 0 {
                    out.push_str(&format!("    {flow} -> {port} [label=\"{}\"];\n", edge.flow_waits));
                }
            }
            for (next, weight) in &port.next {
                let there = port_name(&window.graph.ports[*next].key);
                out.push_str(&format!(
                    "    {} -> {} [label=\"{weight:.3}\", style=bold];\n",
                    id(&here),
                    id(&there)
                ));
            }
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn port_name(key: &PortKey) -> String {
    format!("switch {} port {}", key.switch, key.port)
}

fn flow_name(flow: &FlowKey) -> String {
    match flow.src_port {
        Some(port) => format!("{} > {} :{port}", flow.src, flow.dst),
        None => format!("{} > {}", flow.src, flow.dst),
    }
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
