//! The context of a run: settings, its MTU, events, and when the capture lost runs.

use crate::connections::rows::event::EventDetail;

/// The part of the whole state that a direction uses to process a run.
pub(crate) struct Context<'a> {
    pub(crate) reorder_ns: u64,
    pub(crate) duplicate_ns: u64,
    /// The MTU seen in either direction, 0 if unknown.
    pub(crate) mtu: u16,
    pub(crate) emit: &'a mut dyn FnMut(u64, EventDetail),
    pub(crate) overlaps_capture_loss: &'a dyn Fn(u64, u64) -> bool,
}
