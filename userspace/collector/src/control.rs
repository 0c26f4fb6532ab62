//! The controller: one configuration for all agents and capture boxes, over the connections that they have.
//!
//! | module | what it holds |
//! |---|---|
//! | [`message`] | what members and the controller send each other |
//! | [`plan`] | the controller's configuration: operators, and groups of members with their settings |
//! | [`versions`] | its versions on disk |
//! | [`member`] | an agent's or a capture box's end: checks, keeps and takes what the controller sends |
//! | [`operator`] | an operator's end: status, apply, rollback |
//! | `durable` | replaces a file so that a kill leaves the old one or the new one |

pub(crate) mod durable;
pub mod member;
pub mod message;
pub mod operator;
pub mod plan;
pub mod versions;

pub use member::Member;
pub use operator::Operator;
pub use plan::{Peering, Plan};
