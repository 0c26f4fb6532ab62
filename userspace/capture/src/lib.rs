//! Sources of frames, and the I/O around them.
//!
//! | module | what it yields |
//! |---|---|
//! | [`file`](mod@file) | the frames of pcap and pcapng files, compressed or piped |
//! | [`xdp`] | run records that the kernel made, from XDP programs on interfaces |
//! | [`generate`] | deterministic traffic from a scenario, with its truth |
//!
//! Frames go through `rocescope-record` and leave as run records; what they mean is decided in
//! `rocescope-pipeline`.

pub mod file;
pub mod generate;
pub mod xdp;
