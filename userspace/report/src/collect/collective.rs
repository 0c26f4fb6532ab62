//! The analysis of a collective, in a size that a document can show.

use crate::chart::graph::{Column, Edge, GraphPlot, Node};
use crate::chart::steps::{Bar, Lane, Pace, StepsPlot};
use rocescope_collective::analysis::{Analysis, Window};
use rocescope_collective::document::{Document, FlowDocument};
use rocescope_collective::natural;
use rocescope_collective::provenance::PortNode;
use rocescope_collective::steps::{FlowKey, Step, Steps};
use rocescope_model::human::grouped;
use std::collections::{BTreeMap, BTreeSet};

/// Ranks that are drawn: those of the critical path first.
const MAX_LANES: usize = 48;
/// Bars of all lanes: in longer lanes, a bar is several consecutive steps.
const MAX_BARS: usize = 4_096;
/// Nodes of a column of the graph, those with the greatest weights.
const MAX_NODES: usize = 14;
/// Columns of ports: of longer chains, the rest is in the last.
const MAX_PORT_COLUMNS: usize = 4;

/// A collective.
#[derive(Debug)]
pub struct CollectiveFigures {
    /// The result.
    pub document: Document,
    /// Its steps over time.
    pub timeline: StepsPlot,
    /// Streams that are not drawn.
    pub omitted: usize,
    /// Steps in a bar of the timeline, at most.
    pub joined: usize,
    /// What its flows waited for in the worst window, and the start of that window since the start of the collective.
    pub graph: Option<(GraphPlot, i64)>,
}

impl CollectiveFigures {
    /// The figures of an analysis.
    #[must_use]
    pub fn of(analysis: &Analysis) -> Self {
        let start_ns = analysis.steps.span_ns().map_or(0, |(start, _)| start);
        let (timeline, omitted, joined) = timeline(analysis, start_ns);
        Self {
            document: Document::of(analysis),
            timeline,
            omitted,
            joined,
            graph: worst(&analysis.windows).map(|window| (graph(window, &analysis.steps), window.start_ns - start_ns)),
        }
    }
}

fn ms(ns: i64) -> String {
    format!("{:.3} ms", ns as f64 / 1e6)
}

fn stream_name(steps: &Steps, stream: usize) -> String {
    let stream = steps.streams[stream];
    let host = &steps.hosts[stream.host as usize];
    match stream.channel {
        Some(channel) => format!("{host}, channel {channel}"),
        None => host.to_string(),
    }
}

/// The timeline, the number of streams without a lane, and the greatest number of steps in a bar.
fn timeline(analysis: &Analysis, start_ns: i64) -> (StepsPlot, usize, usize) {
    let steps = &analysis.steps;
    let critical: BTreeSet<usize> = analysis.path.parts.iter().map(|part| part.step).collect();
    let mut on_path = vec![0_usize; steps.streams.len()];
    for step in &critical {
        on_path[steps.steps[*step].stream as usize] += 1;
    }
    let mut shown: Vec<usize> = (0..steps.streams.len())
        .filter(|stream| !steps.of_stream(*stream).is_empty())
        .collect();
    let all = shown.len();
    shown.sort_by_key(|stream| std::cmp::Reverse(on_path[*stream]));
    shown.truncate(MAX_LANES);
    shown.sort_by(|a, b| natural::compare(&stream_name(steps, *a), &stream_name(steps, *b)));
    let bars: usize = shown.iter().map(|stream| steps.of_stream(*stream).len()).sum();
    let joined = bars.div_ceil(MAX_BARS).max(1);
    let lane_of: BTreeMap<u32, usize> = shown
        .iter()
        .enumerate()
        .map(|(lane, stream)| (*stream as u32, lane))
        .collect();
    let lanes = shown.iter().map(|stream| {
        let numbers: Vec<usize> = steps.of_stream(*stream).collect();
        let of_chunk = |chunk: &[usize]| {
            let is_critical = chunk.iter().any(|step| critical.contains(step));
            let chunk: Vec<&Step> = chunk.iter().map(|step| &steps.steps[*step]).collect();
            bar(steps, &chunk, start_ns, is_critical)
        };
        Lane {
            name: stream_name(steps, *stream),
            bars: numbers.chunks(joined).filter_map(of_chunk).collect(),
        }
    });
    let lanes = lanes.collect();
    let path = analysis.path.parts.iter().rev().filter_map(|part| {
        let step = &steps.steps[part.step];
        let lane = *lane_of.get(&step.stream)?;
        Some((lane, step.start_ns - start_ns, step.end_ns() - start_ns))
    });
    let plot = StepsPlot {
        lanes,
        path: path.collect(),
    };
    (plot, all.saturating_sub(MAX_LANES), joined)
}

