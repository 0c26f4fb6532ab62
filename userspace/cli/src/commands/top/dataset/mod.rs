//! A dataset, stepped through.

mod index;

use super::control::Next;
use super::feed::Feed;
use crate::arguments::TopArguments;
use crate::signals::Signals;
use anyhow::{Context, Result, anyhow, ensure};
use index::Index;
use rocescope_store::Error::NoDirectory;
use rocescope_view::series::REACH;
use rocescope_view::{Header, Motion, Seek};
use std::path::Path;

pub(super) fn run(root: &Path, arguments: &TopArguments, signals: &Signals) -> Result<()> {
    let found = rocescope_store::open(root).map_err(|error| match error {
        NoDirectory { .. } if root.is_file() => {
            anyhow!("{error}; a capture file is played with -r")
        }
        error => error.into(),
    })?;
    let mut notes: Vec<String> = found
        .unreadable
        .iter()
        .map(|file| format!("skipped {}: {}", file.path.display(), file.reason))
        .collect();
    if !found.open.is_empty() {
        notes.push(format!(
            "{} open segments are left out: they are being written, or wait for `rocescope repair`",
            found.open.len()
        ));
    }
    let no_connections = (found.row_count("connections") == 0)
        .then(|| "this dataset has none: capture with --connections".to_owned());
    let mut index = Index::new(found).with_context(|| root.display().to_string())?;
    ensure!(!index.is_empty(), "{}: no windows", root.display());
    let header = Header {
        source: root.display().to_string(),
        mode: format!("dataset of {} windows", index.len()),
        motion: Motion::Paused,
        no_connections,
        ..Header::default()
    };
    let at = match arguments.at {
        None => 0,
        Some(time) => index
            .at(time.0)
            .ok_or_else(|| super::too_late(time, index.start(index.len() - 1)))?,
    };
    let mut feed = super::feed(arguments, header, true)?;
    feed.begin(signals.ender(), None)?;
    let stepped = step(&mut index, at, &mut feed, &notes);
    feed.finish(stepped)
}

/// Goes where the user wants.
fn step(index: &mut Index, mut at: usize, feed: &mut Feed, notes: &[String]) -> Result<()> {
    if feed.is_printed() {
        for at in at..index.len() {
            feed.replace(index.windows(at..at + 1)?)?;
        }
        return Ok(());
    }
    jump(index, at, feed)?;
    if !notes.is_empty() {
        feed.note(notes.join("; "))?;
    }
    loop {
        let next = match index.start(at + 1) {
            Some(start_ns) => feed.due(start_ns)?,
            None => feed.rest()?,
        };
        match next {
            Next::Go if at + 1 < index.len() => {
                at += 1;
                feed.add(index.windows(at..at + 1)?)?;
            }
            Next::Go => {}
            Next::Seek(seek) => {
                let to = target(index, at, seek);
                if to == at {
                    let end = if to == 0 { "first" } else { "last" };
                    feed.note(format!("this is the {end} window"))?;
                } else if to == at + 1 {
                    feed.add(index.windows(to..to + 1)?)?;
                } else {
                    jump(index, to, feed)?;
                }
                at = to;
            }
        }
    }
}

fn target(index: &Index, at: usize, seek: Seek) -> usize {
    let last = index.len() - 1;
    match seek {
        Seek::Begin => 0,
        Seek::End => last,
        Seek::Windows(by) => (at as i64).saturating_add(by).clamp(0, last as i64) as usize,
        Seek::Minutes(by) => {
            let now = index.start(at).unwrap_or(0);
            let to = index.at(now.saturating_add(by.saturating_mul(60_000_000_000)));
            let to = to.unwrap_or(last);
            // Where nothing was captured in that minute, the next window there is.
            match by {
                1.. => to.max((at + 1).min(last)),
                _ => to.min(at.saturating_sub(1)),
            }
        }
    }
}

/// Shows the window with those before it, for trends and longer windows.
fn jump(index: &mut Index, at: usize, feed: &mut Feed) -> Result<()> {
    let first = (at + 1).saturating_sub(REACH);
    let windows = index.windows(first..at + 1)?;
    feed.replace(windows)
}
