//! The page that a server keeps up to date: the sections of the document, with a time bar, a filter, and addresses that
//! state what is shown.
//!
//! Style and script are files beside the page: a content security policy allows nothing else. Without the script the
//! page is complete as it was when it was requested.

use super::parts::{Links, draw, figures, summary};
use crate::Report;
use crate::sections::{self, Section, Source};
use maud::{DOCTYPE, Markup, html};
use rocescope_model::human::{visible, visible_lines};

/// `page.css`.
pub const STYLE: &str = concat!(include_str!("style.css"), include_str!("page.css"));
/// `page.js`.
pub const SCRIPT: &str = concat!(include_str!("script.js"), include_str!("page.js"));

/// What is open and who suffers first, then traffic, then hosts, collectives and the fabric; others follow.
const ORDER: [&str; 22] = [
    "incidents",
    "rates",
    "flows",
    "loss",
    "connections",
    "owners",
    "opcodes",
    "groups",
    "spread",
    "events",
    "congestion",
    "mesh",
    "sla",
    "verdicts",
    "coverage",
    "host_faults",
    "counters",
    "loopback",
    "collective",
    "paths",
    "switches",
    "pdcs",
];

/// Lengths of the time shown, as in an address, and their names.
pub const LENGTHS: [(&str, &str); 6] = [
    ("1m", "1 min"),
    ("5m", "5 min"),
    ("15m", "15 min"),
    ("1h", "1 h"),
    ("24h", "24 h"),
    ("all", "All"),
];

/// What traffic may be grouped by, as in an address, and its names.
const GROUPS: [(&str, &str); 8] = [
    ("", "nothing"),
    ("src", "source"),
    ("dst", "destination"),
    ("qp", "queue pair"),
    ("opcode", "opcode"),
    ("job", "job"),
    ("host", "host"),
    ("process", "process"),
];

/// What a reader asked for, as the text in the address.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Asked {
    /// The time up to now: one of [`LENGTHS`], or any duration.
    pub last: String,
    /// The start of the time.
    pub from: String,
    /// Its end.
    pub to: String,
    /// The filter.
    pub q: String,
    /// What traffic is grouped by.
    pub by: String,
    /// One observer.
    pub observer: String,
}

impl Asked {
    /// The parts of an address, without those that are empty.
    fn parts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let parts = [
            ("last", &self.last),
            ("from", &self.from),
            ("to", &self.to),
            ("q", &self.q),
            ("by", &self.by),
            ("observer", &self.observer),
        ];
        parts
            .into_iter()
            .map(|(name, text)| (name, text.as_str()))
            .filter(|(_, text)| !text.is_empty())
    }

    /// The address of a page that shows this, from its question mark on.
    #[must_use]
    pub fn address(&self) -> String {
        let parts: Vec<String> = self
            .parts()
            .map(|(name, text)| format!("{name}={}", escaped(text)))
            .collect();
        format!("?{}", parts.join("&"))
    }

    fn of_time(&self, last: &str, from: &str, to: &str) -> String {
        let asked = Self {
            last: last.into(),
            from: from.into(),
            to: to.into(),
            ..self.clone()
        };
        asked.address()
    }
}

impl Links for Asked {
    fn row(&self, section: &str, grid: usize, key: &str) -> Option<String> {
        let address = self.address();
        let and = if address.len() > 1 { "&" } else { "" };
        Some(format!("{address}{and}row={section}.{grid}.{key}"))
    }

    fn filter(&self, filter: &str) -> Option<String> {
        // What an incident is about may have ended before the shortest time.
        let [(shortest, _), (longer, _), ..] = LENGTHS;
        let asked = Self {
            q: filter.into(),
            last: if self.last == shortest { longer } else { &self.last }.into(),
            ..self.clone()
        };
        Some(asked.address() + "#flows")
    }
}

/// Percent-encodes what is not unreserved in an address (RFC 3986, section 2.3).
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => out.push(byte.into()),
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Times to go to, as `from` and `to` of an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Times {
    /// The time before the shown one, of the same length.
    pub before: Option<(String, String)>,
    /// The shown time.
    pub shown: Option<(String, String)>,
    /// The time after it.
    pub after: Option<(String, String)>,
}

