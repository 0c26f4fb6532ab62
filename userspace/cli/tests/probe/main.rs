//! The agent on a host of its own: NICs that are joined by routers, all of them network namespaces.
//!
//! | module | what it holds |
//! |---|---|
//! | `rails` | a host with three NICs and the routers between them, gone with the test |
//! | `agent` | the binary, probing in the host |
//! | `background` | the binary, started and talked to; `tests/live` has it too |
//! | `wire` | what goes over the wire, as tshark and the capture read it |
//! | `loss` | loss, a link that is down, a route that is gone: in the direction where they are |
//! | `replaced` | NICs that go and come |
//! | `paths` | traces find what the routers say they do |
//! | `silence` | the kernel of the host answers no probe |
//! | `cut` | a network that is cut between the agent and its collector |
//! | `lifecycle` | signals, refusals, privileges |
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

mod agent;
#[path = "../background/mod.rs"]
mod background;
#[path = "../certificates/mod.rs"]
mod certificates;
mod cut;
mod lifecycle;
mod loss;
mod paths;
mod rails;
mod replaced;
mod silence;
mod wire;
