//! Collects rows into a [`Report`](crate::Report), in bounded memory.
//!
//! | module | what it holds |
//! |---|---|
//! | `scope` | the request, and the source of the rows |
//! | `collector` | passes rows to the other modules |
//! | `totals` | sums over all windows, and peak windows |
//! | `flows` | flows by key, bounded, with the error of each |
//! | `unlisted_bounds` | bounds for flows that a window does not list |
//! | `groups` | traffic by source, destination, queue pair or opcode |
//! | `owners` | traffic by owner: job, host or process |
//! | `opcodes` | one sum for each opcode |
//! | `connection` | the two directions of a connection |
//! | `connections` | live connections, sums of ended ones, the worst |
//! | `pdcs` | directions of UET's packet delivery contexts |
//! | `events` | counts by kind, over time, and the most important of each |
//! | `mesh` | the mesh of probes: pairs of NICs, sums over time, problems, links |
//! | `loopback` | the last loopback tests inside each host |
//! | `collective` | the analysis of a collective, in a size that a document can show |
//! | `counters` | what the counters of hosts grew by |
//! | `switches` | what switches counted at their ports, and the drops that they reported |
//! | `top` | the items with the highest ranks |

pub mod agreement;
mod classes;
mod collective;
mod collector;
mod connection;
mod connections;
mod counters;
mod events;
mod flows;
mod groups;
mod loopback;
mod mesh;
mod opcodes;
mod owners;
mod paths;
mod pdcs;
mod scope;
mod switches;
mod top;
mod totals;
mod unlisted_bounds;

pub use classes::{ByDscp, Classes, Group};
pub use collective::CollectiveFigures;
pub use collector::Collector;
pub use connection::Connection;
pub use connections::ConnectionFigures;
pub(crate) use connections::RESENT_SHARE;
pub use counters::CounterFigures;
pub use events::{EventCounts, EventFigures, KindFigures};
pub use flows::{FOLLOWED_FLOWS, FlowFigures};
pub use groups::GroupFigures;
pub use loopback::LoopbackFigures;
pub use mesh::{MeshFigures, MeshPeriod};
pub use opcodes::OpcodeFigures;
pub use owners::{OwnedBy, OwnerFigures, OwnerSums};
pub use paths::{JobImbalance, PathFigures, PathFlow, Unevenness};
pub use pdcs::PdcFigures;
pub use scope::{MAX_NAMES, Origin, Scope};
pub(crate) use switches::frames;
pub use switches::{SwitchFigures, SwitchPort};
pub use totals::{Peak, Totals};