/// What the bar above the sections needs beside what was asked.
#[derive(Debug, Clone, Default)]
pub struct Bar {
    /// Whether updates come: the time shown ends now.
    pub is_live: bool,
    /// What is wrong with what was asked, if it is.
    pub error: Option<String>,
}

/// The whole page. `version` names the content, which [`content`] returns; `row` is the row whose fields are open.
#[must_use]
pub fn document(title: &str, asked: &Asked, bar: &Bar, version: &str, content: &str, row: Option<&str>) -> String {
    let title = visible(title);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="rocescope";
                title { "rocescope: " (title) }
                link rel="icon" href="page.svg" type="image/svg+xml";
                link rel="stylesheet" href="page.css";
                script src="page.js" defer {}
            }
            body.live data-version=(version) data-address=(asked.address()) {
                a.skip href="#content" { "Skip to the content" }
                header {
                    div.title {
                        h1 { (title) }
                        p #state data-live[bar.is_live] { @if bar.is_live { "live" } @else { "fixed time" } }
                        p #announce.sr aria-live="polite" {}
                    }
                    (time_bar(asked))
                    @if let Some(error) = &bar.error { p.error role="alert" { (visible_lines(error)) } }
                }
                main #content tabindex="-1" { (maud::PreEscaped(content)) }
                dialog #fields aria-labelledby="fields-title" open[row.is_some()] {
                    @if let Some(row) = row { (maud::PreEscaped(row)) }
                }
                footer {
                    p {
                        "Times are UTC. The same as JSON: " a href=(format!("api/report{}", asked.address())) { "report" } ", "
                        a href=(format!("api/incidents{}", asked.address())) { "incidents" } ", "
                        a href="api/openapi.json" { "all of them" } "."
                    }
                }
            }
        }
    };
    page.into_string()
}

/// Addresses of the times around the shown one, and of the shown one without updates.
fn steps(asked: &Asked, times: &Times) -> Markup {
    let step = |time: &Option<(String, String)>, name: &str, sign: &str| {
        html! {
            @match time {
                Some((from, to)) => a.step href=(asked.of_time("", from, to)) aria-label=(name) title=(name) { (sign) },
                None => span.step aria-hidden="true" { (sign) },
            }
        }
    };
    html! {
        div.steps role="group" aria-label="Other times" {
            (step(&times.before, "The time before", "←"))
            (step(&times.shown, "Hold this time", "‖"))
            (step(&times.after, "The time after", "→"))
        }
    }
}

fn time_bar(asked: &Asked) -> Markup {
    html! {
        form.bar action="./" method="get" role="search" aria-label="Time and filter" {
            div.lengths role="group" aria-label="Time up to now" {
                @for (last, name) in LENGTHS {
                    a href=(asked.of_time(last, "", "")) aria-current=[(asked.last == last).then_some("true")] { (name) }
                }
            }
            label.time { span { "From" } input name="from" value=(asked.from) placeholder="-1h or 12:00" size="12" autocomplete="off"; }
            label.time { span { "To" } input name="to" value=(asked.to) placeholder="now" size="12" autocomplete="off"; }
            label.filter {
                span { "Filter" }
                input type="search" name="q" value=(asked.q) placeholder="address, queue pair, host, or an expression" autocomplete="off" spellcheck="false";
            }
            label {
                span { "Group by" }
                select name="by" {
                    @for (by, name) in GROUPS { option value=(by) selected[asked.by == by] { (name) } }
                    @if GROUPS.iter().all(|(by, _)| *by != asked.by) { option value=(asked.by) selected { (asked.by) } }
                }
            }
            @if !asked.observer.is_empty() { input type="hidden" name="observer" value=(asked.observer); }
            button { "Show" }
        }
    }
}

/// The sections of a report, in the order of the page.
#[must_use]
pub fn sections(report: &Report) -> Vec<Section> {
    let mut sections = sections::all(report);
    let place = |section: &Section| ORDER.iter().position(|id| *id == section.id).unwrap_or(ORDER.len());
    sections.sort_by_key(place);
    sections
}

