//! Positions on the screen. Drawing and the mouse use the same functions, so a click hits what is visible.

use crate::pane::{Listing, Pane, Slot};
use ratatui::layout::Rect;

/// The minimum number of columns and lines.
pub const MIN_SIZE: (u16, u16) = (80, 24);
/// The minimum size that shows all panes at once.
const ALL_AT_ONCE: (u16, u16) = (110, 34);
/// Lines of the header, without the one of an open incident.
pub const HEADER: u16 = 4;
/// Blank cells between two columns; the sort mark uses one of them.
const GAP: usize = 2;
/// The widest heading of a column whose cells are narrower.
const HEADING: usize = 15;
/// Columns whose cells may be upper bounds from sketches.
pub(crate) const MAY_BE_BOUNDS: [&str; 3] = ["packets", "frame_bytes", "frame_bps"];
/// Minimum and maximum cells of a sparkline and of a bar.
const SPARK: (usize, usize) = (8, 30);
const SHARE: (usize, usize) = (15, 50);
/// Minimum cells of the text that gets the remaining room; of ports, it has the names of counters.
const DETAIL: usize = 16;
const DETAIL_OF_PORTS: usize = 30;

/// The areas of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Areas {
    /// Source, rates, identity.
    pub header: Rect,
    /// The panes shown, each with its title line; a single pane has the tabs of all in it.
    pub panes: Vec<(Pane, Rect)>,
    /// Keys, a note, or the filter as it is typed.
    pub footer: Rect,
}

/// Whether the screen is large enough.
#[must_use]
pub const fn is_enough(width: u16, height: u16) -> bool {
    width >= MIN_SIZE.0 && height >= MIN_SIZE.1
}

/// The areas of a screen of this size; `has_alert`: the header has a line for an open incident.
#[must_use]
pub fn areas(width: u16, height: u16, focus: Pane, (zoom, has_alert): (bool, bool)) -> Areas {
    let line = |y, lines| Rect::new(0, y, width, lines);
    let header = HEADER + u16::from(has_alert);
    let body = height.saturating_sub(header + 1);
    let alone = zoom
        || matches!(
            focus,
            Pane::Mesh | Pane::Groups | Pane::Hosts | Pane::Incidents | Pane::Inside
        );
    let panes = if alone || width < ALL_AT_ONCE.0 || height < ALL_AT_ONCE.1 {
        vec![(focus, line(header, body))]
    } else {
        let connections = body / 4;
        let below = (body * 3 / 10).max(9);
        let flows = body - connections - below;
        let opcodes = width / 2;
        let y = header + flows + connections;
        vec![
            (Pane::Flows, line(header, flows)),
            (Pane::Connections, line(header + flows, connections)),
            (Pane::Opcodes, Rect::new(0, y, opcodes - 1, below)),
            (Pane::Events, Rect::new(opcodes, y, width - opcodes, below)),
        ]
    };
    Areas {
        header: line(0, header),
        panes,
        footer: line(height.saturating_sub(1), 1),
    }
}

/// The rows of a pane, below its title and headings.
#[must_use]
pub fn rows(pane: Rect) -> Rect {
    Rect {
        y: pane.y + 2,
        height: pane.height.saturating_sub(2),
        ..pane
    }
}

/// A column on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// What it shows.
    pub slot: Slot,
    /// Cells from the left edge of the pane.
    pub x: u16,
    /// Cells.
    pub width: u16,
    /// Whether its cells are aligned to the right.
    pub right: bool,
}

