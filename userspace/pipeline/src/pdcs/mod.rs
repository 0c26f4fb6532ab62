//! UET: the packet delivery contexts (PDCs) of each window.
//!
//! A row is one direction of a PDC: the requests and control packets of one side, and the ACKs and NACKs that answer
//! them. RUDI and UUD have no PDC: their rows are pairs of addresses. UET sprays its packets, so their order is evidence
//! of nothing; `psns` states what is.
//!
//! | module | what it holds |
//! |---|---|
//! | `table` | finds the direction of a packet |
//! | `direction` | counts a packet, and what it shows about others |
//! | `psns` | the PSNs of a direction: passed, acknowledged, missing, lost |
//! | `psn` | one PSN: its copies, and the verdict |
//! | `counts` | the counts of a direction in a window |
//! | `rows` | rows and totals of a window |

mod counts;
mod direction;
mod psn;
mod psns;
mod rows;
mod table;
#[cfg(test)]
mod tests;

pub use counts::{PdcCounts, PdcTotals};
pub use direction::Mode;
pub(crate) use rows::PdcWindow;
pub(crate) use table::Pdcs;
