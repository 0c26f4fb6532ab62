//! Draws a screen as SVG.

use super::screen::{Screen, Style};
use std::fmt::Write;

/// Size of a cell and of the margin, in units of the picture.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 18.0;
const MARGIN: f64 = 12.0;
/// From the top of a cell to the baseline of its text.
const BASE: f64 = 13.5;
const PAPER: &str = "#16181d";
const INK: &str = "#d8dbe2";

/// The picture; characters stay in their cells with any font.
pub(super) fn draw(screen: &Screen) -> String {
    let columns = screen.lines.iter().map(Vec::len).max().unwrap_or(0);
    let (width, height) = (
        columns as f64 * WIDTH + 2.0 * MARGIN,
        screen.lines.len() as f64 * HEIGHT + 2.0 * MARGIN,
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\">\n\
         <title>rocescope top</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n"
    );
    for (line, y) in screen.lines.iter().zip(0..) {
        let y = MARGIN + f64::from(y) * HEIGHT;
        let mut x = 0;
        for run in line.chunk_by(|(_, one), (_, other)| one == other) {
            let text: String = run.iter().map(|(character, _)| *character).collect();
            write_run(&mut svg, &text, run[0].1, x, y);
            x += run.len();
        }
    }
    svg + "</svg>\n"
}

fn write_run(svg: &mut String, text: &str, look: Style, at: usize, y: f64) {
    let x = MARGIN + at as f64 * WIDTH;
    let length = text.chars().count() as f64 * WIDTH;
    let mut ink = look.color.map_or_else(|| INK.to_owned(), rgb);
    // Writing to a string does not fail.
    let mut paper = look.paper.map(rgb);
    if look.reversed {
        let behind = paper.unwrap_or_else(|| PAPER.to_owned());
        paper = Some(std::mem::replace(&mut ink, behind));
    }
    if let Some(paper) = paper {
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{HEIGHT}\" fill=\"{paper}\"/>"
        );
    }
    if text.trim().is_empty() {
        return;
    }
    // SVG would drop blanks at the edges.
    let trimmed = text.trim_start();
    let skipped = text.chars().count() - trimmed.chars().count();
    let trimmed = trimmed.trim_end();
    let x = x + skipped as f64 * WIDTH;
    let length = trimmed.chars().count() as f64 * WIDTH;
    let weight = if look.bold { " font-weight=\"bold\"" } else { "" };
    let opacity = if look.faint { " opacity=\"0.6\"" } else { "" };
    let y = y + BASE;
    let text = trimmed.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
         fill=\"{ink}\"{weight}{opacity} xml:space=\"preserve\">{text}</text>"
    );
}

/// The 256 colours of a terminal: 16 named ones, a cube of 6 by 6 by 6, 24 greys.
fn rgb(color: u8) -> String {
    const NAMED: [&str; 16] = [
        "#1c1f26", "#d75f5f", "#87af5f", "#d7af5f", "#5f87d7", "#af87d7", "#5fafaf", "#d8dbe2", "#6c7280", "#ff5f5f",
        "#afd787", "#ffd75f", "#87afff", "#d7afff", "#87d7d7", "#ffffff",
    ];
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    match color {
        0..=15 => NAMED[usize::from(color)].to_owned(),
        16..=231 => {
            let cube = usize::from(color - 16);
            let (red, green, blue) = (cube / 36, cube / 6 % 6, cube % 6);
            format!("#{:02x}{:02x}{:02x}", STEPS[red], STEPS[green], STEPS[blue])
        }
        _ => {
            let grey = 8 + 10 * (color - 232);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_a_terminal() {
        assert_eq!(rgb(16), "#000000");
        assert_eq!(rgb(80), "#5fd7d7");
        assert_eq!(rgb(231), "#ffffff");
        assert_eq!(rgb(245), "#8a8a8a");
    }

    #[test]
    fn text_is_escaped_and_placed_in_its_cells() {
        let svg = draw(&Screen::read("  a<b"));
        assert!(svg.contains("x=\"28.8\"") && svg.contains(">a&lt;b</text>"), "{svg}");
    }
}
