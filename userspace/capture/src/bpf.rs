//! `bpf(2)` calls for small hand-assembled programs.
//!
//! `aya` loads compiled objects. A program that passes every frame has two instructions, the one that
//! sends frames has thirty: both are assembled here and need no object.

use aya::programs::ProgramError;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;

const MAP_CREATE: libc::c_long = 0;
const MAP_UPDATE: libc::c_long = 2;
const PROG_LOAD: libc::c_long = 5;
const PROG_RUN: libc::c_long = 10;
const PROG_FD_BY_ID: libc::c_long = 13;
const RAW_TRACEPOINT_OPEN: libc::c_long = 17;
const MAP_TYPE_ARRAY: u32 = 2;
const MAP_TYPE_PROG_ARRAY: u32 = 3;
/// `BPF_F_XDP_HAS_FRAGS`: also accepts frames of several pages.
const HAS_FRAGS: u32 = 1 << 5;
const ATTACH_XDP: u32 = 37;
/// `BPF_F_MMAPABLE`.
const MAPPABLE: u32 = 1 << 10;

/// An instruction in the format of the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) code: u8,
    /// Destination in the low four bits, source in the high ones.
    pub(crate) registers: u8,
    pub(crate) offset: i16,
    pub(crate) immediate: i32,
}

/// The type of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProgramKind {
    Xdp = 6,
    RawTracepoint = 17,
}

/// Part of `union bpf_attr`; the rest is 0.
#[repr(C)]
#[derive(Default)]
struct Load {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_type: u32,
}

#[repr(C)]
#[derive(Default)]
struct CreateMap {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
    inner: u32,
    node: u32,
    name: [u8; 16],
}

#[repr(C)]
#[derive(Default)]
struct Run {
    program: u32,
    retval: u32,
    data_in_bytes: u32,
    data_out_bytes: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration_ns: u32,
    context_in_bytes: u32,
    context_out_bytes: u32,
    context_in: u64,
    context_out: u64,
    flags: u32,
    cpu: u32,
    batch: u32,
    pad: u32,
}

#[repr(C)]
struct Update {
    map: u32,
    pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct OpenTracepoint {
    name: u64,
    program: u32,
    pad: u32,
    cookie: u64,
}

fn call<T>(command: libc::c_long, attributes: &mut T) -> io::Result<libc::c_long> {
    // SAFETY: every caller passes the structure of its command, whose pointers are valid for the
    // lengths beside them; the kernel reads and writes no more than the given size.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, &raw mut *attributes, size_of::<T>()) };
    if answer < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(answer)
    }
}

/// The most attempts to load a program: each ends early only if a signal comes meanwhile.
const ATTEMPTS: usize = 100;

/// Loads a program. A signal, as of a terminal or of a debugger, ends the verification of the kernel, which then asks to try
/// again.
pub(crate) fn load_again<E>(
    mut load: impl FnMut() -> Result<(), E>,
    cause: impl Fn(&E) -> Option<i32>,
) -> Result<(), E> {
    for _ in 1..ATTEMPTS {
        match load() {
            Err(error) if cause(&error) == Some(libc::EAGAIN) => {}
            result => return result,
        }
    }
    load()
}

/// As [`load_again`], of a program of an object.
pub(crate) fn load_program(load: impl FnMut() -> Result<(), ProgramError>) -> Result<(), ProgramError> {
    load_again(load, |error| match error {
        ProgramError::LoadError { io_error, .. } => io_error.raw_os_error(),
        _ => None,
    })
}

fn owned(fd: libc::c_long) -> OwnedFd {
    // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
    unsafe { OwnedFd::from_raw_fd(fd as RawFd) }
}

fn name(of: &str) -> [u8; 16] {
    let mut name = [0; 16];
    for (to, from) in name.iter_mut().take(15).zip(of.bytes()) {
        *to = from;
    }
    name
}

/// Loads a program.
pub(crate) fn load(kind: ProgramKind, named: &str, program: &[Instruction]) -> io::Result<OwnedFd> {
    let mut attributes = Load {
        kind: kind as u32,
        count: program.len() as u32,
        instructions: program.as_ptr().addr() as u64,
        // Some helpers require it; every program of this project has it.
        license: c"GPL".as_ptr().addr() as u64,
        flags: match kind {
            ProgramKind::Xdp => HAS_FRAGS,
            ProgramKind::RawTracepoint => 0,
        },
        name: name(named),
        // Programs that tail-call each other must agree on it.
        attach_type: match kind {
            ProgramKind::Xdp => ATTACH_XDP,
            ProgramKind::RawTracepoint => 0,
        },
        ..Load::default()
    };
    let mut loaded = 0;
    let load = || {
        loaded = call(PROG_LOAD, &mut attributes)?;
        Ok(())
    };
    load_again(load, io::Error::raw_os_error)?;
    Ok(owned(loaded))
}

