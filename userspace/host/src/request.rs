//! Queries about an interface by `ioctl` (`man 7 netdevice`).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A socket. Protocol 0: a packet socket receives nothing until it is bound.
pub(crate) fn socket(family: libc::c_int, kind: libc::c_int) -> io::Result<OwnedFd> {
    socket_of(family, kind, 0)
}

/// A socket of a protocol.
pub(crate) fn socket_of(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call takes three numbers.
    let fd = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just created this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The MTU of an interface.
pub(crate) fn mtu(name: &str) -> io::Result<u32> {
    let mut request = named(name);
    // SAFETY: the call fills the member that is read below.
    unsafe { ask(libc::SIOCGIFMTU, &mut request) }?;
    // SAFETY: as above.
    Ok(unsafe { request.ifr_ifru.ifru_mtu }.unsigned_abs())
}

/// Makes a call in which the kernel reads and writes `answer`.
///
/// # Safety
/// `answer` has the type that `call` expects.
pub(crate) unsafe fn exchange<T: ?Sized>(name: &str, call: libc::c_ulong, answer: &mut T) -> io::Result<()> {
    let mut request = named(name);
    request.ifr_ifru.ifru_data = std::ptr::from_mut(answer).cast();
    // SAFETY: the caller guarantees the type of the answer, which outlives the call.
    unsafe { ask(call, &mut request) }
}

fn named(name: &str) -> libc::ifreq {
    // SAFETY: a structure of numbers and pointers, for which all zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let (to, _) = request.ifr_name.split_at_mut(libc::IFNAMSIZ - 1);
    for (to, from) in to.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

/// # Safety
/// The request's union is what `call` expects.
unsafe fn ask(call: libc::c_ulong, request: &mut libc::ifreq) -> io::Result<()> {
    let socket = socket(libc::AF_INET, libc::SOCK_DGRAM)?;
    // SAFETY: the caller guarantees the request.
    match unsafe { libc::ioctl(socket.as_raw_fd(), call as libc::Ioctl, request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
