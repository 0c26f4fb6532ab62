//! Charts as SVG, one file for each kind.
//!
//! A chart is a description: titles, names and values. [`Chart::svg`] draws it wide and narrow; the page shows the one
//! that fits.
//! Colours are classes (`c0`, `c1`, …) for which the style sheet defines light and dark values. Every drawn value is
//! also in a `title`: browsers show it as a tooltip, the script of the page shows it faster.
//!
//! | module | what it draws |
//! |---|---|
//! | [`lines`] | rates over time |
//! | [`bars`] | shares and sizes, with bounds |
//! | [`columns`] | a sorted distribution and its ideal |
//! | [`boxes`] | quartiles of distributions |
//! | [`fabric`] | tiers of nodes and the loads of their links |
//! | [`ranges`] | from the median to the 99th percentile, on a logarithmic axis |
//! | [`lanes`] | events over time |
//! | [`steps`] | steps of a collective over time, and its critical path |
//! | [`graph`] | what waits for what, in columns |
//! | [`heat`] | a matrix, coloured by severity |
//! | `drawing` | common edges, frame and number format |
//! | `scale` | round numbers for axes, and their units |
//! | `time` | round instants for axes |

pub mod bars;
pub mod boxes;
pub mod columns;
mod drawing;
pub mod fabric;
pub mod graph;
pub mod heat;
pub mod lanes;
pub mod lines;
pub mod ranges;
mod scale;
pub mod steps;
mod time;

use drawing::Canvas;
use maud::{Markup, html};

/// A drawing and its words.
#[derive(Debug)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What a reader must know about it.
    pub note: Option<String>,
    /// The figures.
    pub plot: Plot,
}

/// The kinds of charts.
#[derive(Debug)]
pub enum Plot {
    /// Rates over time.
    Lines(lines::Lines),
    /// Shares and sizes.
    Bars(bars::Bars),
    /// Spans of durations.
    Ranges(ranges::Ranges),
    /// What happened when.
    Lanes(lanes::Lanes),
    /// A matrix.
    Heat(heat::Heat),
    /// A sorted distribution.
    Columns(columns::Columns),
    /// Quartiles.
    Boxes(boxes::Boxes),
    /// Nodes and links.
    Fabric(fabric::FabricPlot),
    /// Steps of a collective.
    Steps(steps::StepsPlot),
    /// What waits for what.
    Graph(graph::GraphPlot),
}

impl Chart {
    /// The names of rows that may be addresses.
    pub(crate) fn names_mut(&mut self) -> Vec<&mut String> {
        match &mut self.plot {
            Plot::Bars(bars) => bars.items.iter_mut().map(|item| &mut item.name).collect(),
            Plot::Ranges(ranges) => ranges.rows.iter_mut().map(|row| &mut row.name).collect(),
            Plot::Fabric(fabric) => {
                let nodes = fabric.tiers.iter_mut().flat_map(|tier| &mut tier.nodes);
                let flows = fabric.lines.iter_mut().flat_map(|line| &mut line.flows);
                nodes.chain(flows).collect()
            }
            Plot::Steps(steps) => steps.lanes.iter_mut().map(|lane| &mut lane.name).collect(),
            Plot::Graph(graph) => {
                let nodes = graph.columns.iter_mut().flat_map(|column| &mut column.nodes);
                nodes.map(|node| &mut node.name).collect()
            }
            Plot::Lines(_) | Plot::Lanes(_) | Plot::Heat(_) | Plot::Columns(_) | Plot::Boxes(_) => Vec::new(),
        }
    }

    /// The figure with its caption and legend.
    #[must_use]
    pub fn svg(&self) -> Markup {
        let legend = match &self.plot {
            Plot::Lines(lines) => lines.legend(),
            Plot::Bars(bars) => bars.legend(),
            Plot::Ranges(ranges) => ranges.legend(),
            Plot::Lanes(_) | Plot::Boxes(_) | Plot::Graph(_) => Vec::new(),
            Plot::Steps(_) => steps::StepsPlot::legend(),
            Plot::Heat(_) => heat::Heat::legend(),
            Plot::Columns(columns) => columns.legend(),
            Plot::Fabric(_) => fabric::FabricPlot::legend(),
        };
        html! {
            figure {
                figcaption {
                    span.name { (self.title) }
                    @for (class, name) in &legend {
                        span.key { i class=(class) {} (name) }
                    }
                    @if let Some(note) = &self.note { span.note { (note) } }
                }
                div.scroll { (self.drawing(Canvas::Wide)) (self.drawing(Canvas::Narrow)) }
                @if let Plot::Fabric(fabric) = &self.plot { (fabric.below()) }
            }
        }
    }

    fn drawing(&self, canvas: Canvas) -> Markup {
        match &self.plot {
            Plot::Lines(lines) => lines.svg(&self.title, canvas),
            Plot::Bars(bars) => bars.svg(&self.title, canvas),
            Plot::Ranges(ranges) => ranges.svg(&self.title, canvas),
            Plot::Lanes(lanes) => lanes.svg(&self.title, canvas),
            Plot::Heat(heat) => heat.svg(&self.title, canvas),
            Plot::Columns(columns) => columns.svg(&self.title, canvas),
            Plot::Boxes(boxes) => boxes.svg(&self.title, canvas),
            Plot::Fabric(fabric) => fabric.svg(&self.title, canvas),
            Plot::Steps(steps) => steps.svg(&self.title, canvas),
            Plot::Graph(graph) => graph.svg(&self.title, canvas),
        }
    }
}
