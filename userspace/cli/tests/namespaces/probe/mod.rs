//! The agent on its own host: NICs connected by routers, all of them network namespaces.
//!
//! | module | contents |
//! |---|---|
//! | `rails` | a host with three NICs and the routers between them, removed with the test |
//! | `agent` | the binary, which probes in the host |
//! | `wire` | the packets on the wire, as tshark and the capture read them |
//! | `loss` | loss, a link that is down, a missing route: each in its direction |
//! | `cold` | a fabric that comes up after the agent, and a port that stays down |
//! | `racks` | three hosts in racks below two spines, removed with the test |
//! | `peers` | probes between hosts: a dead way above the racks, and an agent that is killed |
//! | `replaced` | NICs that disappear and return |
//! | `one_agent` | `rocescope agent`: probes, paths and counters in one process |
//! | `paths` | traces find the routes of the routers |
//! | `silence` | the kernel of the host answers no probe |
//! | `cut` | a network failure between the agent and its collector |
//! | `full_disk` | a disk that is full for a while: stored rows and named gaps are all probes |
//! | `lifecycle` | signals, invalid arguments, privileges |

mod agent;
mod cold;
mod cut;
mod full_disk;
mod lifecycle;
mod loss;
mod one_agent;
mod paths;
mod peers;
mod racks;
mod rails;
mod replaced;
mod silence;
mod wire;
