//! Steps through a dataset.

mod hosts;
mod index;
mod loopback;
mod mesh;
mod owners;
mod search;

use super::feed::Feed;
use crate::arguments::{TableName, TopArguments};
use crate::commands::span;
use anyhow::{Context, Result, anyhow, bail};
use index::Index;
use loopback::Loopback;
use owners::Owners;
use rocescope_model::MeshRows;
use rocescope_runtime::Signals;
use rocescope_store::Error::NoDirectory;
use rocescope_store::{Query, TimeRange};
use rocescope_view::series::REACH;
use rocescope_view::{Header, Motion, Next, Pane, Seek};
use search::Search;
use std::path::Path;

pub(super) fn run(root: &Path, arguments: &TopArguments, signals: &Signals) -> Result<()> {
    let time = span::range(&arguments.span)?;
    let known = index::with_known(time);
    let found = Query::default().within(known).open(root).map_err(|error| match error {
        NoDirectory { .. } if root.is_file() => {
            anyhow!("{error}; use -r to play a capture file")
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
            "skipped {} open segments: in use, or need `rocescope dataset repair`",
            found.open.len()
        ));
    }
    let lacks = |table: &str, rows: &str, remedy: &str| {
        let place = match time == TimeRange::default() {
            true => "this dataset",
            false => "the requested time",
        };
        (found.row_count(table) == 0).then(|| format!("{place} has no {rows}: {remedy}"))
    };
    let no_connections = lacks("connections", "connections", "capture without --no-connections");
    let no_mesh = lacks("probes", "probes", "`rocescope probe --out` writes them");
    let no_counters = lacks(
        "counters",
        "counters of hosts",
        "`rocescope counters --out` writes them",
    );
    let loopback = Loopback::read(root)?;
    let no_loopback = loopback
        .is_empty()
        .then(|| "this dataset has no loopback tests: `rocescope hostping run --out` writes them".to_owned());
    let mut index = Index::new(found, time, &loopback.spans(time)).with_context(|| root.display().to_string())?;
    if index.is_empty()
        && let Some(nothing) = span::nothing(root, &arguments.span)?
    {
        return Err(nothing);
    }
    if index.is_empty() {
        let reasons = match notes.as_slice() {
            [] => String::new(),
            [first] => format!("; {first}"),
            [first, more @ ..] => format!("; {first}, and {} more", more.len()),
        };
        bail!(
            "{}: no windows, no probes, no counters and no loopback tests{reasons}",
            root.display()
        );
    }
    let header = Header {
        source: root.display().to_string(),
        mode: format!("dataset of {} windows", index.len()),
        motion: Motion::Paused,
        newest: index.newest(arguments.span.to),
        no_connections,
        no_mesh,
        no_counters,
        no_loopback,
        ..Header::default()
    };
    let mut also = Also {
        owners: Owners::open(root, time)?,
        loopback,
    };
    let search = Search::begin(root, time, arguments);
    let shows_worst = !arguments.once.once || arguments.once.table == Some(TableName::Incidents);
    let at = match (arguments.at, &search) {
        (Some(time), _) => index
            .at(time.0)
            .ok_or_else(|| super::too_late(time, index.start(index.len() - 1)))?,
        // Every window is printed.
        (None, _) if arguments.once.is_printed()? && !arguments.once.once => 0,
        // The worst incident; what is printed of a dataset begins with its traffic.
        (None, Search::Found(rows)) if !rows.is_empty() && shows_worst => index.at(rows[0].since_ns).unwrap_or(0),
        (None, _) => index.first_with_traffic(),
    };
    let pane = match (
        index.has_captured(),
        index.has_counters() && index.meshes().starts.is_empty(),
    ) {
        (true, _) if search.has_open(&index, at) => Pane::Incidents,
        (true, _) => Pane::Flows,
        (false, true) => Pane::Hosts,
        (false, false) if index.meshes().starts.is_empty() => Pane::Inside,
        (false, false) => Pane::Mesh,
    };
    let mut feed = super::feed(arguments, header, true, pane)?;
    let notes_of_screen = feed.begin(signals.ender(), None)?;
    search.show(&mut feed, notes_of_screen)?;
    let stepped = step(&mut index, &mut also, at, &mut feed, &notes);
    feed.finish(stepped)
}

