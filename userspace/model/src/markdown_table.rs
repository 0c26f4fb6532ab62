//! Rows as a table of Markdown, as GitHub renders it.

use crate::Cells;
use crate::human::visible;
use crate::render::{self, Options};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Formats a heading and one line for each row as a table of Markdown.
#[must_use]
pub fn table(cells: &dyn Cells, options: Options<'_>) -> String {
    let (lines, right) = render::lines(cells, options);
    let rule: Vec<String> = right
        .iter()
        .map(|right| if *right { "---:" } else { "---" }.to_string())
        .collect();
    let mut out = String::new();
    for (number, line) in lines.iter().enumerate() {
        let escaped = line.iter().map(|cell| escape(cell));
        out += &format!("| {} |\n", escaped.collect::<Vec<_>>().join(" | "));
        if number == 0 {
            out += &format!("|{}|\n", rule.join("|"));
        }
    }
    out
}

/// Escapes markdown and HTML markup, line breaks and cell separators.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = visible(text);
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // An underscore within a word is not markup.
            '_' if before.is_alphanumeric() && next.is_alphanumeric() => out.push(c),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' | '@' => {
                out.push('\\');
                out.push(c);
            }
            // GitHub turns bare URLs into links.
            ':' if next == '/' => out.push_str("&#58;"),
            c => out.push(c),
        }
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{escape, table};
    use crate::OpcodeRow;
    use crate::render::Options;
    use std::vec;

    #[test]
    fn a_table_has_a_rule_below_its_heading() {
        let rows = vec![OpcodeRow {
            opcode: "a|b".into(),
            packets: 7,
            ..OpcodeRow::default()
        }];
        let options = Options {
            columns: Some(&["opcode", "packets"]),
            human: true,
            ..Options::default()
        };
        let expected = "| Opcode | Packets |\n|---|---:|\n| a\\|b | 7 |\n";
        assert_eq!(table(&rows, options), expected);
    }

    #[test]
    fn names_remain_text() {
        assert_eq!(escape("a|b\nc"), "a\\|b\u{fffd}c");
        assert_eq!(escape("<script>"), "&lt;script&gt;");
        assert_eq!(escape("[x](http://a)"), "\\[x\\](http&#58;//a)");
        assert_eq!(escape("RC_SEND *b*"), "RC_SEND \\*b\\*");
        assert_eq!(escape("_x_"), "\\_x\\_");
    }
}
