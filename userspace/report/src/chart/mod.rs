//! Charts as SVG, one file a kind.
//!
//! A chart is a description: titles, names and figures. [`Chart::svg`] draws it, 960 units wide; the
//! page scales it. Colours are classes (`c0`, `c1`, …) that the style sheet gives a value for light
//! and for dark, so the drawing knows no colour. Every figure that is drawn stands in a `title` too:
//! browsers show it on their own, the page's script does it faster.
//!
//! | module | what it draws |
//! |---|---|
//! | [`lines`] | rates over time |
//! | [`bars`] | shares and sizes, with bounds |
//! | [`ranges`] | from the median to the 99th percentile, on a logarithmic axis |
//! | [`lanes`] | what happened when |
//! | [`heat`] | a matrix, coloured by how grave its cells are |
//! | `scale` | round numbers for axes, and their units |
//! | `time` | round instants for axes |

pub mod bars;
pub mod heat;
pub mod lanes;
pub mod lines;
pub mod ranges;
mod scale;
mod time;

use maud::{Markup, html};

/// Width of every drawing.
const WIDTH: f64 = 960.0;
/// Left edge of the plot where the vertical axis has numbers.
const LEFT: f64 = 58.0;
/// Right edge of the plot.
const RIGHT: f64 = WIDTH - 14.0;

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
    /// The figure with its caption and legend.
    #[must_use]
    pub fn svg(&self) -> Markup {
        let (drawing, legend) = match &self.plot {
            Plot::Lines(lines) => (lines.svg(&self.title), lines.legend()),
            Plot::Bars(bars) => (bars.svg(&self.title), bars.legend()),
            Plot::Ranges(ranges) => (ranges.svg(&self.title), ranges.legend()),
            Plot::Lanes(lanes) => (lanes.svg(&self.title), Vec::new()),
            Plot::Heat(heat) => (heat.svg(&self.title), heat::Heat::legend()),
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
                div.scroll { (drawing) }
            }
        }
    }
}

/// The drawing, `height` units high; `kind` tells charts apart for tests and style.
fn frame(kind: &str, title: &str, height: f64, content: &Markup) -> Markup {
    let view = format!("0 0 {} {}", number(WIDTH), number(height));
    html! {
        svg.chart data-kind=(kind) viewBox=(view) role="img" aria-label=(title) { (content) }
    }
}

/// A coordinate with one decimal, if it needs one.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), String::from)
}

/// Text of at most `most` characters, the middle left out of longer ones.
fn shortened(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let (head, tail) = (most - most / 2 - 1, most / 2);
    let start = text.chars().take(head);
    let end = text.chars().skip(length - tail);
    start.chain(std::iter::once('…')).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::{number, shortened};

    #[test]
    fn coordinates_are_short() {
        assert_eq!(number(3.0), "3");
        assert_eq!(number(3.16), "3.2");
        assert_eq!(number(-0.04), "-0");
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shortened("abcdefgh", 8), "abcdefgh");
        assert_eq!(shortened("abcdefghi", 8), "abc…fghi");
    }
}
