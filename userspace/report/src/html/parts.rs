//! What the pages share: sections with their findings, tables and charts as markup.

use crate::Report;
use crate::chart::Chart;
use crate::sections::{self, Cell, Finding, Grid, Level, Section};
use maud::{Markup, html};
use rocescope_model::human::visible;

/// Addresses of what a page shows about a row or a finding; a document from disk has none.
pub(super) trait Links {
    /// Where the fields of a row are shown: the table of a section, counted from 0, and the key of the row.
    fn row(&self, section: &str, grid: usize, key: &str) -> Option<String>;

    /// Where the rows that a filter selects are shown.
    fn filter(&self, filter: &str) -> Option<String>;
}

/// A page from disk.
pub(super) struct NoLinks;

impl Links for NoLinks {
    fn row(&self, _section: &str, _grid: usize, _key: &str) -> Option<String> {
        None
    }

    fn filter(&self, _filter: &str) -> Option<String> {
        None
    }
}

/// Renders the key metrics.
pub(super) fn figures(report: &Report) -> Markup {
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
pub(super) fn summary(sections: &[Section]) -> Markup {
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

pub(super) fn draw(section: &Section, links: &dyn Links) -> Markup {
    html! {
        section #(section.id) {
            h2 { (section.title) }
            @if !section.findings.is_empty() {
                ul.findings { @for finding in &section.findings { (sentence(finding, links)) } }
            }
            @if !section.facts.is_empty() {
                dl {
                    @for (name, text) in &section.facts {
                        div { dt { (name) } dd { (prose(text)) } }
                    }
                }
            }
            @for chart in &section.charts { (Chart::svg(chart)) }
            @for (at, grid) in section.grids.iter().enumerate() {
                (table(grid, &|key: &str| links.row(section.id, at, key)))
            }
        }
    }
}

/// Renders text with commands and names between backticks.
pub(super) fn prose(text: &str) -> Markup {
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

fn sentence(finding: &Finding, links: &dyn Links) -> Markup {
    let rows = finding.filter.as_ref().and_then(|filter| links.filter(filter));
    html! {
        li.(finding.level.name()) {
            (prose(&finding.text))
            @if let Some(rows) = rows { " " a.rows href=(rows) { "Show its flows" } }
        }
    }
}

/// From this length on, a text may wrap: names of observers and places.
const LONG: usize = 32;
/// From this length on, the text of a last column is a sentence.
const SENTENCE: usize = 48;
/// With more columns, a table is set smaller.
const DENSE: usize = 14;

/// A table with its title above what scrolls: a title as wide as its table would be cut where the table is.
fn table(grid: &Grid, link: &dyn Fn(&str) -> Option<String>) -> Markup {
    html! {
        @if grid.is_drawn {
            details {
                summary { (grid.title) }
                (cells(grid, link))
            }
        } @else {
            @if !grid.title.is_empty() { h3 { (grid.title) } }
            (cells(grid, link))
        }
    }
}

/// Whether sentences take most of the width: on a phone each row is then a card.
fn has_sentences(grid: &Grid) -> bool {
    let last = |row: &Vec<Cell>| row.last().is_some_and(|cell| cell.text.chars().count() >= SENTENCE);
    grid.heads.iter().any(|head| head.is_prose) || grid.rows.iter().any(last)
}

fn cells(grid: &Grid, link: &dyn Fn(&str) -> Option<String>) -> Markup {
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
                    @for (number, row) in grid.rows.iter().enumerate() {
                        @let key = grid.key(number);
                        @let address = link(&key);
                        tr data-key=[address.as_ref().map(|_| &key)] {
                            @for (at, (cell, head)) in row.iter().zip(&grid.heads).filter(|(_, head)| !head.is_prose).enumerate() {
                                td.right[head.right].zero[cell.number == Some(0.0)].long[cell.text.chars().count() >= LONG]
                                    data-head=(head.title) data-n=[cell.number.map(|number| number.to_string())] {
                                    @match address.as_ref().filter(|_| at == 0) {
                                        Some(address) => a.fields href=(address) title="All fields of this row" {
                                            (visible(&cell.text)) @if cell.text.is_empty() { "…" }
                                        },
                                        None => (visible(&cell.text)),
                                    }
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
