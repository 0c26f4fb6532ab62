//! The order of PSNs: gaps, and who explains them.
//!
//! | module | what it does |
//! |---|---|
//! | `psn_tracker` | the highest PSN, the gaps below it, what fills them |
//! | `intervals` | disjoint ranges of PSNs |
//! | `send_sequence` | the packets that a sender sends one after another |
//! | `responder` | the PSN that the responder expects, from the order at the tap |
//! | `classification` | in order, reordered, duplicate or retransmitted |
//! | `reordering` | how much the fabric reorders |
//! | `retransmission_scheme` | what a sender repeats after a NAK |
//! | `gaps` | closes gaps |
//! | `gap_fate` | fate of PSNs that never passed |

pub(crate) mod classification;
pub(crate) mod gap_fate;
pub(crate) mod gaps;
pub(crate) mod intervals;
pub(crate) mod psn_tracker;
pub(crate) mod reordering;
pub(crate) mod responder;
pub(crate) mod retransmission_scheme;
pub(crate) mod send_sequence;
