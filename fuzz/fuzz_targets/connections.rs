//! The pipeline and its analysis of connections over arbitrary frames.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rocescope_fuzz::connections::run(input));
