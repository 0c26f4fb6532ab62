//! The page in a browser, and what a server owes to those who are not: see `docs/page.md`.
//!
//! | module | what it holds |
//! |---|---|
//! | `rig` | a dataset that a test writes, and the page of it |
//! | `live` | updates, other times, filters, what is open, a server that starts again |
//! | `names` | names with markup stay text |
//! | `growth` | a day of updates leaves nothing behind |
//! | `screens` | both widths and colour schemes, without and with a script of rules for accessibility |
//! | `api` | the same as `report` prints |
//! | `safety` | requests that are refused, slow and silent viewers |
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

mod api;
mod growth;
mod live;
mod names;
mod rig;
mod safety;
mod screens;
