//! A packet-level simulator of collectives: the bench on which diagnoses of them are measured.
//!
//! Event-driven and deterministic: the same [`Scenario`] gives the same steps, queues and reports. Switches are lossless
//! (PFC for each ingress port, with headroom), senders keep a fixed window in flight and start at line rate, and the links
//! of a network have one rate and one delay. Acknowledgements, polls and notifications have the highest priority: they
//! take the delay of their links and no bandwidth from data.
//!
//! Monitors ([`Watch`]) see what a host sees and ask switches for reports. They change nothing, so any number of
//! them watch one run.
//!
//! | module | contents |
//! |---|---|
//! | [`network`] | [`Network`]: nodes, links, fat trees, ECMP |
//! | [`schedule`] | [`Algorithm`]: the steps of ring and halving-doubling |
//! | [`scenario`] | [`Scenario`]: what happens in a run |
//! | [`watch`] | [`Watch`], and what is [`Seen`] and [`Ask`]ed |
//! | `ports` | queues, pauses and counters of ports |
//! | `ranks` | how far each rank of the collective is |
//! | `polls` | polls on their way through the switches |
//! | `reports` | reports of switches as rows, and their size |
//! | `events` | what happens next |
//! | `flow` | flows and what they have in flight |
//! | `forward` | packets through hosts and switches |
//! | `steps` | beginnings and ends of steps |
//! | [`run()`] | the simulation, and its [`Outcome`] |

mod events;
mod flow;
mod forward;
pub mod network;
mod polls;
mod ports;
mod ranks;
mod reports;
pub mod run;
pub mod scenario;
pub mod schedule;
mod steps;
pub mod watch;

pub use network::{Network, Node, Port};
pub use reports::Collected;
pub use run::{Outcome, Paused, Tapped, run};
pub use scenario::{Background, Collective, Scenario, Settings, Storm};
pub use schedule::Algorithm;
pub use watch::{Ask, Seen, Watch};
