//! The program and its maps, loaded.

use super::error::Error;
use super::mirror::Mirrors;
use super::object::{FLUSH, PROGRAM, program_mut, take};
use super::options::Options;
use super::rings::RingMaps;
use super::warnings::Warnings;
use super::{clock, cpu};
use crate::bpf::load_program;
use aya::maps::{Array, ArrayOfMaps, Map, MapData, PerCpuArray, RingBuf};
use aya::programs::{ProgramError, ProgramFd, TestRun, TestRunOptions, Xdp};
use aya::{Ebpf, EbpfError, EbpfLoader};
use rocescope_record::counters::STATE_BYTES;
use rocescope_record::{Config, Counters, Set};
use std::io::ErrorKind;
use std::sync::{Mutex, MutexGuard};

/// `BPF_MAP_TYPE_RINGBUF`.
const RING_BUFFER: u32 = 27;
/// Sets that one call of the flush program visits: `SETS_A_FLUSH` there.
const SETS_A_FLUSH: u32 = 128;
/// The kernel requires a whole Ethernet header, which the flush program ignores.
const NO_FRAME: [u8; 14] = [0; 14];

#[derive(Clone, Copy)]
#[repr(transparent)]
struct ConfigValue(Config);
// SAFETY: `Config` is `bytemuck::Pod`, which is stricter.
unsafe impl aya::Pod for ConfigValue {}

/// The counters of a CPU, followed by the private state of the programs.
#[derive(Clone, Copy)]
#[repr(C)]
struct CountersValue(Counters, [u8; STATE_BYTES]);
// SAFETY: `Counters` and bytes are `bytemuck::Pod`, which is stricter; the bytes are a multiple of
// eight, so there is no padding.
unsafe impl aya::Pod for CountersValue {}

/// The map of the run cache.
const RUNS: &str = "RUNS";

/// Sets of the run cache in an entry of its map, which the object determines.
fn sets_an_entry(object: &[u8]) -> Result<u32, Error> {
    let object = aya_obj::Object::parse(object).map_err(EbpfError::from)?;
    let map = object.maps.get(RUNS).ok_or(Error::Missing(RUNS))?;
    Ok((map.value_size() / size_of::<Set>() as u32).max(1))
}

/// The readers of all rings.
pub(super) struct Readers {
    pub(super) runs: RingMaps,
    /// The ring of control packets.
    pub(super) control_packets: RingBuf<MapData>,
    /// The warnings of the programs.
    pub(super) warnings: Warnings,
}

/// The configuration, and the two map entries of which the programs use one.
struct Configuration {
    entries: Array<MapData, ConfigValue>,
    active: Array<MapData, u64>,
    /// The number in `active`.
    at: u32,
    config: Config,
}

impl Configuration {
    /// Replaces the active configuration.
    ///
    /// A program reads `active` once and uses that entry to its end. The entry written here has been
    /// inactive since the last call, which waited for all programs that ran then: no program reads it,
    /// so none sees it half written.
    fn set(&mut self, config: Config) -> Result<(), Error> {
        if config == self.config {
            return Ok(());
        }
        let next = self.at ^ 1;
        self.entries.set(next, ConfigValue(config), 0)?;
        self.active.set(0, u64::from(next), 0)?;
        (self.at, self.config) = (next, config);
        clock::wait_for_readers();
        Ok(())
    }
}

/// The programs, loaded, and the maps that user space touches.
pub(super) struct Kernel {
    programs: Ebpf,
    config: Mutex<Configuration>,
    counters: PerCpuArray<MapData, CountersValue>,
    mirrors: Mirrors,
    /// The map in which the programs look up their rings.
    _rings: ArrayOfMaps<MapData, MapData>,
    sets: u32,
}

