//! Every test of the analyses in one executable: each links for seconds.
#![expect(clippy::unwrap_used, reason = "it is a test")]

mod hostmesh;
mod hostping;
mod hosts;
mod incidents;
mod mesh;
mod owners;