/// The columns that fit into this width, by priority, in their order from left to right. The sort column is always
/// among them.
#[must_use]
pub fn columns(listing: &Listing, width: u16, estimated: bool) -> Vec<Placed> {
    let table = listing.pane.table();
    let mut wanted: Vec<(Slot, u8)> = listing
        .pane
        .slots()
        .filter(|(slot, _)| estimated || !is_bound(listing, *slot))
        .filter(|(slot, _)| !is_without_owners(listing, *slot))
        .collect();
    let sorted = Slot::Column(listing.sort);
    match wanted.iter_mut().find(|(slot, _)| *slot == sorted) {
        Some((_, priority)) => *priority = u8::MAX,
        None => {
            let last = wanted.len().saturating_sub(1);
            wanted.insert(last, (sorted, u8::MAX));
        }
    }
    let min = |slot: Slot| match slot {
        Slot::Flags => 5,
        Slot::Spark => SPARK.0,
        Slot::Share => SHARE.0,
        Slot::Column(at) if is_text(table.columns[at].name) => match listing.pane {
            Pane::Hosts => DETAIL_OF_PORTS,
            _ => DETAIL,
        },
        Slot::Column(at) => {
            let title = table.columns[at].title.chars().count();
            // A bound has a mark.
            let mark = usize::from(estimated && MAY_BE_BOUNDS.contains(&table.columns[at].name));
            (listing.widths[at] + mark).max(title.min(HEADING))
        }
    };
    let room = usize::from(width);
    let mut by_priority: Vec<usize> = (0..wanted.len()).collect();
    by_priority.sort_by_key(|at| core::cmp::Reverse(wanted[*at].1));
    let mut kept = vec![0_usize; wanted.len()];
    // One cell at each edge.
    let mut used = 2;
    for at in by_priority {
        let needed = min(wanted[at].0);
        // The first column has no gap; counting it too leaves room for the sort mark.
        let cells = needed + GAP;
        if used + cells <= room + GAP {
            kept[at] = needed;
            used += cells;
        } else if kept.iter().all(|cells| *cells == 0) {
            kept[at] = room.saturating_sub(2);
            break;
        }
    }
    let mut left = (room + GAP).saturating_sub(used);
    for (at, (slot, _)) in wanted.iter().enumerate() {
        let max = match slot {
            _ if kept[at] == 0 => 0,
            Slot::Spark => SPARK.1,
            Slot::Share => SHARE.1,
            Slot::Column(at) if is_text(table.columns[*at].name) => room,
            _ => 0,
        };
        let more = max.saturating_sub(kept[at]).min(left);
        kept[at] += more;
        left -= more;
    }
    let mut x = 1;
    let mut placed = Vec::new();
    for ((slot, _), cells) in wanted.into_iter().zip(kept) {
        if cells == 0 {
            continue;
        }
        let right = match slot {
            Slot::Column(at) => table.columns[at].kind.is_number(),
            Slot::Spark => true,
            Slot::Flags | Slot::Share => false,
        };
        placed.push(Placed {
            slot,
            x,
            width: cells as u16,
            right,
        });
        x += (cells + GAP) as u16;
    }
    placed
}

/// Columns that get the remaining room.
fn is_text(name: &str) -> bool {
    matches!(name, "detail" | "sentence")
}

/// The column of owners, if no agent reported any: the cells are dashes.
fn is_without_owners(listing: &Listing, slot: Slot) -> bool {
    matches!(slot, Slot::Column(at) if listing.pane.table().columns[at].name == "owners" && listing.widths[at] <= 1)
}

/// Columns that mean nothing if all sizes are exact.
fn is_bound(listing: &Listing, slot: Slot) -> bool {
    matches!(slot, Slot::Column(at) if listing.pane.table().columns[at].name.starts_with("error_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_never_overlap_nor_leave_the_pane() {
        for pane in Pane::ALL {
            for sort in 0..pane.table().columns.len() {
                let mut listing = Listing::new(pane);
                listing.sort = sort;
                listing.widths.fill(15);
                for width in 40..200 {
                    let placed = columns(&listing, width, true);
                    assert!(!placed.is_empty());
                    let mut x = 0;
                    for column in &placed {
                        assert!(column.x > x, "{pane:?} {sort} {width}");
                        x = column.x + column.width;
                    }
                    assert!(x < width, "{pane:?} {sort} {width}: {placed:?}");
                    let sorted = |column: &Placed| column.slot == Slot::Column(sort);
                    assert!(placed.iter().any(sorted));
                }
            }
        }
    }

    #[test]
    fn panes_fill_the_screen() {
        for (width, height) in [(80, 24), (120, 40), (200, 60), (110, 34)] {
            let areas = areas(width, height, Pane::Flows, (false, false));
            let cells: u32 = areas.panes.iter().map(|(_, area)| area.area()).sum();
            let gap = if areas.panes.len() > 1 {
                u32::from(areas.panes[2].1.height)
            } else {
                0
            };
            let body = u32::from(width) * u32::from(height - HEADER - 1);
            assert_eq!(cells + gap, body);
        }
    }
}
