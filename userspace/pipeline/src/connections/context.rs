//! The context of a run: settings, its MTU, events, and when the capture lost runs.

use super::event::EventDetail;

/// What the state of all connections lends to a direction while it takes a run.
pub(crate) struct Context<'a> {
    pub(crate) reorder_ns: u64,
    pub(crate) duplicate_ns: u64,
    /// The MTU seen either way, 0 before there is one.
    pub(crate) mtu: u16,
    pub(crate) emit: &'a mut dyn FnMut(u64, EventDetail),
    pub(crate) overlaps_capture_loss: &'a dyn Fn(u64, u64) -> bool,
}
