//! Figures of a direction beside its losses.
//!
//! | module | what it does |
//! |---|---|
//! | `latency` | latencies of answers |
//! | `congestion` | ECN, CNPs, and the rate before and after one |
//! | `traffic_classes` | DSCPs and ECN capability |
//! | `message_sizes` | a histogram that usually holds one size |

pub(crate) mod congestion;
pub(crate) mod latency;
pub(crate) mod message_sizes;
pub(crate) mod traffic_classes;
