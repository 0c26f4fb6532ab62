//! Packets that pass again although their sender transmitted them once.
//!
//! | module | what it does |
//! |---|---|
//! | `by_source` | a mirror duplicate differs in interface or TTL |
//! | `by_delay` | a mirror duplicate follows after a steady delay |
//! | `repeats` | the signs of them among requests |

pub(crate) mod by_delay;
pub(crate) mod by_source;
pub(crate) mod repeats;
