//! Sources of frames, and the I/O around them.
//!
//! | module | what it yields |
//! |---|---|
//! | [`file`](mod@file) | the frames of pcap and pcapng files, compressed or piped |
//! | [`xdp`] | run records that the kernel made, from XDP programs on interfaces |
//! | [`af_packet`] | the frames of an interface, from a packet socket |
//! | [`history`] | the last frames, for a flight recorder |
//! | [`inject`] | nothing: it puts frames onto an interface |
//! | [`doctor`] | checks of XDP, with the command that fixes each problem |
//!
//! With the feature `per-packet` there is also `per_packet`: one record a packet, to be measured beside
//! [`xdp`].
//!
//! Frames go through `rocescope-record` and leave as run records; what they mean is decided in
//! `rocescope-pipeline`.

pub mod af_packet;
mod bpf;
pub mod doctor;
pub mod file;
pub mod history;
pub mod inject;
#[cfg(feature = "per-packet")]
pub mod per_packet;
pub mod xdp;
