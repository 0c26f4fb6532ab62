//! Paths of flows over the links of a fabric, and how evenly they load them (`FlowTracer`, Jamil and others).
//!
//! | module | what it does |
//! |---|---|
//! | [`fabric`] | nodes, tiers, ports and links |
//! | [`walk`] | turns the egress ports of a path into directions of links, and names what contradicts the fabric |
//! | [`imbalance`] | flows per link, and the Flow Imbalance Metric (FIM) per layer |
//! | [`load`] | what the metric finds: layers and links |
//! | [`mod@advise`] | which source ports would make the layers even |
//! | [`compare`] | two runs: what changed on links and paths |
//! | [`down`] | links that no flow crosses any more, and how likely chance is |
//! | `stayed` | flows that took the same port at a node in two runs |

pub mod advise;
pub mod compare;
pub mod down;
pub mod fabric;
pub mod imbalance;
pub mod load;
mod stayed;
pub mod walk;

pub use advise::{Advice, Candidate, advise};
pub use compare::Comparison;
pub use fabric::{Direction, End, Fabric, Layer, Node, Within};
pub use imbalance::Loads;
pub use load::{Imbalance, LayerLoad, LinkLoad};
pub use walk::{Hop, HopProblem, Walk};
