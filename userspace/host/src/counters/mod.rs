//! What NICs, their drivers and the host count.
//!
//! A [`Reader`] finds every RDMA device of `/sys/class/infiniband`, keeps the files of its counters open, and compares
//! each value with the one before: what it grew by, and whether it wrapped, was reset, or vanished with its device.
//! Nothing that cannot be read ends a read; it is counted.
//!
//! | module | what it does |
//! |---|---|
//! | [`reader`] | all devices of a host, and what came or went since the last read |
//! | `device` | one device: its driver, ports and groups of counters |
//! | `group` | the counters that are read together: a directory, an `ethtool` query, a netlink message |
//! | `entry` | one counter: its metric, its value before, its row |
//! | [`track`] | increase, wrap and reset; pure |
//! | [`addresses`] | RoCEv2 addresses of ports, for the rows of queue pairs |
//! | [`parse`] | the texts of `/sys` and `/proc`; pure |
//! | [`queue_pairs`] | queue pairs from read to read and from event to event; pure |
//! | [`rdma`] | RDMA netlink: statistics and resources |

pub mod addresses;
mod device;
mod entry;
mod group;
pub mod parse;
pub mod queue_pairs;
pub mod rdma;
pub mod reader;
pub mod track;

pub use entry::Moment;
pub use reader::{Counts, Reader, Rows, Sources, Wanted};
