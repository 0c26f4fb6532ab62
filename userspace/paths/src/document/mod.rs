//! Documents: flows, found paths and advice, as text, as JSON and as rows.
//!
//! | module | what it holds |
//! |---|---|
//! | [`flows`] | the flows of a workload |
//! | [`sampled`] | flows from the samples of switches |
//! | [`polled`] | what was read of switches by polling |
//! | [`subscribed`] | what was read of switches by subscription |
//! | [`discovered`] | paths with their outcomes, and what devices did |
//! | [`rows`] | paths and loads of links as rows |
//! | [`advice`] | source ports that would make the layers even |
//! | [`fim`] | the Flow Imbalance Metric in words |

pub mod advice;
pub mod discovered;
pub mod fim;
pub mod flows;
pub mod polled;
pub mod rows;
pub mod sampled;
pub mod subscribed;
