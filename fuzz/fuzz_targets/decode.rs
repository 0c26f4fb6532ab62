//! The decoder over arbitrary frames.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rocescope_fuzz::decode::run(input));
