//! What switches count at their ports, and what they drop.
//!
//! | module | what it does |
//! |---|---|
//! | `reading` | what a source read of a port, a queue or a priority |
//! | `growth` | rows of `switch_ports`: what grew since the reading before, and what was reset |
//! | `drops` | rows of `switch_drops`: reports of dropped packets, those of a few seconds together |
//! | `totals` | how many packets were dropped where and why |
//! | `column` | the columns that a mapping can name |
//! | `samples` | what happened to the values that a source read |
//! | `names` | names of switches and ports, by address and index |
//!
//! A [`Source`] reads switches. Its readings are absolute, as switches count; only `growth` subtracts.

mod column;
mod drops;
mod growth;
mod names;
mod reading;
mod samples;
mod totals;

pub(crate) use column::{COLUMNS, Column, Gauge, whole};
pub use drops::{Dropped, Drops};
pub use growth::Growth;
pub use names::Names;
pub use reading::{Count, Counter, Counters, Gauges, Part, Reading};
pub use samples::Samples;
pub(crate) use samples::trailing_number;
pub use totals::{DropTotals, DroppedAt};

/// Reads switches.
pub trait Source {
    /// Its name in the column `source`.
    const NAME: &'static str;

    /// The columns of `switch_ports` that it never fills, and why.
    const LACKS: &'static [(&'static str, &'static str)];

    /// Passes on what was read since the last call.
    fn readings(&mut self, now_ns: i64, take: &mut dyn FnMut(Reading));
}
