//! The charts of paths: the fabric, the distribution of each layer, the imbalance over time, and throughput.

use crate::chart::boxes::{Boxes, Spread};
use crate::chart::columns::{Column, Columns};
use crate::chart::fabric::{FabricPlot, Line, Load, Place, Tier};
use crate::chart::lines::{self, Lines, Span, Step};
use crate::chart::{Chart, Plot};
use crate::collect::{PathFigures, PathFlow, Unevenness};
use crate::series::Series;
use crate::words::plural;
use rocescope_diagnose::mesh::natural;
use rocescope_diagnose::paths::{Direction, Layer, LinkLoad};
use rocescope_model::{Unit, Value, human};
use std::collections::{BTreeMap, BTreeSet};

/// Nodes of a tier that are drawn: those with the fullest links first.
const MAX_NODES: usize = 64;
/// Columns of a distribution: with more links, each is the mean of several neighbors.
const MAX_COLUMNS: usize = 256;
/// Flows that the page lists for all links together, and the fewest for each.
const MAX_LISTED: usize = 16_384;
const MIN_LISTED: usize = 8;
/// Jobs with a chart.
const MAX_JOBS: usize = 8;
/// Rows of box plots besides that of all flows.
const MAX_BOXES: u64 = 12;

pub(super) fn charts(paths: &PathFigures) -> Vec<Chart> {
    let mut charts = Vec::new();
    if paths.fabric.links() > 0 {
        charts.push(fabric(paths));
    }
    charts.extend(distributions(paths));
    charts.extend(
        paths
            .over_time
            .as_ref()
            .and_then(|all| over_time("FIM over time".into(), all)),
    );
    charts.extend(paths.jobs.iter().take(MAX_JOBS).filter_map(|job| {
        // Of one window, the table has all.
        let has_course = job.over_time.iter().len() > 1;
        has_course
            .then(|| over_time(format!("FIM over time: {}", job.name), &job.over_time))
            .flatten()
    }));
    charts.extend(throughput(paths));
    charts
}

fn rate(bps: f64) -> String {
    human::readable(&Value::F64(bps), Unit::BitsPerSecond)
}

fn words(flows: usize, ideal: Option<f64>, bps: Option<f64>) -> String {
    let mut words = plural(flows as u64, "flow");
    if let Some(ideal) = ideal {
        words += &format!(", ideal {ideal:.2} ({:+.0} %)", (flows as f64 / ideal - 1.0) * 100.0);
    }
    if let Some(bps) = bps {
        words += &format!(", {}", rate(bps));
    }
    words
}

/// The fabric as a picture.
fn fabric(paths: &PathFigures) -> Chart {
    let fabric = &paths.fabric;
    let mut crossing: Vec<Vec<&PathFlow>> = vec![Vec::new(); fabric.links() * 2];
    for flow in &paths.flows {
        for way in &flow.ways {
            if let Some(flows) = crossing.get_mut(way.index()) {
                flows.push(flow);
            }
        }
    }
    let layers = paths.imbalance.layers.iter();
    let layers: BTreeMap<_, _> = layers
        .map(|layer| ((&*layer.from, &*layer.to, layer.within), layer))
        .collect();
    let (tiers, places, omitted) = tiers(paths, &crossing);
    let end = |way: Direction, is_start: bool| {
        let end = if is_start { fabric.from(way) } else { fabric.to(way) };
        Some((*places.get(&end.node)?, fabric.end_name(end)))
    };
    let listed = (MAX_LISTED / crossing.len().max(1)).max(MIN_LISTED);
    let lines = fabric.directions().filter_map(|way| {
        let ((from, start), (to, stop)) = (end(way, true)?, end(way, false)?);
        let flows = &crossing[way.index()];
        let Layer {
            from: near,
            to: far,
            within,
        } = fabric.layer(way);
        let (near, far) = (fabric.tier_name(near), fabric.tier_name(far));
        let layer = layers.get(&(&*near, &*far, within));
        let ideal = layer.and_then(|layer| layer.ideal);
        let most = layer.map_or(1, |layer| layer.max_flows.max(1));
        let rates: Option<f64> = flows.iter().map(|flow| flow.bps).sum();
        let line = |flow: &&PathFlow| match flow.bps {
            Some(bps) => format!("{}, {}", flow.name, rate(bps)),
            None => flow.name.clone(),
        };
        Some(Line {
            id: way.index(),
            link: way.index() / 2,
            from,
            to,
            name: format!("{start} → {stop}"),
            words: words(flows.len(), ideal, rates.filter(|_| !flows.is_empty())),
            load: Load::of(flows.len() as u64, ideal),
            width: flows.len() as f64 / most as f64,
            flows: flows.iter().take(listed).map(line).collect(),
            more: flows.len().saturating_sub(listed),
        })
    });
    let mut note = "a line is one direction of a link, the wider the more flows, dashed without any; \
                    click on one for its flows"
        .to_owned();
    if omitted > 0 {
        note += &format!("; without {} of links with fewer flows", plural(omitted as u64, "node"));
    }
    Chart {
        title: "Fabric".into(),
        note: Some(note),
        plot: Plot::Fabric(FabricPlot {
            lines: lines.collect(),
            tiers,
        }),
    }
}

