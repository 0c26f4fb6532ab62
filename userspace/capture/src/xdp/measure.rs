//! The cost of a packet in the kernel: `BPF_PROG_TEST_RUN` over one frame whose QPN and PSN a wrapper
//! rewrites, for the XDP program and its baselines (`lab/ebpf`).

use super::cost::with_capabilities;
use super::cpu;
use super::error::Error;
use super::kernel::Kernel;
use super::object::{OBJECT, PROGRAM, aligned, program_mut, take};
use super::options::Options;
use super::order::Order;
use super::rings::Rings;
use crate::bpf::load_program;
use aya::maps::{Array, MapData, PerCpuArray, ProgramArray, RingBuf};
use aya::programs::{ProgramFd, TestRun, TestRunOptions, Xdp};
use aya::{Ebpf, EbpfLoader};
use rocescope_host::privileges::Capability;
use rocescope_record::Config;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The number of flows that the wrapper can generate.
pub const FLOWS: usize = 1 << 17;
/// The number of packets after which the order of the flows repeats.
pub const ORDER: usize = 1 << 18;

/// The measured program, which the wrapper calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// None: the wrapper alone.
    Nothing,
    /// A hand-written parser for untagged packets without options, to the end of the BTH.
    Hand,
    /// The decoder of the XDP program.
    Parse,
    /// The hand-written parser, and one ring record a packet.
    Each,
    /// The XDP program.
    Ours,
    /// Another build of the XDP program.
    Other,
}

impl Body {
    /// The program for a version of IP.
    const fn program(self, version: u8) -> &'static str {
        match (self, version) {
            (Self::Nothing, _) => "nothing",
            (Self::Hand, 4) => "hand4",
            (Self::Hand, _) => "hand6",
            (Self::Parse, _) => "parse",
            (Self::Each, 4) => "each4",
            (Self::Each, _) => "each6",
            (Self::Ours | Self::Other, _) => PROGRAM,
        }
    }
}

/// The programs of `lab/ebpf`.
const PROGRAMS: [&str; 8] = ["wrap4", "wrap6", "nothing", "hand4", "hand6", "parse", "each4", "each6"];

/// One row of the table: a program and its traffic.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program.
    pub body: Body,
    /// The flow of the n-th packet; repeated to [`ORDER`] packets.
    pub flows: Vec<u32>,
    /// The PSN increment of a flow: 1 continues its run, 2 never does.
    pub stride: u32,
    /// The frame.
    pub frame: Vec<u8>,
    /// Its version of IP: 4 or 6.
    pub version: u8,
}

/// The cost of one run of a case.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// Nanoseconds a packet, including the wrapper.
    pub ns: f64,
    /// The number of packets, including those that warmed the caches.
    pub packets: u64,
    /// Records that found the ring full.
    pub lost_records: u64,
    /// Records that were published.
    pub records: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Plan {
    packets: u64,
    stride: u32,
    reserved: u32,
}
// SAFETY: flat integers without padding.
unsafe impl aya::Pod for Plan {}

/// Packets in a call: short enough for the scheduler.
const PACKETS: u32 = 50_000;
/// Calls in a sample.
const CALLS: u32 = 10;

/// The programs, loaded.
pub struct Bench {
    programs: Ebpf,
    /// The XDP program, and another build of it.
    ours: Vec<Ours>,
    each: RingBuf<MapData>,
    lost: PerCpuArray<MapData, u64>,
    plan: Array<MapData, Plan>,
    next: Array<MapData, u32>,
    target: ProgramArray<MapData>,
    /// The content of `next`.
    flows: Vec<u32>,
}

/// A build of the XDP program.
struct Ours {
    kernel: Kernel,
    rings: Rings,
}

impl Ours {
    fn load(object: &[u8], config: Config) -> Result<Self, Error> {
        let (kernel, readers) = Kernel::load(object, Options::default(), config, false)?;
        let rings = Rings::new(readers.runs, config.slice_ns);
        Ok(Self { kernel, rings })
    }
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").finish_non_exhaustive()
    }
}

/// Runs `work` on the first CPU with programs loaded with only `capabilities`: those of
/// `lab/ebpf` from `object`, the XDP program, and another build of it from `other`.
///
/// # Errors
/// The kernel refuses.
pub fn with<R: Send>(
    object: &[u8],
    other: Option<&[u8]>,
    capabilities: &[Capability],
    config: Config,
    work: impl FnOnce(&mut Bench) -> Result<R, Error> + Send,
) -> Result<R, Error> {
    with_capabilities(capabilities, || {
        if let Some(first) = cpu::online()?.first() {
            cpu::pin(*first)?;
        }
        work(&mut Bench::load(object, other, config)?)
    })
}

