//! The binary as a process: files in, exit codes, JSON, datasets and messages out.
//!
//! | module | command |
//! |---|---|
//! | `product` | `capture` of recorded captures: counts, damage, kills, full disks |
//! | `connections` | `connections`, compared with the endpoints' own reports |
//! | `collective` | `collective import`, `diagnose collective` |
//! | `hostping` | `hostping`, `diagnose hostping` |
//! | `counters` | `counters` of made devices |
//! | `configuration` | the layers of settings |
//! | `compact`, `merge` | the commands of these names |
//! | `demo` | `demo`, and the files of `examples` |
//! | `field` | inputs after public reports |
//! | `gnmi` | `paths gnmi`: counters of switches from their gNMI servers |
//! | `hosts` | `--hosts FILE`: names of addresses |
//! | `incidents` | `diagnose`, and what is first in `capture` and `report` |
//! | `owned` | `connections` and `top` with the owners that agents report |
//! | `prometheus` | `paths prometheus`: counters of switches from a Prometheus server |
//! | `quiet_traffic` | what hours of nearly no traffic cost |
//! | `reference` | generated pages are up to date |
//! | `rollup` | `dataset rollup`, and reports that are read from rollups |
//! | `run` | `run`: jobs that are scripts of the shell |
//! | `sketches` | Count-Min tables of windows, stored and not |
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

mod collective;
mod compact;
mod configuration;
mod connections;
mod counters;
mod demo;
mod field;
mod gnmi;
mod hostping;
mod hosts;
mod incidents;
mod merge;
mod owned;
mod product;
mod prometheus;
mod quiet_traffic;
mod reference;
mod rollup;
mod run;
mod sketches;
mod switches;
