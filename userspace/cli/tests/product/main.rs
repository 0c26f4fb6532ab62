//! The product as its users meet it: real captures in, exit codes, JSON and datasets out.
//!
//! | module | what it holds |
//! |---|---|
//! | `truth` | every count of every capture equals what was recorded beside it |
//! | `oracle` | etherparse and `wire` agree on every frame |
//! | `cuts` | frames cut at every length, files cut at every byte |
//! | `fuzzed` | the fuzzer's inputs, and what once broke |
//! | `anonymize` | the same counts under other addresses |
//! | `filter` | what is kept and what is left out add up to the whole |
//! | `output` | what the JSON holds, whatever form the file comes in |
//! | `refusals` | wrong input and places: one line, exit code not 0 |
//! | `killed` | `kill -9` costs one window |
//! | `full_disk` | a full disk costs what came after |
//! | `mirrored` | a mirror that shows every frame twice |
//! | `numbered` | frames that a mirror numbered and that never came |
//! | `recorder` | the frames around events, in files of their own |
//! | `signals` | SIGINT and SIGTERM end with a summary |
//! | `captures`, `rocescope`, `traffic` | real captures, the binary, input made from them |
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

mod anonymize;
mod captures;
mod cuts;
mod filter;
mod full_disk;
mod fuzzed;
mod killed;
mod mirrored;
mod numbered;
mod oracle;
mod output;
mod recorder;
mod refusals;
mod rocescope;
mod signals;
mod traffic;
mod truth;
