//! The readers of capture files over arbitrary bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rocescope_fuzz::reader::run(input));
