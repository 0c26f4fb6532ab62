//! Compares the sums of each resolution with those of the finer one.

use rocescope_model::time::HOUR_NS;
use rocescope_model::{Resolution, Row, Time, WindowRow};
use rocescope_store::rollup::{directory, whole_units};
use rocescope_store::{Error, Query, Scan, TimeRange};
use std::collections::BTreeMap;
use std::path::Path;

/// The columns that are compared.
const COLUMNS: [&str; 4] = ["frames", "roce_packets", "frame_bytes", "messages"];

/// The result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compared {
    /// Partitions of the finer resolutions whose rows are all there and rolled up.
    pub partitions: u64,
    /// What differs: a sentence for each.
    pub problems: Vec<String>,
}

/// Compares the windows of all partitions whose segments are those that their rollup lists.
///
/// # Errors
/// The directories cannot be read, or a segment. Damaged segments are left out.
pub fn compare(root: &Path) -> Result<Compared, Error> {
    let mut compared = Compared::default();
    for resolution in Resolution::ROLLED_UP {
        let Some(finer) = resolution.finer() else { continue };
        let units = whole_units(root, resolution)?;
        if units.is_empty() {
            continue;
        }
        let open = |of| Query::default().tables(&[WindowRow::TABLE]).scan(&directory(root, of));
        let (fine, coarse) = (sums(&open(finer)?)?, sums(&open(resolution)?)?);
        for (from, to) in units {
            let of = |sums: &BTreeMap<i64, [i64; 4]>| {
                let hours = sums.range(from.0.div_euclid(HOUR_NS)..to.0.div_euclid(HOUR_NS));
                hours.fold([0_i64; 4], |all, (_, hour)| {
                    std::array::from_fn(|at| all[at].saturating_add(hour[at]))
                })
            };
            compared.partitions += 1;
            for ((column, fine), coarse) in COLUMNS.iter().zip(of(&fine)).zip(of(&coarse)) {
                if fine != coarse {
                    compared.problems.push(format!(
                        "{column} from {from:.0} to {to:.0} is {fine} in {finer} and {coarse} in {resolution}"
                    ));
                }
            }
        }
    }
    Ok(compared)
}

/// The sums of each hour.
fn sums(found: &Scan) -> Result<BTreeMap<i64, [i64; 4]>, Error> {
    let mut sums: BTreeMap<i64, [i64; 4]> = BTreeMap::new();
    let [frames, packets, bytes, messages] = COLUMNS;
    let rows = found.select::<WindowRow>().within(TimeRange::default());
    rows.integers(
        ["window_start_ns", frames, packets, bytes, messages],
        |[start, row @ ..]| {
            let hour = sums.entry(Time(start).hours()).or_default();
            hour.iter_mut()
                .zip(row)
                .for_each(|(sum, cell)| *sum = sum.saturating_add(cell));
        },
    )?;
    Ok(sums)
}