impl Kernel {
    /// Loads `object`. With `rehearse` the timestamps come from the metadata of each frame.
    pub(super) fn load(
        object: &[u8],
        options: Options,
        config: Config,
        rehearse: bool,
    ) -> Result<(Self, Readers), Error> {
        let cpus = cpu::possible()?;
        let sets = (options.slots / 2).next_power_of_two().max(SETS_A_FLUSH);
        let sets_an_entry = sets_an_entry(object)?;
        let mut loader = EbpfLoader::new();
        let (mask, from_metadata) = (sets - 1, u32::from(rehearse));
        loader
            .map_max_entries("RINGS", cpus as u32)
            .map_max_entries(RUNS, sets / sets_an_entry)
            .override_global("SET_MASK", &mask, true)
            .override_global("TIMES_FROM_METADATA", &from_metadata, true);
        let mut programs = loader.load(object)?;
        let mut rings: ArrayOfMaps<_, MapData> = take(&mut programs, "RINGS")?;
        let ring_bytes = options.ring_bytes_of_each(cpus);
        let mut readers = Vec::with_capacity(cpus);
        for cpu in 0..cpus as u32 {
            let map = aya_obj::Map::new_from_params(RING_BUFFER, 0, 0, ring_bytes as u32, 0);
            let map = MapData::create(map, "rocescope_ring", None)?;
            rings.set(cpu, &map, 0)?;
            readers.push(RingBuf::try_from(Map::RingBuf(map))?);
        }
        let mut config_map: Array<_, ConfigValue> = take(&mut programs, "CONFIG")?;
        config_map.set(0, ConfigValue(config), 0)?;
        let active = take(&mut programs, ".data")?;
        let counters = take(&mut programs, "COUNTERS")?;
        let mirrors = Mirrors::new(&mut programs)?;
        let control_packets = take(&mut programs, "CONTROL_PACKETS")?;
        let warnings = Warnings::new(&mut programs)?;
        for name in [PROGRAM, FLUSH] {
            let program = program_mut(&mut programs, name)?;
            load_program(|| program.load())?;
        }
        let kernel = Self {
            programs,
            config: Mutex::new(Configuration {
                entries: config_map,
                active,
                at: 0,
                config,
            }),
            counters,
            mirrors,
            _rings: rings,
            sets,
        };
        let readers = Readers {
            runs: readers,
            control_packets,
            warnings,
        };
        Ok((kernel, readers))
    }

    /// The program for interfaces.
    pub(super) fn program(&self) -> Result<&ProgramFd, Error> {
        Ok(self.xdp(PROGRAM)?.fd()?)
    }

    pub(super) fn config(&self) -> Config {
        self.configuration().config
    }

    fn configuration(&self) -> MutexGuard<'_, Configuration> {
        // A panic under the lock leaves a whole configuration behind.
        match self.config.lock() {
            Ok(held) => held,
            Err(poisoned) => poisoned.into_inner(),
        }
    }

    /// Applies what may change while the programs run; once this returns, every packet is judged
    /// by it.
    pub(super) fn reconfigure(&self, config: &Config) -> Result<(), Error> {
        let mut held = self.configuration();
        let mut next = held.config;
        next.adopt(config);
        held.set(next)
    }

    /// Selects whether a flush publishes all runs, or only those whose slice has ended.
    pub(super) fn drain(&self, all: bool) -> Result<(), Error> {
        let mut held = self.configuration();
        let next = Config {
            draining: u32::from(all),
            ..held.config
        };
        held.set(next)
    }

    /// The sum of the counters of all CPUs.
    pub(super) fn counters(&self) -> Result<Counters, Error> {
        let mut sum = Counters::default();
        for counters in self.counters.get(&0, 0)?.iter() {
            sum.add(&counters.0);
        }
        if sum.mirrored_frames > 0 {
            sum.mirror_lost = self.mirrors.lost()?;
        }
        Ok(sum)
    }

    /// Publishes the ended runs of the current CPU.
    pub(super) fn flush(&self) -> Result<(), Error> {
        self.repeat(FLUSH, &NO_FRAME, self.sets / SETS_A_FLUSH)
    }

    /// Runs a program at least `times` times over `data`.
    pub(super) fn repeat(&self, name: &'static str, data: &[u8], times: u32) -> Result<(), Error> {
        let program = self.xdp(name)?;
        loop {
            let run = program.test_run(TestRunOptions {
                data_in: Some(data),
                repeat: times,
                ..TestRunOptions::new()
            });
            match run {
                Ok(_) => return Ok(()),
                // A signal ends the repetitions early; flushing a set twice does no harm.
                Err(ProgramError::SyscallError(error)) if error.io_error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Runs a program `times` times over `data` and returns the nanoseconds of a repetition.
    pub(super) fn cost_ns(&self, name: &'static str, data: &[u8], times: u32) -> Result<u32, Error> {
        let run = self.xdp(name)?.test_run(TestRunOptions {
            data_in: Some(data),
            repeat: times,
            ..TestRunOptions::new()
        })?;
        Ok(u32::try_from(run.duration.as_nanos()).unwrap_or(u32::MAX))
    }

    /// As `flush`, in single steps with a given time.
    pub(super) fn flush_at(&self, data: &[u8], ctx: &[u8]) -> Result<(), Error> {
        for _ in 0..self.sets / SETS_A_FLUSH {
            self.run(FLUSH, data, ctx)?;
        }
        Ok(())
    }

    /// Runs a program once over `data`.
    pub(super) fn run(&self, name: &'static str, data: &[u8], ctx: &[u8]) -> Result<(), Error> {
        self.xdp(name)?.test_run(TestRunOptions {
            data_in: Some(data),
            ctx_in: Some(ctx),
            ..TestRunOptions::new()
        })?;
        Ok(())
    }

    fn xdp(&self, name: &'static str) -> Result<&Xdp, Error> {
        let program = self.programs.program(name).ok_or(Error::Missing(name))?;
        Ok(program.try_into()?)
    }
}
