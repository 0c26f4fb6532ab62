//! The incidents of a dataset: known at the start if the search is short, else shown when they are found.

use super::index::Index;
use crate::arguments::{Format, TableName, TopArguments};
use crate::commands::top::feed::Feed;
use anyhow::Result;
use rocescope_analysis::incidents::{Background, Settings};
use rocescope_diagnose::incidents::Document;
use rocescope_model::IncidentRow;
use rocescope_runtime::clock::now;
use rocescope_store::TimeRange;
use rocescope_view::Notes;
use rocescope_view::incidents;
use std::path::Path;
use std::time::Duration;

/// How long the first screen waits for the answer.
const WAIT: Duration = Duration::from_secs(1);

/// How far the search is.
pub(super) enum Search {
    /// Nothing that is printed shows incidents.
    NotWanted,
    /// It goes on.
    Running(Background),
    /// The incidents, the worst first.
    Found(Vec<IncidentRow>),
    /// Why there are none.
    Failed(String),
}

impl Search {
    /// Begins, and waits a moment; what is printed waits until the end.
    pub(super) fn begin(root: &Path, time: TimeRange, arguments: &TopArguments) -> Self {
        let once = &arguments.once;
        let is_printed = once.once || once.output == Format::Jsonl;
        let shows = matches!(once.output, Format::Json | Format::Jsonl) || once.table == Some(TableName::Incidents);
        if is_printed && !shows {
            return Self::NotWanted;
        }
        let search = Background::begin(Settings {
            dataset: root.to_owned(),
            time,
            names: (*arguments.appearance.hosts.names()).clone(),
            topology: None,
        });
        match search.within(if is_printed { Duration::MAX } else { WAIT }) {
            Ok(Ok(document)) => Self::Found(rows(&document)),
            Ok(Err(error)) => Self::Failed(error.to_string()),
            Err(search) => Self::Running(search),
        }
    }

    /// Whether an incident goes on in a window.
    pub(super) fn has_open(&self, index: &Index, at: usize) -> bool {
        let (Self::Found(all), Some(start_ns)) = (self, index.start(at)) else {
            return false;
        };
        incidents::at(all, start_ns, index.end(at))
            .iter()
            .any(incidents::is_open)
    }

    /// Shows the incidents, now or when they are found.
    pub(super) fn show(self, feed: &mut Feed, screen: Option<Notes>) -> Result<()> {
        match self {
            Self::NotWanted => {}
            Self::Found(rows) => feed.incidents(rows)?,
            Self::Failed(error) => feed.note(format!("no incidents: {error}"))?,
            Self::Running(search) => {
                if let Some(screen) = screen {
                    search.then(move |found| match found {
                        Ok(document) => screen.incidents(rows(&document)),
                        Err(error) => drop(screen.send(format!("no incidents: {error}"))),
                    });
                }
            }
        }
        Ok(())
    }
}

fn rows(document: &Document) -> Vec<IncidentRow> {
    document.rows("", now().0)
}
