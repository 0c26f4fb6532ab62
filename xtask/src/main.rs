//! rocescope.
fn main() {}
