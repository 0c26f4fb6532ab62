//! The readers of Hostping over arbitrary bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rocescope_fuzz::hostping::run(input));
