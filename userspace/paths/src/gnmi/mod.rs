//! Readings of switches from their gNMI servers, which send values at an interval.
//!
//! | module | what it does |
//! |---|---|
//! | `address` | the switches to ask |
//! | `mapping`, `pattern` | which path becomes which column, from a file or a preset |
//! | `tree` | finds the leaf of a value |
//! | `message` | the messages of gNMI |
//! | `request` | what a switch is asked |
//! | `value` | the values in an update |
//! | `known` | what is known of a switch |
//! | `numbers` | a number for each value that a switch may send of a port |
//! | `round` | which values belong to one reading |
//! | `modules` | which port an optical module belongs to |
//! | `source` | joins the values to readings |
//!
//! It takes and gives messages as bytes: who calls it has the connections.
//!
//! Source: OpenConfig, *gRPC Network Management Interface (gNMI)*, version 0.10, "Subscribing to Telemetry Updates".

mod address;
mod known;
mod mapping;
mod message;
mod modules;
mod numbers;
mod pattern;
mod request;
mod round;
mod source;
mod tree;
mod value;

pub use address::{Address, BadAddress, list, names};
pub use mapping::{BadMapping, Mapping, PRESETS};
pub use request::{CAPABILITIES, Requests, SUBSCRIBE, capabilities};
pub use source::Gnmi;