impl Bench {
    fn load(object: &[u8], other: Option<&[u8]>, config: Config) -> Result<Self, Error> {
        let mut programs = aligned(object, |object| Ok(EbpfLoader::new().load(object)?))?;
        for name in PROGRAMS {
            let program = program_mut(&mut programs, name)?;
            load_program(|| program.load())?;
        }
        let mut ours = vec![Ours::load(OBJECT, config)?];
        if let Some(other) = other {
            ours.push(aligned(other, |other| Ours::load(other, config))?);
        }
        Ok(Self {
            each: take(&mut programs, "EVENTS")?,
            lost: take(&mut programs, "LOST")?,
            plan: take(&mut programs, "PLAN")?,
            next: take(&mut programs, "NEXT")?,
            target: take(&mut programs, "TARGET")?,
            programs,
            flows: Vec::new(),
            ours,
        })
    }

    /// The build of the XDP program that a case measures; the committed one for other bodies.
    fn ours(&mut self, body: Body) -> Result<&mut Ours, Error> {
        let at = usize::from(body == Body::Other);
        self.ours.get_mut(at).ok_or(Error::Missing("other build"))
    }

    fn fd(&mut self, case: &Case) -> Result<ProgramFd, Error> {
        let fd = match case.body {
            Body::Ours | Body::Other => self.ours(case.body)?.kernel.program()?,
            other => {
                let name = other.program(case.version);
                let program = self.programs.program(name).ok_or(Error::Missing(name))?;
                let program: &Xdp = program.try_into()?;
                program.fd()?
            }
        };
        fd.try_clone().map_err(Error::Capabilities)
    }

    /// Prepares the next samples for this case.
    ///
    /// # Errors
    /// A map cannot be written.
    pub fn prepare(&mut self, case: &Case) -> Result<(), Error> {
        // A quarter of a million system calls, which most cases avoid.
        if self.flows != case.flows {
            for (at, flow) in case.flows.iter().cycle().take(ORDER).enumerate() {
                self.next.set(at as u32, flow, 0)?;
            }
            self.flows.clone_from(&case.flows);
        }
        let fd = self.fd(case)?;
        self.target.set(0, &fd, 0)?;
        self.plan.set(
            0,
            Plan {
                packets: 0,
                stride: case.stride,
                reserved: 0,
            },
            0,
        )?;
        Ok(())
    }

    /// Runs the prepared case while another thread drains the rings.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn sample(&mut self, case: &Case) -> Result<Sample, Error> {
        let before = self.published(case.body)?;
        let stop = AtomicBool::new(false);
        let wrapper = if case.version == 4 { "wrap4" } else { "wrap6" };
        let wrap: &Xdp = self
            .programs
            .program(wrapper)
            .ok_or(Error::Missing(wrapper))?
            .try_into()?;
        let at = usize::from(case.body == Body::Other);
        let ours = self.ours.get_mut(at).ok_or(Error::Missing("other build"))?;
        let (rings, each) = (&mut ours.rings, &mut self.each);
        let last = cpu::online()?.last().copied();
        let ns = thread::scope(|scope| {
            let reader = scope.spawn(|| {
                // On a single CPU, both share it.
                let _ = last.map(cpu::pin);
                while !stop.load(Ordering::Relaxed) {
                    let mut order = Order::default();
                    rings.drain(&mut order);
                    std::hint::black_box(order.len());
                    while let Some(event) = each.next() {
                        std::hint::black_box(&event[..]);
                    }
                    std::hint::spin_loop();
                }
            });
            let mut ns = 0;
            let mut result = Ok(());
            // Twice, to warm the caches.
            for call in 0..CALLS + 2 {
                let run = wrap.test_run(TestRunOptions {
                    data_in: Some(&case.frame),
                    repeat: PACKETS,
                    ..TestRunOptions::new()
                });
                match run {
                    Ok(run) if call >= 2 => ns += run.duration.as_nanos(),
                    Ok(_) => {}
                    Err(error) => {
                        result = Err(error.into());
                        break;
                    }
                }
            }
            stop.store(true, Ordering::Relaxed);
            match reader.join() {
                Ok(()) => result.map(|()| ns as f64 / f64::from(CALLS)),
                Err(_) => Err(Error::Thread("it has panicked".into())),
            }
        })?;
        let after = self.published(case.body)?;
        let packets = u64::from(PACKETS) * u64::from(CALLS + 2);
        let lost_records = after.1 - before.1;
        let records = match case.body {
            Body::Ours | Body::Other => after.0 - before.0,
            Body::Each => packets,
            _ => 0,
        };
        Ok(Sample {
            ns,
            packets,
            lost_records,
            records,
        })
    }

    /// The number of published runs, and of lost records of both programs.
    fn published(&mut self, body: Body) -> Result<(u64, u64), Error> {
        let counters = self.ours(body)?.kernel.counters()?;
        let lost: u64 = self.lost.get(&0, 0)?.iter().sum();
        Ok((counters.published.iter().sum(), counters.lost_runs + lost))
    }
}
