//! Rows from agents to the collector: Arrow Flight over TLS, both ends with certificates.
//!
//! An agent puts its rows into a [`Spool`], a bounded directory of parcels, and a [`Sender`] carries
//! them to a [`Server`], which writes one dataset for all agents. A parcel leaves the spool when the
//! collector has acknowledged it, and it is acknowledged when its rows are on the collector's disk.
//! The sender retransmits what was not acknowledged; the number of a parcel keeps it from being stored twice.
//!
//! A parcel's number is the agent's name, the *epoch* (one process of the agent) and the *sequence* in
//! it. The store writes it together with the rows, in one piece.
//!
//! A peer without a certificate of the collector's authority fails the handshake; a peer with one may send rows
//! under its own name only.
//!
//! | module | what it holds |
//! |---|---|
//! | [`spool`] | [`Spool`]: parcels on disk, numbered, bounded |
//! | [`sender`] | [`Sender`]: the thread that empties a spool into a collector |
//! | [`server`] | [`Server`]: admits agents, checks parcels, stores and acknowledges them |
//! | [`control`] | one configuration for all agents and capture boxes |
//! | [`metrics`] | what Prometheus reads of a collector |
//! | [`label`] | the text beside each parcel and each answer |
//! | [`tls`] | keys and certificates |
//! | [`certificates`] | makes the certificates of a fleet |
//! | [`grpc`] | a client of many gRPC servers: follows what they stream |
//! | [`http`] | a client of HTTP servers: posts JSON, reads answers |
//! | [`error`] | [`Error`] |

pub mod certificates;
pub mod control;
pub mod error;
pub mod grpc;
pub mod http;
mod http2;
pub mod label;
pub mod metrics;
pub mod sender;
pub mod server;
pub mod spool;
pub mod tls;

pub use error::Error;
pub use sender::Sender;
pub use server::Server;
pub use spool::Spool;
pub use tls::Files;

/// Maximum size of a message in bytes; an agent's messages are at most a quarter of it.
pub const MESSAGE_BYTES: usize = 1 << 20;
/// Maximum rows of a parcel.
pub const PARCEL_ROWS: usize = 1024;
/// Maximum unacknowledged parcels of an agent. The store recognises a repeated number as long as an agent has at
/// most 64 epochs in flight.
pub const MAX_IN_FLIGHT: usize = 32;
/// How the reason begins with which a collector ends the connection of an agent for a newer one.
pub(crate) const REPLACED: &str = "another process with the certificate of";
