//! What is done with arbitrary bytes, and what must hold whatever they are.
//!
//! The same functions run under libFuzzer (`fuzz_targets/`) and, over the inputs kept in `seeds/`
//! and `regressions/`, in `cargo test` with the stable toolchain. A broken promise is a panic.
//!
//! | module | input | promise |
//! |---|---|---|
//! | [`decode`] | one frame | no panic; what is read lies in the frame; CM datagrams survive writing |
//! | [`reader`] | a capture file | no panic, no hang; the same frames however the bytes arrive |
//! | [`observe`] | frames with times | the loss identity; runs sum to the counters |

pub mod bytes;
pub mod decode;
pub mod observe;
pub mod reader;
