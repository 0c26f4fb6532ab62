//! A fabric: tiers of nodes, and a line for each direction of each link, by its load. A click on one lists its flows.

use super::drawing::{Canvas, frame, number, shortened};
use maud::{Markup, html};
use std::collections::BTreeMap;

const TOP: f64 = 8.0;
const BOX: f64 = 22.0;
/// Largest width of a node, and its share of its place.
const NODE: f64 = 180.0;
const SHARE: f64 = 0.84;
/// Width of a letter, and the fewest letters that name a node.
const LETTER: f64 = 6.8;
const LETTERS: usize = 3;
/// Widths of lines without flows and with the most, where there is room.
const THIN: f64 = 0.8;
const THICK: f64 = 4.0;
/// Distance between the two directions of a link, at most.
const APART: f64 = 5.0;

/// How a direction of a link compares with the ideal of its layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// The layer has no ideal.
    Unknown,
    /// No flow crosses it.
    Unused,
    /// At least 25 % below.
    Below,
    /// Less than 25 % from it.
    Near,
    /// At least 25 % above.
    Above,
    /// At least twice as many.
    Double,
}

impl Load {
    /// Compares a number of flows with the ideal.
    #[must_use]
    pub fn of(flows: u64, ideal: Option<f64>) -> Self {
        let ratio = ideal.map(|ideal| flows as f64 / ideal);
        match ratio {
            _ if flows == 0 => Self::Unused,
            None => Self::Unknown,
            Some(ratio) if ratio >= 2.0 => Self::Double,
            Some(ratio) if ratio >= 1.25 => Self::Above,
            Some(ratio) if ratio > 0.75 => Self::Near,
            Some(_) => Self::Below,
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Unused => "unused",
            Self::Below => "c0",
            Self::Near => "c3",
            Self::Above => "c1",
            Self::Double => "c4",
        }
    }
}

/// Nodes of a tier.
#[derive(Debug)]
pub struct Tier {
    /// Its name.
    pub name: String,
    /// Its nodes from left to right.
    pub nodes: Vec<String>,
}

/// A node: its tier, and its place there.
pub type Place = (usize, usize);

/// A direction of a link.
#[derive(Debug)]
pub struct Line {
    /// Number of the direction.
    pub id: usize,
    /// Number of the link.
    pub link: usize,
    /// Where it starts.
    pub from: Place,
    /// Where it ends.
    pub to: Place,
    /// `node:port` of both ends.
    pub name: String,
    /// Its flows, and what they compare with.
    pub words: String,
    /// Its load.
    pub load: Load,
    /// Its flows divided by the most of its layer.
    pub width: f64,
    /// Its flows by name, as many as the page lists.
    pub flows: Vec<String>,
    /// Number of further flows.
    pub more: usize,
}

/// Tiers from the hosts up, and their links.
#[derive(Debug)]
pub struct FabricPlot {
    /// The tiers.
    pub tiers: Vec<Tier>,
    /// The directions of links between their nodes.
    pub lines: Vec<Line>,
}

/// A point of the drawing.
type Point = (f64, f64);

impl FabricPlot {
    pub(super) fn legend() -> Vec<(String, &'static str)> {
        let key = |load: Load| load.class().to_owned();
        vec![
            (key(Load::Below), "25 % or more below the ideal"),
            (key(Load::Near), "near it"),
            (key(Load::Above), "25 % or more above"),
            (key(Load::Double), "twice or more"),
        ]
    }

    pub(super) fn svg(&self, title: &str, canvas: Canvas) -> Markup {
        let (names, letters, step) = match canvas {
            Canvas::Wide => (92.0, 12, 170.0),
            Canvas::Narrow => (54.0, 7, 120.0),
        };
        let layout = Layout {
            left: names,
            right: canvas.right(),
            step,
            tiers: &self.tiers,
        };
        let ports = self.ports(&layout);
        // The fullest are above the others.
        let mut lines: Vec<&Line> = self.lines.iter().collect();
        lines.sort_by(|a, b| a.width.total_cmp(&b.width));
        let content = html! {
            @for line in &lines {
                @if let Some(([from, to], room)) = ports.get(&line.id) {
                    a.item href=(format!("#{}", id(line))) aria-label=(line.name) {
                        title { (line.name) "\n" (line.words) }
                        @let way = path(*from, *to, line.from.0 == line.to.0);
                        path.reach d=(way) {}
                        path.link.(line.load.class()) d=(way)
                            stroke-width=(number(THIN + line.width.clamp(0.0, 1.0) * (room.clamp(THIN, THICK) - THIN))) {}
                    }
                }
            }
            @for (at, tier) in self.tiers.iter().enumerate() {
                @let y = layout.top(at);
                text.tick x="0" y=(number(y + 15.0)) { (shortened(&tier.name, letters)) }
                @for (place, node) in tier.nodes.iter().enumerate() {
                    @let (x, width) = layout.node((at, place));
                    @let room = ((width - 6.0) / LETTER).max(0.0) as usize;
                    g {
                        title { (node) }
                        rect.node x=(number(x - width / 2.0)) y=(number(y)) width=(number(width)) height=(number(BOX)) rx="4" {}
                        @if room >= LETTERS {
                            text.label x=(number(x)) y=(number(y + 15.0)) text-anchor="middle" { (shortened(node, room)) }
                        }
                    }
                }
            }
        };
        let height = layout.top(0) + BOX + TOP;
        frame(canvas, "fabric", title, height, &content)
    }

