//! Checks of kernel programs on this machine; `rocescope_host::doctor` checks the machine itself.
//!
//! | module | what it checks |
//! |---|---|
//! | `program` | the cost of the XDP program on this host, and the gain of `CAP_PERFMON` |
//! | `modes` | whether an interface supports XDP programs |
//! | `queue_pairs` | whether the kernel reports queue pairs as they come and go |
//!
//! They change nothing, except that `modes` and `queue_pairs` attach programs and detach them at once if `--try` is set.

mod modes;
mod program;
mod queue_pairs;

pub use program::program;
pub use queue_pairs::queue_pairs;

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
