//! Checks of this machine, with the command that fixes each problem. They change nothing.
//!
//! | module | what it checks |
//! |---|---|
//! | `host` | kernel, capabilities, limits, clocks |
//! | `port` | an interface: driver, queues, offloads, moderation |

mod finding;
mod host;
mod port;

pub use finding::{Finding, Level};
pub use host::host;
pub use port::port;