/// Opens a loaded program by its number.
pub(crate) fn program_by_id(id: u32) -> io::Result<OwnedFd> {
    let mut attributes = [id, 0, 0];
    call(PROG_FD_BY_ID, &mut attributes).map(owned)
}

/// Creates a map whose entry 0 tail-calls `program`.
pub(crate) fn tail(program: &OwnedFd) -> io::Result<OwnedFd> {
    let mut attributes = CreateMap {
        kind: MAP_TYPE_PROG_ARRAY,
        key_bytes: 4,
        value_bytes: 4,
        entries: 1,
        name: name("rocescope_next"),
        ..CreateMap::default()
    };
    let map = owned(call(MAP_CREATE, &mut attributes)?);
    let (key, value) = (0u32, program.as_raw_fd());
    let mut attributes = Update {
        map: map.as_raw_fd() as u32,
        pad: 0,
        key: (&raw const key).addr() as u64,
        value: (&raw const value).addr() as u64,
        flags: 0,
    };
    call(MAP_UPDATE, &mut attributes)?;
    Ok(map)
}

/// Attaches a program to a tracepoint until the descriptor is closed.
pub(crate) fn trace(program: &OwnedFd, point: &std::ffi::CStr) -> io::Result<OwnedFd> {
    let mut attributes = OpenTracepoint {
        name: point.as_ptr().addr() as u64,
        program: program.as_raw_fd() as u32,
        ..OpenTracepoint::default()
    };
    call(RAW_TRACEPOINT_OPEN, &mut attributes).map(owned)
}

/// The input of a program run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Input<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) context: &'a [u8],
    pub(crate) repeat: u32,
    /// Live frames instead of a buffer: the batch size.
    pub(crate) live_batch: Option<u32>,
}

/// Runs a program.
///
/// # Errors
/// Those of the kernel; a signal among them.
pub(crate) fn run(program: impl AsFd, input: &Input<'_>) -> io::Result<()> {
    /// `BPF_F_TEST_XDP_LIVE_FRAMES`.
    const LIVE: u32 = 1 << 1;
    let at = |bytes: &[u8]| match bytes {
        [] => 0,
        _ => bytes.as_ptr().addr() as u64,
    };
    let mut attributes = Run {
        program: program.as_fd().as_raw_fd() as u32,
        data_in_bytes: input.data.len() as u32,
        data_in: at(input.data),
        context_in_bytes: input.context.len() as u32,
        context_in: at(input.context),
        repeat: input.repeat,
        flags: input.live_batch.map_or(0, |_| LIVE),
        batch: input.live_batch.unwrap_or(0),
        ..Run::default()
    };
    call(PROG_RUN, &mut attributes).map(|_| ())
}

/// An array map whose values are mapped into this process.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) fd: OwnedFd,
    memory: NonNull<u8>,
    bytes: usize,
    value_bytes: usize,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no pointer into it remains.
        let _ = unsafe { munmap(self.memory.as_ptr().cast(), self.bytes) };
    }
}

impl Shared {
    /// Creates a map of `entries` values, each a multiple of eight bytes long.
    pub(crate) fn new(named: &str, value_bytes: usize, entries: usize) -> io::Result<Self> {
        let mut attributes = CreateMap {
            kind: MAP_TYPE_ARRAY,
            key_bytes: 4,
            value_bytes: value_bytes as u32,
            entries: entries as u32,
            flags: MAPPABLE,
            name: name(named),
            ..CreateMap::default()
        };
        let fd = owned(call(MAP_CREATE, &mut attributes)?);
        let bytes = value_bytes * entries;
        // SAFETY: a new mapping of the map's size at an address that the kernel chooses.
        let memory = unsafe {
            mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &fd,
                0,
            )
        };
        let memory = NonNull::new(memory?.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self {
            fd,
            memory,
            bytes,
            value_bytes,
        })
    }

    /// A value. The caller ensures that no program runs at the same time.
    pub(crate) fn value(&mut self, at: usize) -> &mut [u8] {
        let from = (at * self.value_bytes).min(self.bytes - self.value_bytes);
        // SAFETY: the value is in the mapping; programs touch it only while they run, and
        // the programs of this module are run by their owner, who holds this exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr().add(from), self.value_bytes) }
    }
}

