//! Packets that were lost, or may have been.
//!
//! | module | what it does |
//! |---|---|
//! | `count` | counts packets as lost |
//! | `suspected_losses` | packets that passed alone after a NAK for them |
//! | `pending` | packets that later copies or answers decide: skipped, late or repeated, named by a NAK |

pub(crate) mod count;
pub(crate) mod pending;
pub(crate) mod suspected_losses;