fn bar(steps: &Steps, chunk: &[&Step], start_ns: i64, is_critical: bool) -> Option<Bar> {
    let (first, last) = (chunk.first()?, chunk.last()?);
    let took_ns: i64 = chunk.iter().map(|step| step.duration_ns).sum();
    let expected_ns: Option<i64> = chunk.iter().map(|step| step.expected_ns()).sum();
    let numbers = match first.number == last.number {
        true => format!("step {}", first.number),
        false => format!("steps {} to {}", first.number, last.number),
    };
    let alone = expected_ns.map_or_else(|| "alone: unknown".into(), |ns| format!("alone {}", ms(ns)));
    let to = &steps.hosts[first.to as usize];
    let path = if is_critical { "\non the critical path" } else { "" };
    Some(Bar {
        start_ns: first.start_ns - start_ns,
        end_ns: last.end_ns() - start_ns,
        pace: Pace::of(took_ns, expected_ns),
        is_critical,
        words: format!(
            "{} to {to}, {numbers}\n{}, {alone}{path}",
            steps.host(first),
            ms(took_ns)
        ),
    })
}

/// The window in which other flows delayed the collective most, or else the one with most of its flows in queues.
fn worst(windows: &[Window]) -> Option<&Window> {
    let rating = |window: &Window| -> f64 {
        window
            .delays
            .iter()
            .flat_map(|delay| &delay.contributors)
            .map(|(_, rating)| rating)
            .sum()
    };
    windows.iter().max_by(|a, b| {
        rating(a)
            .total_cmp(&rating(b))
            .then(a.delays.len().cmp(&b.delays.len()))
    })
}

/// Nodes that are drawn, with their places.
struct Nodes<K> {
    names: Vec<(K, f64)>,
}

impl<K: Copy + PartialEq> Nodes<K> {
    fn add(&mut self, key: K, weight: f64) {
        match self.names.iter_mut().find(|(known, _)| *known == key) {
            Some((_, sum)) => *sum += weight,
            None => self.names.push((key, weight)),
        }
    }

    fn finish(mut self) -> Vec<(K, f64)> {
        self.names.sort_by(|a, b| b.1.total_cmp(&a.1));
        self.names.truncate(MAX_NODES);
        self.names
    }
}

