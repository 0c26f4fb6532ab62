//! Documents: how unevenly flows lie on links, as text and as JSON.
//!
//! | module | what it holds |
//! |---|---|
//! | [`fim`] | the Flow Imbalance Metric of a run |
//! | [`windows`] | the same for each window of a dataset |
//! | [`comparison`] | two runs |

pub mod comparison;
pub mod fim;
pub mod windows;
