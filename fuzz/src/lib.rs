//! Functions over arbitrary bytes, and the promises that hold for all of them.
//!
//! libFuzzer (`fuzz_targets/`) and `cargo test` with the stable toolchain run the same functions, the latter over the
//! inputs in `seeds.tar.gz` and `regressions/`. A broken promise is a panic.
//!
//! | module | input | promise |
//! |---|---|---|
//! | [`decode`] | one frame | no panic; the packet is within the frame; both paths agree; CM datagrams survive writing |
//! | [`reader`] | a capture file | no panic, no hang; the same frames for any chunks of input |
//! | [`collective`] | steps and telemetry of the formats of others | no panic, no hang; times are not negative; complaints are lines |
//! | [`mutated`] | files of every format | damages them; `cargo xtask fuzz --mutated` runs the targets over the results |
//! | [`hostping`] | a topology or measurements of a host | no panic; refusals name a line of the file; paths begin at their NIC |
//! | [`observe`] | frames with times | the loss identity; runs sum to the counters |
//! | [`trace`] | a capture file | the same for its frames; no panic, no hang |
//! | [`texts`] | a topology, an answer of a switch, a list of flows or an sFlow datagram | no panic, no hang; what is read survives writing; a port is a piece of its answer |
//! | [`connections`] | the same | no overflow in windows and connections; windows sum to the counters |

pub mod bytes;
pub mod collective;
pub mod connections;
pub mod decode;
pub mod hostping;
pub mod mutated;
pub mod observe;
pub mod reader;
pub mod texts;
pub mod trace;
