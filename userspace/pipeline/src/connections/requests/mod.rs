//! A run of requests: what is new, repeated, outstanding.
//!
//! | module | what it does |
//! |---|---|
//! | `request` | processes a run of requests |
//! | `fill` | a packet that fills a gap without a NAK: late, or the begin of a pass |
//! | `trimmed` | requests whose payload a switch upstream of the tap has cut off |
//! | `retransmission` | counts it by its classification |
//! | `recovery` | retransmission episodes |
//! | `timeout` | retransmitted after a timeout: lost, or answered late |
//! | `outstanding` | requests that wait for their answers |
//! | `new_payload` | new payload of a run |
//! | `uc` | requests that no one acknowledges |
//! | `marked` | senders that mark their retransmissions |
//! | `messages` | messages: sizes, and those that wait for an answer |
//! | `question` | what a READ or atomic requests again |
//! | `reads` | the PSNs of READs |
//! | `skipped` | PSNs that a sender did not repeat |

pub(crate) mod fill;
pub(crate) mod marked;
pub(crate) mod messages;
pub(crate) mod new_payload;
pub(crate) mod outstanding;
pub(crate) mod question;
pub(crate) mod reads;
pub(crate) mod recovery;
pub(crate) mod request;
pub(crate) mod retransmission;
pub(crate) mod skipped;
pub(crate) mod timeout;
pub(crate) mod trimmed;
pub(crate) mod uc;
