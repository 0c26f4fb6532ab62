//! Common parts of all drawings: edges, frame, and formats of numbers and names.

use maud::{Markup, html};

/// Width of every drawing.
pub(super) const WIDTH: f64 = 960.0;
/// Left edge of the plot where the vertical axis has numbers.
pub(super) const LEFT: f64 = 58.0;
/// Right edge of the plot.
pub(super) const RIGHT: f64 = WIDTH - 14.0;

/// Draws the frame, `height` units high; `kind` identifies the chart for tests and style.
pub(super) fn frame(kind: &str, title: &str, height: f64, content: &Markup) -> Markup {
    let view = format!("0 0 {} {}", number(WIDTH), number(height));
    html! {
        svg.chart data-kind=(kind) viewBox=(view) role="img" aria-label=(title) { (content) }
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
