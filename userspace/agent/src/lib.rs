//! The agent of a host. A [`Part`] makes rows: of counters, of the steps of collectives. The relay sends the rows of all
//! parts to the collector, over one spool and one connection.
//!
//! The crate knows no command line: settings are structs, and what a controller may change is [`Settings`].
//!
//! | module | what it does |
//! |---|---|
//! | [`part`] | the contract of a part, and the parts of an agent |
//! | [`worker`] | the thread of a part: how it starts, ends and fails |
//! | [`settings`] | what a controller may change while an agent runs |
//! | [`relay`] | sends rows to the collector |
//! | [`counters`] | reads the counters of the host |
//! | [`queue_pairs`] | follows the queue pairs of the host |
//! | [`collective`] | follows the files of jobs, and asks about slow steps |
//! | [`probes`] | probes from the NICs of the host |
//! | [`subscription`] | the connection of a capture box to the controller |
//! | [`hostping`] | loopback tests inside the host |
//! | [`error`] | why a part does not start, or fails |

pub mod collective;
pub mod counters;
pub mod error;
pub mod hostping;
pub mod part;
pub mod probes;
pub mod queue_pairs;
pub mod relay;
pub mod settings;
pub mod subscription;
pub mod worker;

pub use error::{AgentError, Result};
pub use part::{Part, Parts, Rows};
pub use settings::Settings;
