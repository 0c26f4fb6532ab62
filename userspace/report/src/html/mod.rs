//! The document as one self-contained HTML page that opens from disk.
//!
//! It contains style, script and charts. Its content security policy forbids every request, and allows only this style
//! and script, by their hashes: if a name ever evaded the escaping (which the template does for every text), a browser
//! would not run it. The page is complete without the script, which adds faster tooltips and sorting.

use crate::Report;
use crate::chart::Chart;
use crate::sections::{self, Cell, Finding, Grid, Level, Section};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use rocescope_model::human::visible;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// SHA-256 of [`STYLE`], base64.
const STYLE_HASH: &str = "YxHV0sYB7WdYY/xqfMpf25Hy+7PaP0ED4Z6hmH0nLSg=";
/// SHA-256 of [`SCRIPT`], base64.
const SCRIPT_HASH: &str = "C35qCqi5/9/L5TSMcFZesmDEutH3ztkgo9r394uriVs=";

/// Returns the page.
#[must_use]
pub fn document(report: &Report) -> String {
    let sections = sections::all(report);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; \
         base-uri 'none'; form-action 'none'"
    );
    let title = visible(&report.origin.dataset);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="rocescope";
                title { "rocescope report: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.product { "rocescope report" }
                    h1 { (title) }
                    @if let Some((start_ns, end_ns)) = report.span_ns() {
                        p.span {
                            (crate::words::instant(start_ns)) " – "
                            (crate::words::instant(end_ns)) ", "
                            (crate::words::length(end_ns.saturating_sub(start_ns)))
                        }
                        (figures(report))
                    }
                    (summary(&sections))
                    nav { @for section in &sections { a href=(format!("#{}", section.id)) { (section.title) } } }
                }
                main { @for section in &sections { (draw(section)) } }
                footer {
                    p { "Times are UTC. " code { "rocescope dataset schema" } " describes the columns." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// Renders the key metrics.
fn figures(report: &Report) -> Markup {
    html! {
        div.figures {
            @for figure in sections::headline(report) {
                div.figure.(figure.level.name()) {
                    span.name { (figure.name) }
                    span.value { (figure.value) }
                    span.beside { (figure.beside) }
                }
            }
        }
    }
}

/// Renders the problems of all sections; with incidents, which join them and come next, those of the dataset itself.
fn summary(sections: &[Section]) -> Markup {
    let is_joined = sections.iter().any(|section| section.id == "incidents");
    let shown = sections.iter().filter(|section| !is_joined || section.id == "overview");
    let bad = shown.flat_map(|section| {
        let findings = section.findings.iter();
        let bad = findings.filter(|finding| finding.level == Level::Bad);
        bad.map(move |finding| (section, finding))
    });
    let bad: Vec<_> = bad.collect();
    if is_joined && bad.is_empty() {
        return html! {};
    }
    html! {
        div.summary {
            h2 { "Problems" }
            @if bad.is_empty() {
                ul.findings { li.good { "No problems found." } }
            } @else {
                ul.findings {
                    @for (section, finding) in bad {
                        li.bad {
                            (prose(&finding.text)) " "
                            a href=(format!("#{}", section.id)) { (section.title) }
                        }
                    }
                }
            }
        }
    }
}

fn draw(section: &Section) -> Markup {
    html! {
        section #(section.id) {
            h2 { (section.title) }
            @if !section.findings.is_empty() {
                ul.findings { @for finding in &section.findings { (sentence(finding)) } }
            }
            @if !section.facts.is_empty() {
                dl {
                    @for (name, text) in &section.facts {
                        div { dt { (name) } dd { (prose(text)) } }
                    }
                }
            }
            @for chart in &section.charts { (Chart::svg(chart)) }
            @for grid in &section.grids { (table(grid)) }
        }
    }
}

/// Renders text with commands and names between backticks.
fn prose(text: &str) -> Markup {
    let text = visible(text);
    let mut pieces = text.split('`');
    let mut markup = html! { (pieces.next().unwrap_or_default()) };
    while let Some(piece) = pieces.next() {
        let more = match pieces.next() {
            Some(behind) => html! { code { (piece) } (behind) },
            // Unclosed backtick.
            None => html! { "`" (piece) },
        };
        markup.0.push_str(&more.0);
    }
    markup
}

fn sentence(finding: &Finding) -> Markup {
    html! { li.(finding.level.name()) { (prose(&finding.text)) } }
}

/// From this length on, a text may wrap: names of observers and places.
const LONG: usize = 32;
/// From this length on, the text of a last column is a sentence.
const SENTENCE: usize = 48;
/// With more columns, a table is set smaller.
const DENSE: usize = 14;

/// A table with its title above what scrolls: a title as wide as its table would be cut where the table is.
fn table(grid: &Grid) -> Markup {
    html! {
        @if grid.is_drawn {
            details {
                summary { (grid.title) }
                (cells(grid))
            }
        } @else {
            @if !grid.title.is_empty() { h3 { (grid.title) } }
            (cells(grid))
        }
    }
}

/// Whether sentences take most of the width: on a phone each row is then a card.
fn has_sentences(grid: &Grid) -> bool {
    let last = |row: &Vec<Cell>| row.last().is_some_and(|cell| cell.text.chars().count() >= SENTENCE);
    grid.heads.iter().any(|head| head.is_prose) || grid.rows.iter().any(last)
}

fn cells(grid: &Grid) -> Markup {
    let prose = || grid.heads.iter().enumerate().filter(|(_, head)| head.is_prose);
    let heads = || grid.heads.iter().filter(|head| !head.is_prose);
    html! {
        div.scroll {
            table.cards[has_sentences(grid)].dense[grid.heads.len() > DENSE]
                aria-label=[(!grid.title.is_empty()).then_some(&grid.title)] {
                thead {
                    tr {
                        @for head in heads() {
                            th.right[head.right] scope="col" title=[(!head.help.is_empty()).then(|| head.help.replace('`', ""))] {
                                (head.title)
                            }
                        }
                    }
                }
                tbody {
                    @for row in &grid.rows {
                        tr {
                            @for (cell, head) in row.iter().zip(&grid.heads).filter(|(_, head)| !head.is_prose) {
                                td.right[head.right].zero[cell.number == Some(0.0)].long[cell.text.chars().count() >= LONG]
                                    data-head=(head.title) data-n=[cell.number.map(|number| number.to_string())] {
                                    (visible(&cell.text))
                                }
                            }
                        }
                        @if prose().next().is_some() {
                            tr.below {
                                td colspan=(heads().count()) {
                                    @for (at, head) in prose() {
                                        p { b { (head.title) } " " (visible(row.get(at).map_or("", |cell| &cell.text))) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SCRIPT, SCRIPT_HASH, STYLE, STYLE_HASH, prose};
    use sha2::{Digest, Sha256};

    /// RFC 4648 section 4.
    fn base64(bytes: &[u8]) -> String {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for chunk in bytes.chunks(3) {
            let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
            let group = byte(0) << 16 | byte(1) << 8 | byte(2);
            for at in 0..4 {
                let letter = alphabet[(group >> (18 - 6 * at) & 63) as usize];
                out.push(if at <= chunk.len() { letter.into() } else { '=' });
            }
        }
        out
    }

    #[test]
    fn text_between_backticks_is_code() {
        for (text, markup) in [
            ("plain & <text>", "plain &amp; &lt;text&gt;"),
            ("a `b` c `<d>`", "a <code>b</code> c <code>&lt;d&gt;</code>"),
            ("`a` and `b", "<code>a</code> and `b"),
        ] {
            assert_eq!(prose(text).into_string(), markup);
        }
    }

    /// A browser rejects content that does not match the hash in the page.
    #[test]
    fn the_policy_has_the_hashes_of_style_and_script() {
        for (source, hash, name) in [(STYLE, STYLE_HASH, "STYLE_HASH"), (SCRIPT, SCRIPT_HASH, "SCRIPT_HASH")] {
            let found = base64(&Sha256::digest(source.as_bytes()));
            assert_eq!(found, hash, "{name} must follow its file");
            assert!(!source.contains("</"), "it would end its element");
        }
    }
}
