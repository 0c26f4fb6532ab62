//! RoCEv2 on the wire: decodes frames without allocation, I/O or panics.
//!
//! The same code runs in the kernel (XDP, behind the verifier) and in user space (capture files,
//! `AF_PACKET`), so it stays `no_std`, reads through [`Octets`] and bounds every loop.
//!
//! One file for each layer of a frame:
//!
//! | module | what it reads |
//! |---|---|
//! | [`octets`] | the bytes themselves, checked |
//! | [`link`] | Ethernet, its tags, MPLS labels, Linux cooked captures |
//! | [`ip`] | IPv4 with options, IPv6 with extension headers, fragments |
//! | [`traffic_class`] | DSCP and ECN capability |
//! | [`tunnel`] | ERSPAN I/II/III, GRE, VXLAN and Geneve around a mirrored frame, IP in IP |
//! | [`foreign`] | the protocol of a frame that is not RoCEv2 |
//! | [`pause`] | frames that pause a link or its priorities |
//! | [`mirrored`] | session and sequence number of a mirrored frame |
//! | [`transport`] | UDP and what follows |
//! | [`bth`] | the InfiniBand base transport header |
//! | [`extension`] | DETH, RETH, AETH and the other headers after the BTH |
//! | [`mrc`] | headers of Multipath Reliable Connection |
//! | [`opcode`] | the opcode byte, and the name of each of the 256 |
//! | [`meaning`] | what each of them means |
//! | [`uet`] | headers of Ultra Ethernet Transport |
//! | [`tcp`] | the three segments that open a TCP connection |
//! | [`cm`] | connection management datagrams on QP 1 |
//! | [`packet`], [`class`] | the result: a packet, or the reason why not |
//! | [`mod@decode`] | all of the above: decodes a frame into its [`Class`] |
//! | [`plain`] | the straight path: the same result for the headers that nearly every packet has |
//! | `icrc` | the invariant CRC, computed and verified (feature `icrc`, user space) |
//!
//! Nothing here keeps state between frames: that begins in `rocescope-record`.
#![no_std]

pub mod bth;
pub mod class;
pub mod cm;
pub mod decode;
pub mod extension;
pub mod foreign;
#[cfg(feature = "icrc")]
pub mod icrc;
pub mod ip;
pub mod link;
pub mod meaning;
pub mod mirrored;
pub mod mrc;
pub mod number;
pub mod octets;
pub mod opcode;
pub mod packet;
pub mod pause;
pub mod plain;
pub mod tcp;
pub mod traffic_class;
pub mod transport;
pub mod tunnel;
pub mod uet;

pub use bth::{Bth, RawBth};
pub use class::{Class, Malformed, NotRoce};
pub use decode::{Inner, decode, decode_into};
pub use foreign::Foreign;
pub use link::LinkType;
pub use meaning::{Meaning, Operation, Position, Stream, Suffix, Transport};
pub use mirrored::Mirrored;
pub use number::{Psn, Qpn};
pub use octets::Octets;
pub use opcode::Opcode;
pub use packet::{FlowKey, FrameLengths, Packet};
pub use pause::Pause;
pub use traffic_class::TrafficClass;

/// The UDP destination port of RoCEv2 (IANA `roce`, IBTA Annex A17.9).
pub const ROCE_UDP_PORT: u16 = 4791;
