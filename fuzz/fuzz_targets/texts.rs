//! What `rocescope topology` and `rocescope paths` read, over arbitrary bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rocescope_fuzz::texts::run(input));
