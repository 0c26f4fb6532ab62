//! Rows from agents to the collector: Arrow Flight over TLS, both ends with certificates.
//!
//! An agent puts its rows into a [`Spool`], a bounded directory of parcels, and a [`Sender`] carries
//! them to a [`Server`], which writes one dataset for all agents. A parcel leaves the spool when the
//! collector has acknowledged it, and it is acknowledged when its rows are on the collector's disk.
//! What was sent and not acknowledged is sent again; its number keeps it from being stored twice.
//!
//! A parcel's number is the agent's name, the *epoch* (one process of the agent) and the *sequence* in
//! it. The store writes it together with the rows, in one piece.
//!
//! Nobody is believed: a peer without a certificate of the collector's authority gets no further than
//! the handshake, and one with a certificate may send rows of its own name only.
//!
//! | module | what it holds |
//! |---|---|
//! | [`spool`] | [`Spool`]: parcels on disk, numbered, bounded |
//! | [`sender`] | [`Sender`]: the thread that empties a spool into a collector |
//! | [`server`] | [`Server`]: who may come in, what is taken, what is acknowledged |
//! | [`label`] | the text beside each parcel and each answer |
//! | [`tls`] | keys and certificates |
//! | [`error`] | [`Error`] |

pub mod error;
pub mod label;
pub mod sender;
pub mod server;
pub mod spool;
pub mod tls;

pub use error::Error;
pub use sender::Sender;
pub use server::Server;
pub use spool::Spool;
pub use tls::Files;

/// Most bytes of a message: what an agent makes has a quarter of it.
pub const MESSAGE_BYTES: usize = 1 << 20;
/// Most rows of a parcel.
pub const PARCEL_ROWS: usize = 1024;
/// Most parcels that an agent has under way. The store knows a number again as long as an agent has
/// no more than 64 epochs under way.
pub const UNDER_WAY: usize = 32;
