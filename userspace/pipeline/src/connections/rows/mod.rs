//! Rows of connections and events.
//!
//! | module | what it does |
//! |---|---|
//! | `connections` | a connection as rows |
//! | `events` | its events as rows |
//! | `event` | what happened to a direction |

pub(crate) mod connections;
pub(crate) mod event;
pub(crate) mod events;
