//! The observer and its run cache over arbitrary frames.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rocescope_fuzz::observe::run(input));
