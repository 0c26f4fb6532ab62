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
//! | [`ranges`] | from the median to the 99th percentile, on a logarithmic axis |
//! | [`lanes`] | events over time |
//! | [`heat`] | a matrix, coloured by severity |
//! | `drawing` | common edges, frame and number format |
//! | `scale` | round numbers for axes, and their units |
//! | `time` | round instants for axes |

pub mod bars;
mod drawing;
pub mod heat;
pub mod lanes;
pub mod lines;
pub mod ranges;
mod scale;
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
}

impl Chart {
    /// The names of rows that may be addresses.
    pub(crate) fn names_mut(&mut self) -> Vec<&mut String> {
        match &mut self.plot {
            Plot::Bars(bars) => bars.items.iter_mut().map(|item| &mut item.name).collect(),
            Plot::Ranges(ranges) => ranges.rows.iter_mut().map(|row| &mut row.name).collect(),
            Plot::Lines(_) | Plot::Lanes(_) | Plot::Heat(_) => Vec::new(),
        }
    }

    /// The figure with its caption and legend.
    #[must_use]
    pub fn svg(&self) -> Markup {
        let legend = match &self.plot {
            Plot::Lines(lines) => lines.legend(),
            Plot::Bars(bars) => bars.legend(),
            Plot::Ranges(ranges) => ranges.legend(),
            Plot::Lanes(_) => Vec::new(),
            Plot::Heat(_) => heat::Heat::legend(),
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
        }
    }
}
