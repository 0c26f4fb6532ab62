//! The endpoint that Prometheus reads: `OpenMetrics` for scrapers that accept it, otherwise the text format of
//! Prometheus.
//!
//! | module | what it does |
//! |---|---|
//! | [`incidents`] | open incidents, and messages about them |
//! | [`page`] | writes metrics, and those of the process |
//! | [`prometheus`] | converts the page to the text format |
//! | [`mod@serve`] | the endpoint |
//! | [`worst`] | the worst connections of a window |

pub mod incidents;
pub mod page;
pub mod prometheus;
pub mod serve;
pub mod worst;

pub use incidents::OpenIncidents;
pub use serve::serve;
pub use worst::WorstConnections;
