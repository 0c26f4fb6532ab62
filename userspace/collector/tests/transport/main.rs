//! Agents and a collector on loopback: what is acknowledged is stored, once, whatever dies; and who does
//! not belong there gets no further.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod compressed;
mod cut;
mod faults;
mod flips;
mod flow;
mod harm;
mod killed;
mod many;
mod network;
mod rig;
mod streams;
