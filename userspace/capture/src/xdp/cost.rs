//! The cost of loading the programs.

use super::error::Error;
use super::object::{FLUSH, PROGRAM, aligned, program_mut};
use super::{cpu, stack};
use crate::bpf::load_program;
use aya::EbpfLoader;
use rocescope_host::privileges::{self, Capability};
use std::thread;
use std::time::{Duration, Instant};

/// The cost of loading a program.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Its name.
    pub program: &'static str,
    /// Instructions that the verifier walked through.
    pub verified_instructions: u32,
    /// Bytes of stack, its deepest chain of calls.
    pub stack_bytes: u32,
    /// Bytes of machine code.
    pub machine_code_bytes: u32,
    /// Time to verify and translate it.
    pub load_time: Duration,
}

/// Loads the programs of `object` with only these capabilities, then unloads them.
///
/// Without `CAP_PERFMON` the verifier also walks the paths that a CPU may speculate on, and
/// adds barriers against that.
///
/// # Errors
/// The kernel refuses.
pub fn costs(object: &[u8], capabilities: &[Capability]) -> Result<Vec<Cost>, Error> {
    with_capabilities(capabilities, || aligned(object, load))
}

/// Runs `work` on a thread with only these capabilities: a thread cannot regain those it gives up.
pub(super) fn with_capabilities<R: Send>(
    capabilities: &[Capability],
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    let done = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            privileges::keep(capabilities).map_err(Error::Capabilities)?;
            work()
        });
        worker.join()
    });
    done.map_err(|_| Error::Thread("it has panicked".into()))?
}

fn load(object: &[u8]) -> Result<Vec<Cost>, Error> {
    let depths = stack::depths(object)?;
    let mut loader = EbpfLoader::new();
    let cpus = cpu::possible()? as u32;
    let mut programs = loader.map_max_entries("RINGS", cpus).load(object)?;
    let mut costs = Vec::new();
    for name in [PROGRAM, FLUSH] {
        let program = program_mut(&mut programs, name)?;
        let before = Instant::now();
        load_program(|| program.load())?;
        let load_time = before.elapsed();
        let info = program.info()?;
        costs.push(Cost {
            program: name,
            verified_instructions: info.verified_instruction_count().unwrap_or(0),
            stack_bytes: depths.get(name).copied().unwrap_or(0),
            machine_code_bytes: info.size_jitted(),
            load_time,
        });
    }
    Ok(costs)
}
