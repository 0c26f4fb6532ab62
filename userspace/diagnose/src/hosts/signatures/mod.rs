//! One file for each class of faults; `docs/hosts-analysis-method.md` has the reasons of the thresholds.

mod cnps_ignored;
mod congestion;
mod give_ups;
mod jitter;
mod link_down;
mod mirror_lacks;
mod mirror_repeats;
mod network_loss;
mod nic_vanished;
mod no_cnps;
mod pause_storm;
mod pcie_degraded;
mod receiver_died;
mod sick_cable;
mod slow_receiver;
mod unanswered;

use super::finding::Finding;
use super::ports::Latency;
use super::view::View;
use super::wire::Direction;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// What all rules find in a window.
pub(super) fn all(view: &View<'_>, latencies: &HashMap<Direction, Latency>) -> Vec<Finding> {
    let mut found = Vec::new();
    sick_cable::find(view, &mut found);
    nic_vanished::find(view, &mut found);
    link_down::find(view, &mut found);
    pcie_degraded::find(view, &mut found);
    pause_storm::find(view, &mut found);
    no_cnps::find(view, &mut found);
    cnps_ignored::find(view, &mut found);
    slow_receiver::find(view, &mut found);
    receiver_died::find(view, &mut found);
    congestion::find(view, latencies, &mut found);
    network_loss::find(view, &mut found);
    jitter::find(view, &mut found);
    mirror_repeats::find(view, &mut found);
    mirror_lacks::find(view, &mut found);
    found
}