/// Flows of the collective, the ports where they wait, the ports that these wait for, and the other flows there.
fn graph(window: &Window, steps: &Steps) -> GraphPlot {
    let ports = &window.graph.ports;
    let own = |flow: &FlowKey| steps.flows.contains(flow);
    let mut waiting = Nodes { names: Vec::new() };
    let mut others = Nodes { names: Vec::new() };
    let mut held = Nodes { names: Vec::new() };
    for (at, port) in ports.iter().enumerate() {
        held.add(
            at,
            port.flows.iter().map(|edge| edge.port_waits).sum::<f64>() + port.next.len() as f64,
        );
        for edge in &port.flows {
            match own(&edge.flow) {
                true if edge.flow_waits > 0 => waiting.add(edge.flow, edge.flow_waits as f64),
                false if edge.port_waits > 0.0 => others.add(edge.flow, edge.port_waits),
                _ => {}
            }
        }
    }
    let (waiting, others) = (waiting.finish(), others.finish());
    let depths = depths(ports);
    let mut of_depth: Vec<Vec<usize>> = Vec::new();
    for (port, _) in held.finish() {
        of_depth.resize_with(of_depth.len().max(depths[port] + 1), Vec::new);
        of_depth[depths[port]].push(port);
    }
    of_depth.retain(|column| !column.is_empty());
    let mut columns = vec![flow_column("flows that wait", &waiting, "waits for")];
    let mut place: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for of_depth in &of_depth {
        for (row, port) in of_depth.iter().enumerate() {
            place.insert(*port, (columns.len(), row));
        }
        columns.push(Column {
            name: if columns.len() == 1 {
                "ports"
            } else {
                "ports that pause them"
            }
            .into(),
            nodes: of_depth.iter().map(|port| port_node(&ports[*port])).collect(),
        });
    }
    let last = columns.len();
    columns.push(flow_column("other flows", &others, "contributes"));
    let mut edges = Vec::new();
    let most = |list: &[(FlowKey, f64)]| list.first().map_or(1.0, |(_, weight)| weight.max(1.0));
    let row = |list: &[(FlowKey, f64)], flow: &FlowKey| list.iter().position(|(known, _)| known == flow);
    for (port, at) in &place {
        let name = port_name(&ports[*port]);
        for edge in &ports[*port].flows {
            let words = flow_name(&edge.flow);
            if let (true, Some(row)) = (own(&edge.flow), row(&waiting, &edge.flow)) {
                edges.push(Edge {
                    from: (0, row),
                    to: *at,
                    width: edge.flow_waits as f64 / most(&waiting),
                    colour: 0,
                    words: format!("{words} waits at {name} for {} packets", grouped(edge.flow_waits)),
                });
            }
            if let (false, Some(row)) = (own(&edge.flow), row(&others, &edge.flow)) {
                edges.push(Edge {
                    from: *at,
                    to: (last, row),
                    width: edge.port_waits / most(&others),
                    colour: 4,
                    words: format!("{name}: {words} adds {:.1} packets to its queue", edge.port_waits),
                });
            }
        }
        for (next, weight) in &ports[*port].next {
            if let Some(to) = place.get(next) {
                edges.push(Edge {
                    from: *at,
                    to: *to,
                    width: *weight,
                    colour: 1,
                    words: format!("{name} is paused by {}, weight {weight:.3}", port_name(&ports[*next])),
                });
            }
        }
    }
    GraphPlot { columns, edges }
}

/// How many ports lead to each: the longest chain, and in a circle up to where it closes.
fn depths(ports: &[PortNode]) -> Vec<usize> {
    let mut depths = vec![0; ports.len()];
    for _ in 1..MAX_PORT_COLUMNS {
        let before = depths.clone();
        for (at, port) in ports.iter().enumerate() {
            for (next, _) in &port.next {
                if *next != at {
                    depths[*next] = depths[*next].max((before[at] + 1).min(MAX_PORT_COLUMNS - 1));
                }
            }
        }
    }
    depths
}

fn flow_column(name: &str, flows: &[(FlowKey, f64)], verb: &str) -> Column {
    let node = |(flow, weight): &(FlowKey, f64)| {
        let port = flow
            .src_port
            .map_or_else(String::new, |port| format!("from port {port}, "));
        Node {
            name: format!("{} > {}", flow.src, flow.dst),
            words: format!("{port}{verb} {weight:.1} packets"),
        }
    };
    Column {
        name: name.into(),
        nodes: flows.iter().map(node).collect(),
    }
}

fn flow_name(flow: &FlowKey) -> String {
    FlowDocument::of(flow).text()
}

fn port_name(port: &PortNode) -> String {
    format!("switch {} port {}", port.key.switch, port.key.port)
}

fn port_node(port: &PortNode) -> Node {
    Node {
        name: port_name(port),
        words: format!("{} flows", port.flows.len()),
    }
}
