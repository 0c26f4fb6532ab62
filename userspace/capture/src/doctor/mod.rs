//! Checks of XDP on this machine; `rocescope_host::doctor` has those of the machine itself.
//!
//! | module | what it checks |
//! |---|---|
//! | `program` | what the XDP program costs here, and what `CAP_PERFMON` is worth |
//! | `modes` | whether an interface takes XDP programs |
//!
//! They change nothing, except that `modes` attaches a program and detaches it at once where it is told to try.

mod modes;
mod program;

pub use program::program;

use rocescope_host::doctor::{self, Finding};
use rocescope_host::interface::Interface;

/// Checks an interface; with `attempt` attaches a program that passes every frame, and detaches it.
#[must_use]
pub fn port(interface: &Interface, attempt: bool) -> Vec<Finding> {
    let mut found = doctor::port(interface);
    let behind_mtu = found.iter().position(|finding| finding.topic == "mtu");
    let at = behind_mtu.map_or(found.len(), |at| at + 1);
    let modes = modes::modes(interface, attempt).into_iter();
    found.splice(
        at..at,
        modes.map(|finding| Finding {
            interface: Some(interface.name.clone()),
            ..finding
        }),
    );
    found
}
