//! Incidents: what is wrong, where, since when, who suffers, what to do. One cause is one incident, whichever analyses saw it.
//!
//! Each analysis reports faults in its own words. Here they get one form, and those of one cause become one.
//! `docs/incidents.md` has the classes and the rules of the join.
//!
//! | module | what it does |
//! |---|---|
//! | [`incident`] | [`Incident`]: the form of all faults |
//! | [`victims`] | the connections that suffer |
//! | `row` | an incident as a row, and back |
//! | [`place`] | where a fault is, and what traffic meets it |
//! | [`wire`] | faults that captured connections show |
//! | [`captured`] | over a capture, as its rows come |
//! | [`faults`] | faults of the analysis of hosts as its windows end |
//! | [`changes`] | what opened, changed and closed |
//! | [`history`] | places that are named again and again, and notes |
//! | [`convert`] | faults of the other analyses |
//! | [`ports`] | faults that the counters of switches show |
//! | `switches` | where switches dropped what was lost |
//! | [`mod@join`] | one cause is one incident |
//! | `rules` | which class is an effect of which |
//! | [`document`] | incidents as text and as JSON |

pub mod captured;
pub mod changes;
pub mod convert;
pub mod document;
pub mod faults;
pub mod history;
pub mod incident;
pub mod join;
pub mod place;
pub mod ports;
mod row;
mod rules;
mod switches;
pub mod victims;
pub mod wire;

pub use captured::Captured;
pub use document::Document;
pub use incident::{Certainty, Evidence, Incident, Source, ToldBy};
pub use join::join;
pub use place::Place;
pub use switches::SwitchDrops;
pub use victims::{Victim, Victims};
pub use wire::Wire;
