//! Live captures, each in a network namespace of its own: what goes over a veth pair must be counted
//! as if it were read from the file it came from, and nothing may stay behind.
//!
//! | module | what it holds |
//! |---|---|
//! | `namespace` | a namespace with a veth pair, gone with the test |
//! | `live` | the binary, capturing in a namespace |
//! | `background` | the binary, started and talked to; `tests/probe` has it too |
//! | `replay` | frames of a capture file onto the other end |
//! | `connections` | queue pairs are those of the file, CM and all |
//! | `totals` | native, generic and packet sockets count what the file holds |
//! | `generate` | frames of the generator, counted on both ends |
//! | `lifecycle` | signals, `kill -9`, interfaces that vanish, programs of other tools |
//! | `overload` | a capture that is stopped while runs come: said, counted, and over when it goes on |
//! | `check` | what `--check` says of ports that are right and of those that are not |
//! | `port` | `doctor`, counters, renaming, queues, tags |
//! | `recorder` | the frames around events, tags and all |
//! | `figures` | what Prometheus reads is what the summary says |
//! | `privileges` | none, and only those that it takes |
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

#[path = "../background/mod.rs"]
mod background;
mod check;
mod connections;
mod figures;
mod generate;
mod lifecycle;
mod live;
mod namespace;
mod overload;
mod port;
mod privileges;
mod recorder;
mod replay;
mod totals;