/// What changes with each window: the parts have ids, and a reader replaces those that differ.
#[must_use]
pub fn content(report: &Report, sections: &[Section], asked: &Asked, times: &Times, error: Option<&str>) -> String {
    let open = report.incidents.iter().flat_map(|found| &found.incidents);
    let open = open.filter(|incident| incident.is_open).count();
    let content = html! {
        div #head data-incidents=(open) {
            (steps(asked, times))
            @if let Some(error) = error { p.error { (visible_lines(error)) } }
            @if let Some((start_ns, end_ns)) = report.span_ns() {
                p.span {
                    (crate::words::instant(start_ns)) " – "
                    (crate::words::instant(end_ns)) ", "
                    (crate::words::length(end_ns.saturating_sub(start_ns)))
                }
                (figures(report))
            } @else {
                p.span { "No rows in this time." }
            }
        }
        div #problems { (summary(sections)) }
        nav #sections aria-label="Sections" { @for section in sections { a href=(format!("#{}", section.id)) { (section.title) } } }
        div #parts { @for section in sections { (draw(section, asked)) } }
    };
    content.into_string()
}

/// The content of a page that has nothing to show, because of an error.
#[must_use]
pub fn failure(error: &str) -> String {
    let content = html! {
        div #head data-incidents="0" { p.error { (visible_lines(error)) } }
        div #problems {}
        nav #sections aria-label="Sections" {}
        div #parts {}
    };
    content.into_string()
}

/// The fields of a row with their meaning: `address` is what `Links::row` put into the address, `SECTION.GRID.KEY`.
/// `None` if the row is not among these any more.
#[must_use]
pub fn fields(sections: &[Section], address: &str) -> Option<String> {
    let mut parts = address.splitn(3, '.');
    let (id, grid, key) = (parts.next()?, parts.next()?, parts.next()?);
    let section = sections.iter().find(|section| section.id == id)?;
    let grid = section.grids.get(grid.parse::<usize>().ok()?)?;
    let row = (0..grid.rows.len()).find(|row| grid.key(*row) == key)?;
    let listed = match &grid.source {
        Some(source) => of_source(source, row),
        None => {
            let cells = grid.heads.iter().zip(grid.rows.get(row)?);
            let cells = cells.filter(|(_, cell)| !cell.text.is_empty());
            cells
                .map(|(head, cell)| (head.title.clone(), String::new(), cell.text.clone(), head.help.clone()))
                .collect()
        }
    };
    let markup = html! {
        form method="dialog" { button.close aria-label="Close" { "×" } }
        h2 #fields-title { (section.title) @if let Some(source) = &grid.source { ": a row of " code { (source.table.name) } } }
        div.scroll {
            table {
                thead { tr { th scope="col" { "Field" } th scope="col" { "Value" } th scope="col" { "Meaning" } } }
                tbody {
                    @for (title, name, text, help) in listed {
                        tr {
                            th scope="row" { (title) @if !name.is_empty() { br; code { (name) } } }
                            td.long { (visible(&text)) }
                            td.long { (super::parts::prose(&help)) }
                        }
                    }
                }
            }
        }
    };
    Some(markup.into_string())
}

/// In place of the fields of a row that is not among those of the time any more.
#[must_use]
pub fn no_fields() -> String {
    let markup = html! {
        form method="dialog" { button.close aria-label="Close" { "×" } }
        h2 #fields-title { "No such row" }
        p { "It is not among the rows of this time any more." }
    };
    markup.into_string()
}

/// Title, name, text and meaning of the fields of a row.
fn of_source(source: &Source, row: usize) -> Vec<(String, String, String, String)> {
    let fields = source.rows.get(row).into_iter().flatten();
    let fields = fields.filter_map(|(at, text)| {
        let column = source.table.columns.get(*at)?;
        Some((
            column.title.into(),
            column.name.into(),
            text.clone(),
            column.help.into(),
        ))
    });
    fields.collect()
}