/// The tiers with their nodes in order, the place of each node, and the number of nodes that are not drawn.
fn tiers(paths: &PathFigures, crossing: &[Vec<&PathFlow>]) -> (Vec<Tier>, BTreeMap<usize, Place>, usize) {
    let fabric = &paths.fabric;
    let most = |node: usize| {
        let ways = fabric.leaving(node).flat_map(|way| [way, way.reversed()]);
        ways.map(|way| crossing[way.index()].len()).max().unwrap_or(0)
    };
    let mut of_tier: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, node) in fabric.nodes().iter().enumerate() {
        of_tier
            .entry(node.tier.unwrap_or(fabric.tiers.len()))
            .or_default()
            .push(number);
    }
    let mut omitted = 0;
    for nodes in of_tier.values_mut() {
        nodes.sort_by(|a, b| {
            most(*b)
                .cmp(&most(*a))
                .then_with(|| natural(fabric.name(*a), fabric.name(*b)))
        });
        omitted += nodes.len().saturating_sub(MAX_NODES);
        nodes.truncate(MAX_NODES);
        nodes.sort_by(|a, b| natural(fabric.name(*a), fabric.name(*b)));
    }
    // A host is below its switches: at the mean of their places.
    let mut places: BTreeMap<usize, Place> = BTreeMap::new();
    for (tier, nodes) in of_tier.values_mut().enumerate().rev() {
        if tier == 0 {
            let mean = |node: usize| {
                let above = fabric.leaving(node).filter_map(|way| places.get(&fabric.to(way).node));
                let above: Vec<usize> = above.map(|place| place.1).collect();
                above.iter().sum::<usize>() as f64 / above.len().max(1) as f64
            };
            nodes.sort_by(|a, b| mean(*a).total_cmp(&mean(*b)));
        }
        places.extend(nodes.iter().enumerate().map(|(at, node)| (*node, (tier, at))));
    }
    let tiers = of_tier.iter().map(|(tier, nodes)| Tier {
        name: fabric.tier_name(Some(*tier).filter(|tier| *tier < fabric.tiers.len())),
        nodes: nodes.iter().map(|node| fabric.name(*node).to_owned()).collect(),
    });
    (tiers.collect(), places, omitted)
}

