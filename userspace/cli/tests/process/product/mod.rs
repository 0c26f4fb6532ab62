//! The product as its users see it: recorded captures in, exit codes, JSON and datasets out.
//!
//! | module | what it holds |
//! |---|---|
//! | `truth` | every count of every capture equals its recorded truth |
//! | `oracle` | etherparse and `wire` agree on every frame |
//! | `cuts` | frames cut at every length, and files cut at every byte |
//! | `damaged` | a damaged journal is named and kept |
//! | `flipped` | one flipped bit in a capture file of any form |
//! | `fuzzed` | the fuzzer's inputs, and inputs that broke a promise |
//! | `anonymize` | equal counts under other addresses |
//! | `beside` | readers beside a running writer, and after its `kill -9` |
//! | `filter` | kept and rejected packets sum to the whole |
//! | `files` | several files, rotated sets and directories, as one capture; words after the options |
//! | `formats` | the formats of rows |
//! | `frames` | `--count`, `--write` and `-D` |
//! | `output` | keys of the JSON, for every form of the file |
//! | `refusals` | wrong inputs and paths: one line, exit code not 0 |
//! | `killed` | `kill -9` costs at most one window |
//! | `killed_tools` | `kill -9` of `repair` and `merge` loses no row and doubles none |
//! | `losses` | fabric, capture and mirror loss: each the same number everywhere |
//! | `full_disk` | a full disk costs only later rows |
//! | `mirrored` | a mirror that duplicates every frame |
//! | `numbered` | frames that a mirror numbered and that never arrived |
//! | `recorder` | the frames around events, in separate files |
//! | `transports` | MRC and UET, by hand |
//! | `vanished` | the directory of the dataset is removed during a capture |
//! | `verified` | checksums of segments, sums across tables, repeated windows |
//! | `signals` | SIGINT and SIGTERM end with a summary |
//! | `captures`, `rocescope`, `traffic` | recorded captures, the binary, input made from captures |

mod anonymize;
mod beside;
mod captures;
mod cuts;
mod damaged;
mod files;
mod filter;
mod flipped;
mod formats;
mod frames;
mod full_disk;
mod fuzzed;
mod killed;
mod killed_tools;
mod losses;
mod mirrored;
mod numbered;
mod oracle;
mod output;
mod recorder;
mod refusals;
mod rocescope;
mod signals;
mod traffic;
mod transports;
mod truth;
mod vanished;
mod verified;
