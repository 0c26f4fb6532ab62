//! Common parts of all drawings: edges, frame, and formats of numbers and names.

use maud::{Markup, html};

/// The width of a drawing. A page has each chart twice, and the style sheet shows the one that fits: text that is scaled
/// to a third is not readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Canvas {
    /// For screens and paper.
    Wide,
    /// For phones: names are above their rows, and axes have fewer labels.
    Narrow,
}

impl Canvas {
    /// Width of the drawing.
    pub(super) const fn width(self) -> f64 {
        match self {
            Self::Wide => 960.0,
            Self::Narrow => 360.0,
        }
    }

    /// Left edge of the plot where the vertical axis has numbers.
    pub(super) const fn left(self) -> f64 {
        match self {
            Self::Wide => 58.0,
            Self::Narrow => 44.0,
        }
    }

    /// Right edge of the plot.
    pub(super) const fn right(self) -> f64 {
        self.width() - 14.0
    }

    /// Room for labels on a horizontal axis.
    pub(super) const fn labels(self) -> u8 {
        match self {
            Self::Wide => 8,
            Self::Narrow => 3,
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }
}

/// Where the names of rows are: beside the plot, or above each row.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowNames {
    canvas: Canvas,
}

impl RowNames {
    pub(super) const fn on(canvas: Canvas) -> Self {
        Self { canvas }
    }

    /// Left edge of the plot: beside it there is room for names of 44 characters.
    pub(super) const fn left(self) -> f64 {
        match self.canvas {
            Canvas::Wide => 300.0,
            Canvas::Narrow => 2.0,
        }
    }

    /// Height that the name adds to its row.
    pub(super) const fn height(self) -> f64 {
        match self.canvas {
            Canvas::Wide => 0.0,
            Canvas::Narrow => 16.0,
        }
    }

    /// Draws the name of a row that begins at `top` and whose plot is centred at `middle`.
    pub(super) fn label(self, name: &str, top: f64, middle: f64) -> Markup {
        let (x, y, anchor) = match self.canvas {
            Canvas::Wide => (self.left() - 10.0, middle + 4.0, "end"),
            Canvas::Narrow => (self.left(), top + 12.0, "start"),
        };
        html! {
            text.label x=(number(x)) y=(number(y)) text-anchor=(anchor) { (shortened(name, 44)) }
        }
    }
}

/// Draws the frame, `height` units high; `kind` identifies the wide chart for tests and style.
pub(super) fn frame(canvas: Canvas, kind: &str, title: &str, height: f64, content: &Markup) -> Markup {
    let view = format!("0 0 {} {}", number(canvas.width()), number(height));
    let kind = (canvas == Canvas::Wide).then_some(kind);
    html! {
        svg.chart.(canvas.class()) data-kind=[kind] viewBox=(view) role="img" aria-label=(title) { (content) }
    }
}

/// Formats a coordinate with one decimal if necessary.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), String::from)
}

/// Shortens text to `max` characters by omitting the middle.
pub(super) fn shortened(text: &str, max: usize) -> String {
    let length = text.chars().count();
    if length <= max {
        return text.to_owned();
    }
    let (head, tail) = (max - max / 2 - 1, max / 2);
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
