//! Functions over arbitrary bytes, and the promises that hold for all of them.
//!
//! libFuzzer (`fuzz_targets/`) and `cargo test` with the stable toolchain run the same functions, the latter over the
//! inputs in `seeds/` and `regressions/`. A broken promise is a panic.
//!
//! | module | input | promise |
//! |---|---|---|
//! | [`decode`] | one frame | no panic; the packet is within the frame; both paths agree; CM datagrams survive writing |
//! | [`reader`] | a capture file | no panic, no hang; the same frames for any chunks of input |
//! | [`observe`] | frames with times | the loss identity; runs sum to the counters |
//! | [`connections`] | the same | no overflow in windows and connections; windows sum to the counters |

pub mod bytes;
pub mod connections;
pub mod decode;
pub mod observe;
pub mod reader;
