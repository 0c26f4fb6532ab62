//! Rows in, a [`Report`](crate::Report) out, in bounded memory.
//!
//! | module | what it keeps |
//! |---|---|
//! | `scope` | what is asked, and where the rows came from |
//! | `collector` | rows to each of the others |
//! | `totals` | sums over all windows, and the windows with most |
//! | `flows` | flows by key, up to a bound, with what may be missing of each |
//! | `room` | what a window's list leaves room for |
//! | `opcodes` | one sum an opcode |
//! | `connection` | the two directions of one |
//! | `connections` | connections that live, sums of those that do not, the worst |
//! | `events` | counts by kind, over time, and the most telling of each |
//! | `mesh` | the mesh of probes: pairs of NICs, sums over time, problems, links |
//! | `top` | the greatest so many of anything |

mod collector;
mod connection;
mod connections;
mod events;
mod flows;
mod mesh;
mod opcodes;
mod room;
mod scope;
mod top;
mod totals;

pub use collector::Collector;
pub use connection::Connection;
pub use connections::ConnectionFigures;
pub(crate) use connections::RESENT_SHARE;
pub use events::{EventCounts, EventFigures, KindFigures};
pub use flows::{FOLLOWED_FLOWS, FlowFigures};
pub use mesh::{MeshFigures, MeshPeriod};
pub use opcodes::OpcodeFigures;
pub use scope::{MOST_NAMES, Origin, Scope};
pub use totals::{Peak, Totals};
