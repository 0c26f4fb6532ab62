//! The document: sentences, facts, tables and charts in an operator's order, one file a section.
//!
//! What a section says is decided here and nowhere else, so text, markdown and the page say the
//! same. Figures that have a column are shown as the registry of the model tells.
//!
//! | module | its question |
//! |---|---|
//! | `overview` | what was captured, and when? |
//! | `loss` | is it all? |
//! | `rates` | how much? |
//! | `opcodes` | of what? |
//! | `flows` | by whom? |
//! | `connections` | who is in trouble? |
//! | `events` | what happened? |
//! | `congestion` | was it too much? |
//! | `mesh` | does every NIC reach every other? |
//! | `sla` | how well did the mesh do over time? |
//! | `verdicts` | what fails in it, and where? |
//! | `coverage` | which links did probes cross? |

mod congestion;
mod connections;
mod coverage;
mod events;
mod flows;
mod loss;
mod mesh;
mod opcodes;
mod overview;
mod rates;
mod sla;
mod verdicts;

use crate::Report;
use crate::chart::Chart;
use crate::chart::lines::{Span, Step};
use crate::report::Period;
use crate::series::{Join, Series};
use rocescope_model::{Cells, Type, Value, human};
use serde::Serialize;

pub use overview::{Figure, headline};

/// One section.
#[derive(Debug, Default)]
pub struct Section {
    /// Short name, for links.
    pub id: &'static str,
    /// Heading.
    pub title: &'static str,
    /// What the figures say.
    pub findings: Vec<Finding>,
    /// Names and figures.
    pub facts: Vec<(String, String)>,
    /// Tables.
    pub grids: Vec<Grid>,
    /// Charts, for documents that can hold them.
    pub charts: Vec<Chart>,
}

/// Whether a sentence is good news.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// All is well.
    Good,
    /// Worth knowing.
    Note,
    /// Somebody should look.
    Bad,
}

impl Level {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Bad => "bad",
        }
    }
}

/// A sentence of judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How it is meant.
    pub level: Level,
    /// The sentence.
    pub text: String,
}

impl Finding {
    fn good(text: impl Into<String>) -> Self {
        Self::new(Level::Good, text)
    }

    fn note(text: impl Into<String>) -> Self {
        Self::new(Level::Note, text)
    }

    fn bad(text: impl Into<String>) -> Self {
        Self::new(Level::Bad, text)
    }

    fn new(level: Level, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { level, text }
    }
}

/// A table.
#[derive(Debug, Default)]
pub struct Grid {
    /// Heading above it.
    pub title: String,
    /// Its columns.
    pub heads: Vec<Head>,
    /// Its rows, a cell a column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a [`Grid`].
#[derive(Debug, Clone)]
pub struct Head {
    /// Its heading.
    pub title: String,
    /// What it holds, in a sentence; may be empty.
    pub help: String,
    /// Whether its cells are numbers.
    pub right: bool,
}

/// A cell of a [`Grid`].
#[derive(Debug, Clone)]
pub struct Cell {
    /// What it shows.
    pub text: String,
    /// The number behind, to sort by.
    pub number: Option<f64>,
}

impl Cell {
    fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            number: None,
        }
    }

    fn number(number: f64, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            number: Some(number),
        }
    }
}

impl Grid {
    /// Rows of a table of the model with some of its columns, the first the most important: narrow
    /// terminals drop the last.
    fn of(title: impl Into<String>, cells: &dyn Cells, columns: &[&str]) -> Self {
        let table = cells.table();
        let places = columns.iter().filter_map(|name| table.position(name));
        let places: Vec<usize> = places.collect();
        let columns = places.iter().filter_map(|at| table.columns.get(*at));
        let heads = columns.clone().map(|column| Head {
            title: column.title.into(),
            help: column.help.into(),
            right: column.kind.is_number(),
        });
        let row = |row: usize| {
            let cells = places.iter().zip(columns.clone()).map(|(at, column)| {
                let value = cells.value(row, *at);
                let text = match (&value, column.kind) {
                    (Value::Bool(false), Type::Bool) => String::new(),
                    _ => human::readable(&value, column.unit),
                };
                let number = match value {
                    Value::I64(number) => Some(number as f64),
                    Value::F64(number) => Some(number),
                    Value::Time(time) => Some(time.0 as f64),
                    _ => None,
                };
                Cell { text, number }
            });
            cells.collect()
        };
        Self {
            title: title.into(),
            heads: heads.collect(),
            rows: (0..cells.rows()).map(row).collect(),
        }
    }
}

/// Columns of which any row has something.
fn filled<'a>(cells: &dyn Cells, columns: &[&'a str]) -> Vec<&'a str> {
    let has = |name: &&&str| {
        let column = cells.table().position(name);
        column.is_some_and(|column| {
            (0..cells.rows())
                .any(|row| !matches!(cells.value(row, column), Value::Null | Value::I64(0)))
        })
    };
    columns.iter().filter(has).copied().collect()
}

/// The time that all charts show.
const fn span(report: &Report) -> Span {
    Span {
        start_ns: report.totals.start_ns,
        end_ns: report.totals.end_ns,
    }
}

/// A figure a period; periods at the ends are as long as the windows in them reach.
fn steps<P: Join>(
    report: &Report,
    series: &Series<P>,
    figure: impl Fn(&P, f64) -> f64,
) -> Vec<Step> {
    let span = span(report);
    let periods = series.iter().filter_map(|(start_ns, period)| {
        let end_ns = start_ns.saturating_add(series.period_ns()).min(span.end_ns);
        let start_ns = start_ns.max(span.start_ns);
        let seconds = end_ns.saturating_sub(start_ns) as f64 / 1e9;
        (seconds > 0.0).then(|| Step {
            start_ns,
            end_ns,
            value: figure(period, seconds),
        })
    });
    periods.collect()
}

/// A count of windows as a rate, a figure a period.
fn rate(report: &Report, count: impl Fn(&Period) -> u64) -> Vec<Step> {
    steps(report, &report.series, |period, seconds| {
        count(period) as f64 / seconds
    })
}

/// What down-sampling did, where it did anything.
fn sampled(report: &Report) -> Option<String> {
    let joined = report.series.joined();
    (joined > 1).then(|| {
        let length = crate::words::length(report.series.period_ns());
        format!("{joined} windows a point ({length})")
    })
}

/// All sections that have something to say.
#[must_use]
pub fn all(report: &Report) -> Vec<Section> {
    let mut sections = vec![overview::section(report)];
    if !report.is_empty() {
        sections.extend([
            loss::section(report),
            rates::section(report),
            opcodes::section(report),
            flows::section(report),
        ]);
    }
    // Where there are probes alone, nobody has looked for connections and events.
    let captured = !report.is_empty() || report.mesh.is_none();
    if captured || report.connections.count > 0 {
        sections.push(connections::section(report));
    }
    if captured || !report.events.kinds.is_empty() {
        sections.push(events::section(report));
    }
    if !report.is_empty() {
        sections.push(congestion::section(report));
    }
    if let Some(mesh) = &report.mesh {
        sections.push(mesh::section(report, mesh));
        if mesh.total.windows > 0 {
            sections.push(sla::section(report, mesh));
            sections.push(verdicts::section(report, mesh));
        }
        if !mesh.links.is_empty() {
            sections.push(coverage::section(report, mesh));
        }
    }
    sections
}
