//! Sources of frames, and their I/O.
//!
//! | module | what it yields |
//! |---|---|
//! | [`file`](mod@file) | the frames of pcap and pcapng files, compressed or piped |
//! | [`xdp`] | run records from XDP programs on interfaces |
//! | [`af_packet`] | the frames of an interface, from a packet socket |
//! | [`sniffer`] | the frames of an RDMA device, from a raw-packet queue pair |
//! | [`history`] | the last frames, for a flight recorder |
//! | [`inject`] | nothing: it sends frames onto an interface |
//! | [`queue_pairs`] | events of the queue pairs of this host, from programs in the kernel |
//! | [`doctor`] | checks of kernel programs, with the command that fixes each problem |
//!
//! Frames go through `rocescope-record` and leave as run records, which `rocescope-pipeline` interprets.

pub mod af_packet;
mod bpf;
pub mod doctor;
pub mod file;
pub mod history;
pub mod inject;
pub mod queue_pairs;
pub mod sniffer;
pub mod xdp;
