//! Flows and what they have in flight.

use super::network::{Node, Port};
use super::ranks::Start;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A flow, of a rank to one receiver or outside the collective.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) src: Node,
    pub(super) dst: Node,
    pub(super) src_port: u16,
    pub(super) path: Vec<Port>,
    /// The step that it carries; `None`: outside the collective.
    pub(super) step: Option<Start>,
    pub(super) to_send: u64,
    pub(super) to_receive: u64,
    pub(super) in_flight: u64,
    /// When each packet in flight was sent. Paths keep the order.
    pub(super) outstanding: VecDeque<i64>,
    /// When it began or when the last acknowledgement came.
    pub(super) progress_ns: i64,
    pub(super) ack_ns: i64,
}
