//! Measures the nanoseconds that a packet costs on this host.

use super::clock;
use super::error::Error;
use super::kernel::Kernel;
use super::object::{OBJECT, PROGRAM};
use super::options::Options;
use rocescope_record::Config;

/// A few milliseconds of packets, a few times: the minimum is the undisturbed round.
const REPEAT: u32 = 50_000;
const ROUNDS: u32 = 5;

/// Loads the program with the capabilities of this thread and runs it repeatedly over `frame`.
/// A frame that repeats its PSN starts a run each time, which is the worst case. Nothing reads the
/// rings, so most runs find them full.
///
/// # Errors
/// The kernel refuses.
pub fn worst_case_ns(frame: &[u8]) -> Result<u32, Error> {
    let config = Config {
        tick_ns: clock::tick_ns(),
        ..Config::exact(1_000_000_000)
    };
    let options = Options {
        ring_bytes: 0,
        ..Options::default()
    };
    let (kernel, _rings) = Kernel::load(OBJECT, options, config, false)?;
    let mut best = u32::MAX;
    for _ in 0..ROUNDS {
        best = best.min(kernel.cost_ns(PROGRAM, frame, REPEAT)?);
    }
    Ok(best)
}
