//! The agent of a host: probes between its NICs over the fabric, and the paths that they take.
//!
//! Hostmesh, section 3.3: ten times a second, every NIC sends one small UD datagram from a random source port to a
//! random other NIC of the same host. The datagram leaves through one NIC and must arrive through the other, so one
//! clock sees both ends: loss and latency are *one-way*. Agents need no coordination.
//!
//! The core decides everything without I/O: time, randomness and packets are passed in and out of [`Agent`], so its
//! tests run in simulated time and are exact. A [`Backend`] moves packets.
//!
//! | module | contents |
//! |---|---|
//! | [`agent`] | [`Agent`]: due packets out, events in, rows out |
//! | [`session`] | the probes of one NIC: due, in flight, timed out |
//! | [`requests`] | all requests in flight, by number and by who asked |
//! | [`shuffle`] | the random order in which it probes all its 5-tuples |
//! | [`ports`] | the pool of source ports, drawn as flow labels |
//! | [`clocks`] | how far the clock of one NIC is ahead of another's, with an error bound |
//! | [`tracer`], [`route`] | traces of all 5-tuples, a few at a time; the known path of one |
//! | `answers` | limits how often a switch has to answer |
//! | [`flows`] | probes along the paths of flows, to agents of other hosts |
//! | [`peers`] | probes to NICs of other hosts, and which way each was lost on |
//! | [`responder`] | answers to the agents of other hosts |
//! | [`watch`] | the same at a steady pace, with the round trip of each |
//! | [`loopback`] | tests between the NICs of a host and its own memory and GPUs |
//! | [`throttle`] | slows the agent down before it disturbs the host |
//! | [`counters`] | the counters of an agent, and their invariant |
//! | [`payload`], [`frame`], [`icmp`] | the 50 bytes of a probe, its frame, answers of routers |
//! | [`types`] | shared types |
//! | [`backend`] | [`Backend`]: sends and receives packets; raw Ethernet and others |
//! | [`operations`] | the latency of RDMA operations between agents |
//! | [`rc`] | connected queue pairs of RDMA devices |
//! | [`mod@drive`] | the loop that connects an agent and a backend |

pub mod agent;
mod answers;
pub mod backend;
pub mod clocks;
pub mod counters;
pub mod drive;
pub mod flows;
pub mod frame;
pub mod icmp;
pub mod loopback;
pub mod operations;
pub mod payload;
pub mod peers;
pub mod ports;
pub mod rc;
pub mod requests;
pub mod responder;
pub mod route;
pub mod session;
pub mod shuffle;
pub mod throttle;
pub mod tracer;
pub mod types;
pub mod watch;

pub use agent::{Agent, OtherHosts, Settings};
pub use backend::Backend;
pub use counters::Counters;
pub use drive::drive;
pub use flows::{FlowCounters, FlowTask};
pub use peers::{PeerCounters, PeerSettings};
pub use responder::AnswerCounters;
pub use types::{Clock, DatagramKind, Event, Nanos, Nic, NicIndex, Outgoing, Sequence};
pub use watch::Trip;
