//! The agent of a host: probes between its NICs over the fabric, and the paths that they take.
//!
//! Hostmesh, section 3.3: every NIC sends, ten times a second, one small UD datagram to a NIC of the same
//! host that is chosen by chance, from a source port that is chosen by chance. The datagram leaves by
//! one NIC and must come in by the other, so one clock sees both of its ends: loss and latency are
//! *one-way*. Nobody coordinates agents.
//!
//! The core decides everything and does nothing: time, chance and packets are passed in and out of
//! [`Agent`], so its tests run in simulated time and are exact. A [`Backend`] moves packets.
//!
//! | module | what it holds |
//! |---|---|
//! | [`agent`] | [`Agent`]: what is due goes out, what happened comes in, rows come out |
//! | [`session`] | one NIC: whom it probes when, what is under way, what timed out |
//! | [`deck`] | the order by chance in which it probes all its 5-tuples |
//! | [`ports`] | the pool of source ports, drawn as flow labels |
//! | [`clocks`] | how far the clock of one NIC is ahead of another's, with a bound |
//! | [`tracer`], [`route`] | the path of every 5-tuple, a few at a time; what is known of one |
//! | `answers` | how often a switch is asked for one |
//! | [`throttle`] | the agent slows down before it is in the way |
//! | [`counters`] | what became of everything, and the identity that must hold |
//! | [`payload`], [`frame`], [`icmp`] | the 50 bytes of a probe, the frame around them, answers of routers |
//! | [`types`] | names and numbers that all of them use |
//! | [`backend`] | [`Backend`]: how packets get out and in; raw Ethernet, and others |
//! | [`mod@drive`] | the loop that joins an agent and a backend |

pub mod agent;
mod answers;
pub mod backend;
pub mod clocks;
pub mod counters;
pub mod deck;
pub mod drive;
pub mod frame;
pub mod icmp;
pub mod payload;
pub mod ports;
pub mod route;
pub mod session;
pub mod throttle;
pub mod tracer;
pub mod types;

pub use agent::{Agent, Settings};
pub use backend::Backend;
pub use counters::Counters;
pub use drive::drive;
pub use types::{Clock, DatagramKind, Event, Nanos, Nic, NicIndex, Outgoing, Sequence};
