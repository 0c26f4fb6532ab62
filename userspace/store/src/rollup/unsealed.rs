//! Which units have windows that are not sealed yet.

use super::due::sources;
use crate::Error;
use crate::name::{Observer, Partition};
use crate::walk::{self, Found};
use rocescope_model::{Row, WindowRow};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Which units have windows that are not sealed yet, although other tables have sealed rows of them. Rows that are added to a
/// rollup are not read again, so they must not come without their windows.
pub(super) struct Unsealed<'a> {
    source: &'a Path,
    within: &'a Range<i64>,
    /// Units with a journal of `windows`, and the segments of `windows` of all units; read when they are first needed, after
    /// the segments that are due: what was sealed meanwhile is in one of the two.
    now: Option<(BTreeSet<Writes>, Windows)>,
}

/// A partition, and who writes it.
pub(super) type Writes = (Partition, Observer);

/// The segments of `windows` of units.
pub(super) type Windows = BTreeMap<Writes, Vec<PathBuf>>;

impl<'a> Unsealed<'a> {
    pub(super) const fn new(source: &'a Path, within: &'a Range<i64>) -> Self {
        Self {
            source,
            within,
            now: None,
        }
    }

    pub(super) fn has(&mut self, unit: &Writes, windows: &Windows) -> Result<bool, Error> {
        let (open, now) = match &mut self.now {
            Some(now) => now,
            none => {
                let leftovers = walk::leftovers(self.source)?.into_iter();
                let open = leftovers.filter(|left| left.place.table == WindowRow::TABLE.name);
                let open = open.map(|left| (Partition::of(left.place.name.start()), left.place.name.observer));
                let open = open.collect();
                let now = sources(self.source, self.within)?;
                none.insert((
                    open,
                    now.iter()
                        .map(|(unit, found)| (unit.clone(), windows_of(found)))
                        .collect(),
                ))
            }
        };
        Ok(open.contains(unit) || now.get(unit) != windows.get(unit))
    }
}

/// The segments of `windows` of a unit.
pub(super) fn windows_of(found: &BTreeMap<&'static str, Vec<Found>>) -> Vec<PathBuf> {
    let windows = found.get(WindowRow::TABLE.name);
    windows.into_iter().flatten().map(|found| found.path.clone()).collect()
}