/// What is read beside the windows.
struct Also {
    loopback: Loopback,
    owners: Owners,
}

/// Shows windows until the user quits.
fn step(index: &mut Index, also: &mut Also, mut at: usize, feed: &mut Feed, notes: &[String]) -> Result<()> {
    if feed.is_printed() {
        for at in at..index.len() {
            mesh(index, at, feed)?;
            feed.host_ports(index.host_ports(at)?)?;
            match index.is_captured(at) {
                true => {
                    also.owners.show(index.span(at), feed)?;
                    feed.add(index.windows(at..at + 1)?)?;
                }
                false => feed.without_traffic(index.start(at).unwrap_or(0))?,
            }
        }
        return Ok(());
    }
    jump(index, also, at, feed)?;
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
                add(index, also, at, feed)?;
            }
            Next::Go => {}
            Next::Seek(seek) => {
                let to = target(index, at, seek);
                if to == at {
                    let end = if to == 0 { "first" } else { "last" };
                    feed.note(format!("this is the {end} window"))?;
                } else if to == at + 1 {
                    add(index, also, to, feed)?;
                } else {
                    jump(index, also, to, feed)?;
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
        Seek::Windows(by) => by_windows(at, by, last),
        Seek::Meshes(by) => match index.mesh_at(at) {
            Some(mesh) => {
                let starts = &index.meshes().starts;
                let to = by_windows(mesh, by, starts.len() - 1);
                let start_ns = starts.get(to).copied().unwrap_or(i64::MAX);
                index.at(start_ns).unwrap_or(last)
            }
            None => by_windows(at, by, last),
        },
        Seek::Minutes(by) => {
            let now = index.start(at).unwrap_or(0);
            let to = index.at(now.saturating_add(by.saturating_mul(60_000_000_000)));
            let to = to.unwrap_or(last);
            // If that minute has no window, go to the next one.
            match by {
                1.. => to.max((at + 1).min(last)),
                _ => to.min(at.saturating_sub(1)),
            }
        }
    }
}

fn by_windows(at: usize, by: i64, last: usize) -> usize {
    (at as i64).saturating_add(by).clamp(0, last as i64) as usize
}

/// Shows the window with earlier ones, for trends and longer windows.
fn jump(index: &mut Index, also: &mut Also, at: usize, feed: &mut Feed) -> Result<()> {
    let first = (at + 1).saturating_sub(REACH);
    // A window without captures has no trends.
    let windows = match index.is_captured(at) {
        true => {
            also.owners.show(index.span(at), feed)?;
            index.windows(first..at + 1)?
        }
        false => Vec::new(),
    };
    feed.replace(windows)?;
    beside(index, also, at, feed)
}

/// Shows the next window.
fn add(index: &mut Index, also: &mut Also, at: usize, feed: &mut Feed) -> Result<()> {
    match index.is_captured(at) {
        true => {
            also.owners.show(index.span(at), feed)?;
            feed.add(index.windows(at..at + 1)?)?;
        }
        false => feed.replace(Vec::new())?,
    }
    beside(index, also, at, feed)
}

/// Shows what belongs to the time of a window.
fn beside(index: &mut Index, also: &mut Also, at: usize, feed: &mut Feed) -> Result<()> {
    mesh(index, at, feed)?;
    feed.host_ports(index.host_ports(at)?)?;
    feed.loopback(also.loopback.at(index.end(at)))
}

/// Shows the mesh of probes at the time of a window, if it has changed.
fn mesh(index: &mut Index, at: usize, feed: &mut Feed) -> Result<()> {
    let wanted = index.mesh_at(at);
    if feed.mesh_is(wanted) {
        return Ok(());
    }
    let (rows, unfollowed) = match wanted {
        Some(mesh) => index.mesh(mesh)?,
        None => (MeshRows::default(), 0),
    };
    feed.mesh(wanted, rows)?;
    if unfollowed > 0 {
        feed.note(format!(
            "{unfollowed} probes belong to pairs of NICs beyond the number that can be tracked"
        ))?;
    }
    Ok(())
}
