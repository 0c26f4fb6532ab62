//! Attaches programs to interfaces; closing the descriptor detaches them.
//!
//! Only BPF links are used. Attachment over netlink outlives a killed process and replaces another
//! program, and `aya` falls back to it; hence the system call here.

use super::error::Error;
use rocescope_host::xdp_program;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Where the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Native if the driver supports it, else generic.
    Auto,
    /// In the driver, before the kernel allocates a packet.
    Native,
    /// After the driver, on the kernel's packet.
    Generic,
}

impl Mode {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Generic => "generic",
        }
    }
}

/// A program on an interface; dropping it detaches.
#[derive(Debug)]
pub(crate) struct Attached {
    _link: OwnedFd,
}

/// `BPF_LINK_CREATE` and the attach type `BPF_XDP`.
const LINK_CREATE: libc::c_long = 28;
const ATTACH_XDP: u32 = 37;
const FLAG_GENERIC: u32 = 1 << 1;
const FLAG_NATIVE: u32 = 1 << 2;

/// The part of `union bpf_attr` that a link needs, and space for what the kernel may add.
#[repr(C)]
struct LinkCreate {
    program: RawFd,
    interface: u32,
    attach_type: u32,
    flags: u32,
    rest: [u64; 6],
}

pub(crate) fn attach(program: BorrowedFd<'_>, interface: u32, mode: Mode) -> Result<(Attached, Mode), Error> {
    match mode {
        Mode::Auto => match create(program, interface, Mode::Native) {
            Err(error) if error.is_mode() && !error.is_permission() => create(program, interface, Mode::Generic),
            attached => attached,
        },
        mode => create(program, interface, mode),
    }
}

fn create(program: BorrowedFd<'_>, interface: u32, mode: Mode) -> Result<(Attached, Mode), Error> {
    let attributes = LinkCreate {
        program: program.as_raw_fd(),
        interface,
        attach_type: ATTACH_XDP,
        flags: if mode == Mode::Generic {
            FLAG_GENERIC
        } else {
            FLAG_NATIVE
        },
        rest: [0; 6],
    };
    // SAFETY: the kernel reads the given number of bytes of the attributes and writes none.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            LINK_CREATE,
            &raw const attributes,
            size_of_val(&attributes),
        )
    };
    if fd < 0 {
        let source = io::Error::last_os_error();
        return Err(match source.raw_os_error() {
            Some(libc::EBUSY | libc::EEXIST) => Error::Occupied {
                interface,
                process: xdp_program::process(interface),
            },
            _ => Error::Attach {
                interface,
                mode: mode.name(),
                source,
            },
        });
    }
    // SAFETY: the kernel has just created this descriptor, and nothing else owns it.
    let link = unsafe { OwnedFd::from_raw_fd(fd as RawFd) };
    Ok((Attached { _link: link }, mode))
}
