//! Input in the order of its times, and the direction and peer of each run.
//!
//! | module | what it does |
//! |---|---|
//! | `turn` | processes queued input by time |
//! | `sort_buffer` | runs and control packets, sorted by their first times |
//! | `ingest` | processes one run, from its direction to its peer |
//! | `ack_run` | the two ends of a run of acknowledgements |
//! | `prefetch` | directions of the next runs, looked up together |
//! | `reuse` | a queue pair number that is used again |
//! | `capture_loss` | intervals in which the capture lost runs |
//! | `clock_skew` | clocks of mirrors that differ |
//! | `mirror_loss` | intervals in which a mirror lost frames |
//! | `inline_queue` | a queue that usually holds one element |

pub(crate) mod ack_run;
pub(crate) mod capture_loss;
pub(crate) mod clock_skew;
pub(crate) mod ingest;
pub(crate) mod inline_queue;
pub(crate) mod mirror_loss;
pub(crate) mod prefetch;
pub(crate) mod reuse;
pub(crate) mod sort_buffer;
pub(crate) mod turn;
pub(crate) mod yielded;
