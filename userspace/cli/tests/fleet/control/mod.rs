//! One controller for agents and capture boxes.
//!
//! | module | contents |
//! |---|---|
//! | `rig` | certificates, a controller, simulated members |
//! | `fleet` | 200 agents and 4 capture boxes take a configuration, or refuse it |
//! | `operators` | who may apply, and what `rocescope collector` prints |
//! | `changes` | what an operator learns of a change |
//! | `messages` | messages between agents |
//! | `monitor` | agents watch the steps of a job, and ask about slow ones |
//! | `killed` | processes that are killed at any moment |
//! | `dropped` | rows that a full spool dropped |
//! | `twice` | two agents with one certificate |
//! | `pinglists` | the controller hands out whom agents probe |
//! | `resumed` | faults of hosts when a collector starts again |
//! | `hub` | hosts on a switch, and its mirror |
//! | `small_flows` | a capture box names small flows, agents probe their paths |
//! | `wire` | a capture box sends the rows that judge hosts |

mod changes;
mod dropped;
mod fleet;
mod hub;
mod killed;
mod messages;
mod monitor;
mod operators;
mod pinglists;
mod resumed;
pub(crate) mod rig;
mod small_flows;
mod twice;
mod wire;
