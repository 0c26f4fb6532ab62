//! Probes of a host. The prober is no [`Part`](crate::Part): a controller and the monitor of collectives use its agent
//! between two turns, so that it owns the loop of the process.
//!
//! | module | what it does |
//! |---|---|
//! | [`settings`] | what to probe, and where the rows go |
//! | `peers` | reads the list of other hosts |
//! | `open` | opens NICs, port and privileges: everything that can be refused |
//! | `prober` | probes, and passes the rows on |
//! | `operating` | measures RDMA operations in a thread |
//! | `outputs` | writes rows to the dataset |
//! | `window` | the status line of a window |
//! | `summary` | the summary at the end |

mod open;
mod operating;
mod outputs;
mod peers;
mod prober;
pub mod settings;
mod summary;
mod window;

pub use prober::{LoopHook, Opened, Prober};
pub use settings::ProbeSettings;
pub use summary::Summary;
