//! What `rocescope collective import` reads, over arbitrary bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rocescope_fuzz::collective::run(input));