    /// What a click on a line shows: without a script, by the address of the line.
    pub(super) fn below(&self) -> Markup {
        html! {
            @for line in &self.lines {
                div.crossing #(id(line)) {
                    h3 { (line.name) }
                    p { (line.words) }
                    @if !line.flows.is_empty() {
                        ul { @for flow in &line.flows { li { (flow) } } }
                        @if line.more > 0 { p { "and " (line.more) " more" } }
                    }
                }
            }
        }
    }

    /// Where each direction begins and ends, and how wide it may be: links are spread over the side of a node, in the
    /// order of the far ends.
    fn ports(&self, layout: &Layout<'_>) -> BTreeMap<usize, ([Point; 2], f64)> {
        let mut sides: BTreeMap<(Place, bool), Vec<(f64, usize)>> = BTreeMap::new();
        let mut links: Vec<&Line> = self.lines.iter().collect();
        links.sort_by_key(|line| line.link);
        links.dedup_by_key(|line| line.link);
        for line in links {
            for (near, far) in [(line.from, line.to), (line.to, line.from)] {
                let is_above = far.0 > near.0;
                let side = sides.entry((near, is_above)).or_default();
                side.push((layout.node(far).0, line.link));
            }
        }
        let mut ends: BTreeMap<(usize, Place), (Point, f64)> = BTreeMap::new();
        for ((place, is_above), mut side) in sides {
            side.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let (x, width) = layout.node(place);
            let room = width / side.len() as f64;
            let y = layout.top(place.0) + if is_above { 0.0 } else { BOX };
            for (at, (_, link)) in side.iter().enumerate() {
                let x = x - width / 2.0 + room * (at as f64 + 0.5);
                ends.insert((*link, place), ((x, y), (room / 2.0).min(APART)));
            }
        }
        let line_of = |line: &Line| {
            let ((x1, y1), near) = *ends.get(&(line.link, line.from))?;
            let ((x2, y2), far) = *ends.get(&(line.link, line.to))?;
            // Up at the left, down at the right.
            let side = if line.from < line.to { -0.5 } else { 0.5 };
            let ends = [(x1 + side * near, y1), (x2 + side * far, y2)];
            Some((line.id, (ends, near.min(far) * SHARE)))
        };
        self.lines.iter().filter_map(line_of).collect()
    }
}

fn id(line: &Line) -> String {
    format!("link-{}", line.id)
}

/// A straight line, or an arc between nodes of the same tier.
fn path((x1, y1): Point, (x2, y2): Point, is_arc: bool) -> String {
    let [x1, y1, x2, y2, middle, low] = [x1, y1, x2, y2, f64::midpoint(x1, x2), y1.max(y2) + 40.0].map(number);
    match is_arc {
        true => format!("M{x1} {y1}Q{middle} {low} {x2} {y2}"),
        false => format!("M{x1} {y1}L{x2} {y2}"),
    }
}

/// Places of nodes.
struct Layout<'a> {
    left: f64,
    right: f64,
    step: f64,
    tiers: &'a [Tier],
}

impl Layout<'_> {
    /// Upper edge of the nodes of a tier.
    fn top(&self, tier: usize) -> f64 {
        TOP + self.step * self.tiers.len().saturating_sub(tier + 1) as f64
    }

    /// Middle and width of a node.
    fn node(&self, (tier, place): Place) -> (f64, f64) {
        let count = self.tiers.get(tier).map_or(1, |tier| tier.nodes.len().max(1));
        let room = (self.right - self.left) / count as f64;
        (self.left + room * (place as f64 + 0.5), (room * SHARE).min(NODE))
    }
}

#[cfg(test)]
mod tests {
    use super::{Canvas, FabricPlot, Line, Load, Tier};

    #[test]
    fn loads_compare_with_the_ideal() {
        for (flows, ideal, load) in [
            (0, Some(4.0), Load::Unused),
            (3, None, Load::Unknown),
            (3, Some(4.0), Load::Below),
            (4, Some(4.0), Load::Near),
            (5, Some(4.0), Load::Above),
            (8, Some(4.0), Load::Double),
        ] {
            assert_eq!(Load::of(flows, ideal), load, "{flows}");
        }
    }

    #[test]
    fn every_direction_is_a_line_that_leads_to_its_flows() {
        let line = |id: usize, from, to| Line {
            id,
            link: id / 2,
            from,
            to,
            name: "leaf1:e1 → spine1:e1".into(),
            words: "2 flows".into(),
            load: Load::Near,
            width: 1.0,
            flows: vec!["<a>".into()],
            more: 1,
        };
        let tier = |name: &str, nodes: &[&str]| Tier {
            name: name.into(),
            nodes: nodes.iter().map(ToString::to_string).collect(),
        };
        let (leaf, spine) = ((0, 0), (1, 0));
        let plot = FabricPlot {
            tiers: vec![tier("leaf", &["leaf1", "leaf2"]), tier("spine", &["spine1"])],
            // Two parallel links, both directions of each.
            lines: vec![
                line(0, leaf, spine),
                line(1, spine, leaf),
                line(2, leaf, spine),
                line(3, spine, leaf),
            ],
        };
        for canvas in [Canvas::Wide, Canvas::Narrow] {
            let svg = plot.svg("Fabric", canvas).into_string();
            assert_eq!(svg.matches("class=\"link c3\"").count(), 4);
            assert_eq!(svg.matches("class=\"node\"").count(), 3);
            let mut paths: Vec<&str> = svg
                .split("class=\"link c3\" d=\"")
                .skip(1)
                .filter_map(|d| d.split('"').next())
                .collect();
            paths.dedup();
            assert_eq!(paths.len(), 4, "no line covers another");
            assert!(!svg.contains("NaN"));
        }
        let below = plot.below().into_string();
        assert!(below.contains("id=\"link-3\"") && below.contains("&lt;a&gt;") && below.contains("and 1 more"));
    }
}
