//! Sources of frames, and the I/O around them.
//!
//! | module | what it yields |
//! |---|---|
//! | [`file`](mod@file) | the frames of pcap and pcapng files, compressed or piped |
//! | [`xdp`] | run records that the kernel made, from XDP programs on interfaces |
//! | [`af_packet`] | the frames of an interface, from a packet socket |
//! | [`history`] | the last frames, for a flight recorder |
//! | [`inject`] | nothing: it puts frames onto an interface |
//! | [`interface`](mod@interface) | what interfaces there are, and how they are |
//! | [`doctor`] | what stands in the way of a capture, and what mends it |
//! | [`ethtool`] | what a network card says of itself |
//! | [`privileges`] | the capabilities that live capture takes, and how they are dropped |
//! | [`generate`] | deterministic traffic from a scenario, with its truth |
//!
//! With the feature `per-packet` there is also `per_packet`: one record a packet, to be measured beside
//! [`xdp`].
//!
//! Frames go through `rocescope-record` and leave as run records; what they mean is decided in
//! `rocescope-pipeline`.

pub mod af_packet;
mod bpf;
pub mod doctor;
pub mod ethtool;
pub mod file;
pub mod generate;
pub mod history;
pub mod inject;
pub mod interface;
#[cfg(feature = "per-packet")]
pub mod per_packet;
pub mod privileges;
pub mod xdp;
