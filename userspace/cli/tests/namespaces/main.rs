//! The binary in network namespaces, which need root, and beside servers of its own.
//!
//! | module | contents |
//! |---|---|
//! | `live` | captures on a veth pair |
//! | `probe` | the agent on a host, and between hosts in racks |
//! | `paths` | `topology` and `paths`, and a fabric of switches with an SSH server each |
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

mod live;
mod paths;
mod probe;
