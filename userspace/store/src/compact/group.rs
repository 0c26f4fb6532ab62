//! Which segments of an hour are joined.

use super::shipped::State;
use crate::name::{SegmentName, SegmentPaths};
use crate::scan::{read_footer, read_segment};
use crate::walk::Found;
use crate::{Error, Segment, Unreadable};
use rocescope_model::{Table, footer};
use std::cmp::Ordering;
use std::path::Path;

/// Segments that are joined, in the order of their first rows.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) parts: Vec<Part>,
    /// Metadata pairs that all of them have.
    pub(super) footer: Vec<(String, String)>,
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) segment: Segment,
    pub(super) name: SegmentName,
    footer: Vec<(String, String)>,
    state: State,
}

/// Returns the groups among the segments of one hour and table, and adds the damaged ones to `damaged`.
pub(super) fn groups(
    root: &Path,
    table: &'static Table,
    found: &[Found],
    max_bytes: u64,
    damaged: &mut Vec<Unreadable>,
) -> Result<Vec<Group>, Error> {
    let small: Vec<&Found> = found.iter().filter(|found| found.bytes < max_bytes / 2).collect();
    if small.len() < 2 {
        return Ok(Vec::new());
    }
    let mut parts = Vec::new();
    for found in small {
        match read_segment(found.clone()) {
            Ok(segment) => parts.extend(part(root, table, found, segment)?),
            Err(Some(unreadable)) => damaged.push(unreadable),
            // Retention deleted it.
            Err(None) => {}
        }
    }
    parts.sort_by(order);
    let mut groups = Vec::new();
    for part in parts {
        let bytes = |group: &Group| group.parts.iter().map(|part| part.segment.bytes).sum::<u64>();
        match groups.last_mut() {
            Some(group) if fits(group, &part) && bytes(group) + part.segment.bytes <= max_bytes => {
                group.parts.push(part);
            }
            _ => groups.push(Group {
                footer: part.footer.clone(),
                state: part.state,
                parts: vec![part],
            }),
        }
    }
    groups.retain(|group| group.parts.len() > 1);
    for group in &mut groups {
        keep_whole(group, damaged)?;
    }
    groups.retain(|group| group.parts.len() > 1);
    Ok(groups)
}

/// A segment that may be joined; `None` for one that another program named, whose journal a kill left, that has other
/// columns than those of this version, or that is on its way to a store.
fn part(root: &Path, table: &'static Table, found: &Found, segment: Segment) -> Result<Option<Part>, Error> {
    let Some(name) = found.name.clone() else {
        return Ok(None);
    };
    let state = State::of(root, &found.path);
    if state == State::Begun || has_journal(root, table, &name) || !has_all_columns(table, &segment)? {
        return Ok(None);
    }
    let mut footer = segment.footer.clone();
    footer.retain(|(key, _)| key != footer::CHECKSUMS);
    footer.sort();
    Ok(Some(Part {
        segment,
        name,
        footer,
        state,
    }))
}

/// Whether the journal of a sealed segment is still there: repair would seal it once more if the segment were gone.
pub(super) fn has_journal(root: &Path, table: &Table, name: &SegmentName) -> bool {
    let paths = SegmentPaths {
        root: root.to_owned(),
        table: table.name.into(),
        name: name.clone(),
    };
    paths.journal().exists()
}

/// Whether a segment has exactly the columns of this version: others would be lost, or would have to be made up.
fn has_all_columns(table: &Table, segment: &Segment) -> Result<bool, Error> {
    let footer = match read_footer(&segment.path) {
        Ok(footer) => footer,
        Err(error) => return segment.note(error).map(|()| false),
    };
    let schema = footer.metadata.metadata().file_metadata().schema_descr();
    let own = schema.root_schema().get_fields().iter().map(|field| field.name());
    Ok(own.eq(table.columns.iter().map(|column| column.name)))
}

fn order(a: &Part, b: &Part) -> Ordering {
    let key = |part: &Part| (part.state, part.segment.bounds.time_ns, part.segment.path.clone());
    a.footer.cmp(&b.footer).then_with(|| key(a).cmp(&key(b)))
}

fn fits(group: &Group, part: &Part) -> bool {
    group.state == part.state && group.footer == part.footer
}

/// Removes the parts that are damaged, and those without checksums: nothing shows whether these are.
fn keep_whole(group: &mut Group, damaged: &mut Vec<Unreadable>) -> Result<(), Error> {
    let mut whole = Vec::with_capacity(group.parts.len());
    for part in group.parts.drain(..) {
        let segment = &part.segment;
        let checked = segment
            .check_all()
            .or_else(|error| segment.note(error).map(|()| false))?;
        if let Some(reason) = segment.health.fault() {
            damaged.push(Unreadable {
                path: segment.path.clone(),
                reason: reason.to_owned(),
            });
        } else if checked {
            whole.push(part);
        }
    }
    group.parts = whole;
    Ok(())
}
