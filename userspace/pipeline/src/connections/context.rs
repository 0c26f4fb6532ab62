//! The context of a run: settings, its MTU, events, and when the capture or the mirror lost packets.

use crate::connections::intake::capture_loss::CaptureLoss;
use crate::connections::intake::mirror_loss::MirrorLoss;
use crate::connections::order::psn_tracker::Gap;
use crate::connections::rows::event::EventDetail;

/// The part of the whole state that a direction uses to process a run.
pub(crate) struct Context<'a> {
    pub(crate) reorder_ns: u64,
    pub(crate) duplicate_ns: u64,
    /// The MTU seen in either direction, 0 if unknown.
    pub(crate) mtu: u16,
    pub(crate) emit: &'a mut dyn FnMut(u64, EventDetail),
    pub(crate) capture_loss: &'a CaptureLoss,
    pub(crate) mirror_loss: &'a mut MirrorLoss,
}

impl Context<'_> {
    /// Whether the capture or the mirror lost packets between these times: what is missing may have passed.
    pub(crate) fn is_blind(&self, from_ns: u64, to_ns: u64) -> bool {
        self.capture_loss.overlaps(from_ns, to_ns) || self.mirror_loss.overlaps(from_ns, to_ns)
    }

    /// Whether the packets of a gap may have passed.
    pub(crate) fn may_have_passed(&self, gap: &Gap) -> bool {
        self.is_blind(gap.value.before_ns, gap.value.opened_ns)
    }
}
