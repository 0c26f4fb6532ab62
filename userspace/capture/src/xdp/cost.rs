//! The cost of loading the programs.

use super::error::Error;
use super::object::{FLUSH, PROGRAM, program_mut};
use super::{cpu, stack};
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
    // Capabilities belong to a thread, which cannot regain those it gives up.
    let loaded = thread::scope(|scope| {
        let loader = scope.spawn(|| {
            privileges::keep(capabilities).map_err(Error::Capabilities)?;
            load(object)
        });
        loader.join()
    });
    loaded.map_err(|_| Error::Thread("it has panicked".into()))?
}

fn load(object: &[u8]) -> Result<Vec<Cost>, Error> {
    // The loader needs a buffer aligned to words.
    let mut words = vec![0u64; object.len().div_ceil(8)];
    let aligned = bytemuck::cast_slice_mut::<u64, u8>(&mut words);
    let (aligned, _) = aligned.split_at_mut(object.len());
    aligned.copy_from_slice(object);
    let depths = stack::depths(aligned)?;
    let mut loader = EbpfLoader::new();
    let cpus = cpu::possible()? as u32;
    let mut programs = loader.map_max_entries("RINGS", cpus).load(aligned)?;
    let mut costs = Vec::new();
    for name in [PROGRAM, FLUSH] {
        let program = program_mut(&mut programs, name)?;
        let before = Instant::now();
        program.load()?;
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