/// Flows per link of each layer that has any, sorted.
fn distributions(paths: &PathFigures) -> impl Iterator<Item = Chart> {
    let layers = paths.imbalance.layers.iter();
    layers.filter_map(|layer| {
        let ideal = layer.ideal?;
        let loads = paths.imbalance.link_loads.iter();
        let mut links: Vec<&LinkLoad> = loads.filter(|link| layer.has(link)).collect();
        links.sort_by_key(|link| std::cmp::Reverse(link.flows));
        let each = links.len().div_ceil(MAX_COLUMNS).max(1);
        let columns = links.chunks(each).filter_map(|links| {
            let (first, last) = (links.first()?, links.last()?);
            let flows: u64 = links.iter().map(|link| link.flows).sum();
            let name = |link: &LinkLoad| format!("{}:{} → {}:{}", link.from, link.from_port, link.to, link.to_port);
            let words = match links.len() {
                1 => format!(
                    "{}\n{}",
                    name(first),
                    words(first.flows as usize, Some(ideal), first.bps)
                ),
                count => format!("{count} links\n{} to {} flows", last.flows, first.flows),
            };
            Some(Column {
                words,
                value: flows as f64 / links.len() as f64,
            })
        });
        let fim = layer
            .fim_percent
            .map_or(String::new(), |fim| format!(", FIM {fim:.1} %"));
        Some(Chart {
            title: format!("{} to {}{fim}", layer.from, layer.far()),
            note: (each > 1).then(|| format!("a column is the mean of {each} links")),
            plot: Plot::Columns(Columns {
                unit: "flows",
                axis: format!(
                    "{}, the one with the most flows first",
                    plural(layer.links as u64, "link")
                ),
                ideal,
                columns: columns.collect(),
            }),
        })
    })
}

/// The imbalance of each window.
fn over_time(title: String, series: &Series<Unevenness>) -> Option<Chart> {
    let period_ns = series.period_ns();
    let steps = series.iter().map(|(start_ns, window)| Step {
        start_ns,
        end_ns: start_ns.saturating_add(period_ns),
        value: window.fim(),
    });
    let steps: Vec<Step> = steps.collect();
    let (first, last) = (steps.first()?, steps.last()?);
    Some(Chart {
        title,
        note: (series.joined() > 1).then(|| format!("a point is the mean of {} windows", series.joined())),
        plot: Plot::Lines(Lines {
            unit: Unit::Ratio,
            span: Span {
                start_ns: first.start_ns,
                end_ns: last.end_ns,
            },
            dashed: false,
            lines: vec![lines::Line {
                name: "FIM",
                colour: 0,
                steps,
            }],
        }),
    })
}

/// Throughput of flows, all together and by the fullest link between switches that they cross.
fn throughput(paths: &PathFigures) -> Option<Chart> {
    let fabric = &paths.fabric;
    let mut on: BTreeMap<usize, u64> = BTreeMap::new();
    let switched = |way: &&Direction| {
        let Layer { from, to, .. } = fabric.layer(**way);
        from != Some(0) && to != Some(0)
    };
    for way in paths.flows.iter().flat_map(|flow| &flow.ways) {
        *on.entry(way.index()).or_default() += 1;
    }
    let fullest = |flow: &PathFlow| {
        flow.ways
            .iter()
            .filter(switched)
            .filter_map(|way| on.get(&way.index()))
            .max()
            .copied()
    };
    let rated: Vec<(Option<u64>, f64)> = paths
        .flows
        .iter()
        .filter_map(|flow| Some((fullest(flow), flow.bps?)))
        .collect();
    let all = Spread::of("All flows".into(), rated.iter().map(|(_, bps)| *bps).collect())?;
    let unrated = paths.flows.len() - rated.len();
    let counts: BTreeSet<u64> = rated.iter().filter_map(|(count, _)| *count).collect();
    let each = (counts.len() as u64).div_ceil(MAX_BOXES).max(1);
    let first = counts.first().copied().unwrap_or(0);
    let mut groups: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (count, bps) in &rated {
        if let Some(count) = count {
            groups.entry((count - first) / each).or_default().push(*bps);
        }
    }
    let groups = groups.into_iter().filter_map(|(group, values)| {
        let from = first + group * each;
        let name = match each {
            1 => format!("Fullest link: {}", plural(from, "flow")),
            _ => format!("Fullest link: {from} to {} flows", from + each - 1),
        };
        Spread::of(name, values)
    });
    let mut note =
        "median at the right; by the link between switches with the most flows that a flow crosses".to_owned();
    if unrated > 0 {
        note += &format!("; without {} of unknown rate", plural(unrated as u64, "flow"));
    }
    Some(Chart {
        title: "Throughput of flows".into(),
        note: Some(note),
        plot: Plot::Boxes(Boxes {
            unit: Unit::BitsPerSecond,
            rows: [all].into_iter().chain(groups).collect(),
        }),
    })
}
