//! What one run needs from the state of all connections.

use super::event::What;

/// What the state of all connections lends to one run.
pub(crate) struct Surroundings<'a> {
    pub(crate) reorder_ns: u64,
    pub(crate) duplicate_ns: u64,
    /// The MTU seen either way, 0 before there is one.
    pub(crate) mtu: u16,
    pub(crate) tell: &'a mut dyn FnMut(u64, What),
    pub(crate) is_blind: &'a dyn Fn(u64, u64) -> bool,
}