/// The instructions in use, in assembler notation.
pub(crate) mod op {
    use super::Instruction;
    use std::os::fd::{AsRawFd, OwnedFd};

    const fn of(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
        Instruction {
            code,
            registers: to | from << 4,
            offset,
            immediate,
        }
    }

    /// `to = number`
    pub(crate) const fn set(to: u8, number: i32) -> Instruction {
        of(0xb7, to, 0, 0, number)
    }
    /// `to = from`
    pub(crate) const fn copy(to: u8, from: u8) -> Instruction {
        of(0xbf, to, from, 0, 0)
    }
    /// `to += number`
    pub(crate) const fn add(to: u8, number: i32) -> Instruction {
        of(0x07, to, 0, 0, number)
    }
    /// `to += from`
    pub(crate) const fn plus(to: u8, from: u8) -> Instruction {
        of(0x0f, to, from, 0, 0)
    }
    /// `to -= from`
    pub(crate) const fn minus(to: u8, from: u8) -> Instruction {
        of(0x1f, to, from, 0, 0)
    }
    /// `to = *(u64 *)(from + offset)`
    pub(crate) const fn load(to: u8, from: u8, offset: i16) -> Instruction {
        of(0x79, to, from, offset, 0)
    }
    /// `*(u64 *)(to + offset) = from`
    pub(crate) const fn store(to: u8, offset: i16, from: u8) -> Instruction {
        of(0x7b, to, from, offset, 0)
    }
    /// `*(u32 *)(to + offset) = from`
    pub(crate) const fn store_u32(to: u8, offset: i16, from: u8) -> Instruction {
        of(0x63, to, from, offset, 0)
    }
    /// `if left == number goto +skip`
    pub(crate) const fn if_equal(left: u8, number: i32, skip: i16) -> Instruction {
        of(0x15, left, 0, skip, number)
    }
    /// `if left != number goto +skip`
    pub(crate) const fn if_unequal(left: u8, number: i32, skip: i16) -> Instruction {
        of(0x55, left, 0, skip, number)
    }
    /// `if left > number goto +skip`
    pub(crate) const fn if_above(left: u8, number: i32, skip: i16) -> Instruction {
        of(0x25, left, 0, skip, number)
    }
    /// `if left <= number goto +skip`
    pub(crate) const fn if_at_most(left: u8, number: i32, skip: i16) -> Instruction {
        of(0xb5, left, 0, skip, number)
    }
    /// `if left < right goto +skip`
    pub(crate) const fn if_below_other(left: u8, right: u8, skip: i16) -> Instruction {
        of(0xad, left, right, skip, 0)
    }
    /// `if left != right goto +skip`
    pub(crate) const fn if_unequal_other(left: u8, right: u8, skip: i16) -> Instruction {
        of(0x5d, left, right, skip, 0)
    }
    /// Calls a helper of the kernel.
    pub(crate) const fn call(helper: i32) -> Instruction {
        of(0x85, 0, 0, 0, helper)
    }
    pub(crate) const fn exit() -> Instruction {
        of(0x95, 0, 0, 0, 0)
    }
    /// `to = map`
    pub(crate) fn map(to: u8, map: &OwnedFd) -> [Instruction; 2] {
        [of(0x18, to, 1, 0, map.as_raw_fd()), of(0, 0, 0, 0, 0)]
    }
    /// `to = address of the only value of map`
    pub(crate) fn value(to: u8, map: &OwnedFd) -> [Instruction; 2] {
        [of(0x18, to, 2, 0, map.as_raw_fd()), of(0, 0, 0, 0, 0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a program is loaded that fails so often, with this error.
    fn attempts(failures: usize, errno: i32) -> (usize, bool) {
        let mut attempts = 0;
        let load = || {
            attempts += 1;
            match attempts <= failures {
                true => Err(io::Error::from_raw_os_error(errno)),
                false => Ok(()),
            }
        };
        let result = load_again(load, io::Error::raw_os_error);
        (attempts, result.is_ok())
    }

    #[test]
    fn a_verification_that_a_signal_ended_is_repeated_and_a_refusal_is_not() {
        assert_eq!(attempts(0, libc::EAGAIN), (1, true));
        assert_eq!(attempts(3, libc::EAGAIN), (4, true));
        assert_eq!(attempts(usize::MAX, libc::EAGAIN), (ATTEMPTS, false));
        assert_eq!(attempts(3, libc::EACCES), (1, false));
    }
}
