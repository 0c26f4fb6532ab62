//! Events of queue pairs from the kernel's verbs core, which every driver passes: who creates, connects and destroys one.
//!
//! | module | what it does |
//! |---|---|
//! | `btf` | where fields are in the running kernel, as it describes itself |
//! | `layout` | the fields that the programs and the reader need |
//! | `decode` | from a record of the ring to an event |
//! | `error` | why this kernel does not report queue pairs |

mod btf;
mod decode;
mod error;
mod layout;

pub use error::Error;

use crate::bpf::load_program;
use aya::maps::{Map, MapData, PerCpuArray, RingBuf};
use aya::programs::KProbe;
use aya::{Ebpf, EbpfLoader};
use layout::Layout;
use rocescope_host::counters::Moment;
use rocescope_host::counters::queue_pairs::event::{Event, Events, Lost};
use rocescope_record::queue_pair::{VerbsLayout, lost};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fmt;
use std::fs;
use std::time::Duration;

/// The object that `cargo xtask ebpf` built.
static OBJECT: &[u8] = aya::include_bytes_aligned!("../../../../ebpf/queue_pairs.bpf.o");

/// Each program, and the function of the kernel that it is attached to. Ends of calls come first: without its begin an end
/// is ignored.
const PROGRAMS: [(&str, &str); 5] = [
    ("modified", "ib_modify_qp_with_udata"),
    ("modified", "ib_modify_qp"),
    ("user_modifies", "ib_modify_qp_with_udata"),
    ("kernel_modifies", "ib_modify_qp"),
    ("added", "rdma_restrack_add"),
];
/// Where queue pairs leave the list of resources: later kernels, and their stable versions, have the second one too.
const REMOVED: (&str, [&str; 2]) = ("removed", ["rdma_restrack_del", "rdma_restrack_commit_del"]);
/// The same for CM, whose module may not be loaded.
const CM_PROGRAMS: [(&str, &str); 2] = [("requests", "ib_send_cm_req"), ("replies", "ib_send_cm_rep")];

#[derive(Clone, Copy)]
#[repr(transparent)]
struct LayoutValue(VerbsLayout);
// SAFETY: `VerbsLayout` is `bytemuck::Pod`, which is stricter.
unsafe impl aya::Pod for LayoutValue {}

/// Programs that are loaded, and what reads their events.
pub struct QueuePairEvents {
    programs: Ebpf,
    ring: RingBuf<MapData>,
    lost: PerCpuArray<MapData, u64>,
    /// Records that are none: a defect.
    unreadable: u64,
    layout: Layout,
    sees_cm: bool,
}

impl fmt::Debug for QueuePairEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueuePairEvents").finish_non_exhaustive()
    }
}

impl QueuePairEvents {
    /// Begins to report. Needs `CAP_BPF` and `CAP_PERFMON` until it returns.
    ///
    /// # Errors
    /// The kernel does not describe its types, refuses the programs, or lacks a function.
    pub fn open() -> Result<Self, Error> {
        let mut events = Self::load()?;
        for (program, function) in PROGRAMS {
            events.attach(program, function)?;
        }
        let (program, [always, later]) = REMOVED;
        events.attach(program, always)?;
        // An earlier kernel has none.
        let _ = events.attach(program, later);
        events.sees_cm = events.layout.has_cm
            && CM_PROGRAMS
                .iter()
                .all(|(program, function)| events.attach(program, function).is_ok());
        Ok(events)
    }

    /// Whether it would begin to report here: loads the programs, and attaches none.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn check() -> Result<(), Error> {
        Self::load()?;
        let names = fs::read_to_string("/proc/kallsyms").map_err(Error::Functions)?;
        let has = |function: &str| {
            names
                .lines()
                .any(|line| line.split_whitespace().nth(2) == Some(function))
        };
        let mut functions = PROGRAMS.iter().map(|(_, function)| *function).chain([REMOVED.1[0]]);
        let missing = functions.find(|function| !has(function));
        missing.map_or(Ok(()), |function| Err(Error::Function(function)))
    }

    /// Loads the programs for the layout of this kernel.
    fn load() -> Result<Self, Error> {
        let layout = Layout::of_this_kernel()?;
        let mut loader = EbpfLoader::new();
        // The object needs no relocation by the kernel's types.
        loader.btf(None);
        let value = LayoutValue(layout.program);
        loader.override_global("LAYOUT", &value, true);
        let mut programs = loader.load(OBJECT).map_err(Box::new)?;
        let ring = take(&mut programs, "EVENTS")?;
        let lost = take(&mut programs, "LOST")?;
        let of_cm = CM_PROGRAMS.iter().filter(|_| layout.has_cm);
        let mut loaded: Vec<&str> = PROGRAMS.iter().chain(of_cm).map(|(program, _)| *program).collect();
        loaded.push(REMOVED.0);
        loaded.sort_unstable();
        loaded.dedup();
        for name in loaded {
            let refused = |error| Error::Load("the kernel refuses the programs", Box::new(error));
            let program = program(&mut programs, name)?;
            load_program(|| program.load()).map_err(refused)?;
        }
        Ok(Self {
            programs,
            ring,
            lost,
            unreadable: 0,
            layout,
            sees_cm: false,
        })
    }

    fn attach(&mut self, name: &'static str, function: &'static str) -> Result<(), Error> {
        let attached = program(&mut self.programs, name)?.attach(function, 0);
        attached
            .map(drop)
            .map_err(|error| Error::Attach(function, Box::new(error)))
    }
}

impl Events for QueuePairEvents {
    fn wait(&mut self, limit: Duration) {
        let limit = Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: limit.subsec_nanos().into(),
        };
        // A signal, too, is a reason to look.
        let _ = poll(&mut [PollFd::new(&self.ring, PollFlags::IN)], Some(&limit));
    }

    fn take(&mut self) -> Vec<Event> {
        let now = Moment::now();
        let mut events = Vec::new();
        while let Some(record) = self.ring.next() {
            match decode::event(&record, &self.layout, now) {
                Some(event) => events.push(event),
                None => self.unreadable += 1,
            }
        }
        events
    }

    fn lost(&self) -> Lost {
        let count = |reason| {
            let counts = self.lost.get(&reason, 0);
            counts.map_or(0, |counts| counts.iter().sum())
        };
        Lost {
            full: count(lost::RING),
            unfinished: count(lost::RETURNS) + count(lost::CALLS),
            unreadable: count(lost::UNREADABLE) + self.unreadable,
        }
    }

    fn sees_cm(&self) -> bool {
        self.sees_cm
    }
}

fn program<'a>(programs: &'a mut Ebpf, name: &'static str) -> Result<&'a mut KProbe, Error> {
    let program = programs.program_mut(name).ok_or(Error::Missing(name))?;
    program
        .try_into()
        .map_err(|error| Error::Load("the object has another type of program", Box::new(error)))
}

fn take<M: TryFrom<Map, Error = aya::maps::MapError>>(programs: &mut Ebpf, name: &'static str) -> Result<M, Error> {
    let map = programs.take_map(name).ok_or(Error::Missing(name))?;
    Ok(map.try_into().map_err(Box::new)?)
}
