//! A graph in columns: what waits at the left, what it waits for at the right.

use super::drawing::{Canvas, frame, number, shortened};
use maud::{Markup, html};

const TOP: f64 = 24.0;
const BOX: f64 = 24.0;
const ROW: f64 = 40.0;
const LETTER: f64 = 6.4;
const THIN: f64 = 1.0;
const THICK: f64 = 6.0;

/// A node.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What it is.
    pub words: String,
}

/// Nodes of a kind.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Its nodes from top to bottom.
    pub nodes: Vec<Node>,
}

/// What one node waits for.
#[derive(Debug, Clone)]
pub struct Edge {
    /// Column and row of the node that waits.
    pub from: (usize, usize),
    /// Of the node that it waits for.
    pub to: (usize, usize),
    /// Its weight, divided by the greatest of its kind.
    pub width: f64,
    /// Number of its colour.
    pub colour: usize,
    /// Its weight in words.
    pub words: String,
}

/// Columns and edges.
#[derive(Debug, Clone)]
pub struct GraphPlot {
    /// The columns.
    pub columns: Vec<Column>,
    /// The edges.
    pub edges: Vec<Edge>,
}

impl GraphPlot {
    pub(super) fn svg(&self, title: &str, canvas: Canvas) -> Markup {
        let rows = self.columns.iter().map(|column| column.nodes.len()).max().unwrap_or(0);
        let room = (canvas.right() - 2.0) / self.columns.len().max(1) as f64;
        let width = room * 0.8;
        let height = TOP + ROW * rows as f64;
        let place = |(column, row): (usize, usize)| {
            let count = self.columns.get(column).map_or(1, |column| column.nodes.len().max(1));
            let step = (height - TOP) / count as f64;
            (2.0 + room * column as f64, TOP + step * (row as f64 + 0.5))
        };
        let letters = ((width - 8.0) / LETTER) as usize;
        let content = html! {
            @for edge in &self.edges {
                @let (from, to) = (place(edge.from), place(edge.to));
                g {
                    title { (edge.words) }
                    path.link.(format!("c{}", edge.colour)) d=(way(from, to, width, edge.from.0 < edge.to.0))
                        stroke-width=(number(THIN + edge.width.clamp(0.0, 1.0) * (THICK - THIN))) {}
                }
            }
            @for (at, column) in self.columns.iter().enumerate() {
                text.tick x=(number(place((at, 0)).0)) y="13" { (shortened(&column.name, letters)) }
                @for (row, node) in column.nodes.iter().enumerate() {
                    @let (x, y) = place((at, row));
                    g {
                        title { (node.name) "\n" (node.words) }
                        rect.node x=(number(x)) y=(number(y - BOX / 2.0)) width=(number(width)) height=(number(BOX)) rx="4" {}
                        text.label x=(number(x + width / 2.0)) y=(number(y + 4.0)) text-anchor="middle" {
                            (shortened(&node.name, letters))
                        }
                    }
                }
            }
        };
        frame(canvas, "graph", title, height, &content)
    }
}

/// From the right side of a node to the left side of the next; an arc to a node that is not further right.
fn way((x1, y1): (f64, f64), (x2, y2): (f64, f64), width: f64, is_forward: bool) -> String {
    match is_forward {
        true => format!("M{} {}L{} {}", number(x1 + width), number(y1), number(x2), number(y2)),
        false => {
            let right = x1.max(x2) + width;
            let bend = number(right + 30.0);
            let (a, b) = (number(y1), number(y2));
            format!(
                "M{} {a}C{bend} {a} {bend} {b} {} {b}",
                number(x1 + width),
                number(x2 + width)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Canvas, Column, Edge, GraphPlot, Node};

    #[test]
    fn every_node_and_edge_is_drawn() {
        let column = |name: &str, nodes: &[&str]| Column {
            name: name.into(),
            nodes: nodes
                .iter()
                .map(|name| Node {
                    name: (*name).into(),
                    words: String::new(),
                })
                .collect(),
        };
        let edge = |from, to| Edge {
            from,
            to,
            width: 0.5,
            colour: 1,
            words: "5 < 6".into(),
        };
        let plot = GraphPlot {
            columns: vec![column("waits", &["a", "b"]), column("ports", &["s1:1"])],
            edges: vec![edge((0, 0), (1, 0)), edge((0, 1), (1, 0)), edge((1, 0), (1, 0))],
        };
        for canvas in [Canvas::Wide, Canvas::Narrow] {
            let svg = plot.svg("Graph", canvas).into_string();
            assert_eq!(svg.matches("class=\"link c1\"").count(), 3);
            assert_eq!(svg.matches("class=\"node\"").count(), 3);
            assert!(svg.contains("5 &lt; 6") && !svg.contains("NaN"));
        }
    }
}
