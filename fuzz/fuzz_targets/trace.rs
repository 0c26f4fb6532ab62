//! Whole capture files, through windows and connections.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rocescope_fuzz::trace::run(input));
