//! Whether the kernel of this host reports its queue pairs as they come, change and go.

use crate::queue_pairs::QueuePairEvents;
use rocescope_host::doctor::Finding;
use rocescope_host::privileges;
use std::fs;

const TOPIC: &str = "queue pairs";

/// Loads the programs; with `attempt` attaches and detaches them.
#[must_use]
pub fn queue_pairs(attempt: bool) -> Finding {
    let found = match attempt {
        true => QueuePairEvents::open().map(drop),
        false => QueuePairEvents::check(),
    };
    let error = match found {
        Ok(()) => {
            let message = "The kernel reports queue pairs as they come and go: `[queue-pairs]` of an agent has addresses and times.";
            return Finding::ok(TOPIC, message);
        }
        Err(error) => error.in_a_line(),
    };
    let has_devices = fs::read_dir("/sys/class/infiniband").is_ok_and(|devices| devices.count() > 0);
    let message = format!("No events of the kernel, so `[queue-pairs]` of an agent reads RDMA netlink alone: {error}.");
    let lacks = privileges::missing(&privileges::EVENTS).is_ok_and(|missing| !missing.is_empty());
    match (has_devices, lacks) {
        // Only hosts with RDMA have queue pairs.
        (false, _) => Finding::ok(TOPIC, message),
        (true, false) => Finding::warn(TOPIC, message),
        (true, true) => Finding::warn(TOPIC, message).remedy(privileges::grant(&privileges::XDP)),
    }
}
