//! Network interfaces: which there are, how they are, and what a capture may do to them.
//!
//! Everything is asked of the network namespace this process is in; where `/sys` shows another one,
//! what it would say is taken as unknown.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// An interface, by index: it may be renamed meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its index.
    pub index: u32,
    /// Its name when the capture began.
    pub name: String,
}

/// How an interface is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It carries frames.
    Up,
    /// It is there, and carries none.
    Down,
    /// It is no longer there.
    Gone,
}

impl Interface {
    /// Finds an interface.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn find(name: &str) -> io::Result<Self> {
        let text = CString::new(name)?;
        // SAFETY: the pointer is to a string that ends with 0.
        match unsafe { libc::if_nametoindex(text.as_ptr()) } {
            0 => Err(io::Error::last_os_error()),
            index => Ok(Self {
                index,
                name: name.into(),
            }),
        }
    }

    /// Every interface but the loopback, in the order of their indexes.
    ///
    /// # Errors
    /// They cannot be listed.
    pub fn all() -> io::Result<Vec<Self>> {
        // SAFETY: the call takes nothing; its list ends with an index of 0.
        let list = unsafe { libc::if_nameindex() };
        if list.is_null() {
            return Err(io::Error::last_os_error());
        }
        let mut all = Vec::new();
        let mut next = list;
        // SAFETY: the list is valid until it is freed below, and every name in it ends with 0.
        while let Some(entry) = unsafe { next.as_ref() }.filter(|entry| entry.if_index != 0) {
            // SAFETY: as above.
            let name = unsafe { CStr::from_ptr(entry.if_name) };
            if flags(name).is_ok_and(|flags| flags & libc::IFF_LOOPBACK == 0) {
                all.push(Self {
                    index: entry.if_index,
                    name: name.to_string_lossy().into_owned(),
                });
            }
            // SAFETY: this was not the last.
            next = unsafe { next.add(1) };
        }
        // SAFETY: it is the list that the call made, and nothing refers to it any more.
        unsafe { libc::if_freenameindex(list) };
        Ok(all)
    }

    /// The name it has now; `None` when it is gone.
    #[must_use]
    pub fn current_name(&self) -> Option<String> {
        let name = name_of(self.index)?;
        Some(name.to_string_lossy().into_owned())
    }

    /// The longest packet that it takes, in bytes without the Ethernet header.
    ///
    /// # Errors
    /// It is gone.
    pub fn mtu(&self) -> io::Result<u32> {
        let name = name_of(self.index).ok_or(io::ErrorKind::NotFound)?;
        let request = request(&name, libc::SIOCGIFMTU)?;
        // SAFETY: the call filled this member.
        Ok(unsafe { request.ifr_ifru.ifru_mtu }.unsigned_abs())
    }

    /// How it is now, whatever its name.
    #[must_use]
    pub fn state(&self) -> State {
        let Some(name) = name_of(self.index) else {
            return State::Gone;
        };
        match flags(&name) {
            Ok(flags) if flags & UP_AND_RUNNING == UP_AND_RUNNING => State::Up,
            Ok(_) => State::Down,
            Err(_) => State::Gone,
        }
    }

    /// Frames it has dropped by itself since it exists, before anybody saw them.
    #[must_use]
    pub fn dropped(&self) -> Option<u64> {
        let name = name_of(self.index)?;
        let name = name.to_str().ok()?;
        let table = fs::read_to_string("/proc/self/net/dev").ok()?;
        let counts = table
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
        // bytes packets errs drop fifo ...
        let counts: Vec<u64> = counts
            .split_whitespace()
            .filter_map(|count| count.parse().ok())
            .collect();
        Some(counts.get(3)? + counts.get(4)?)
    }

    /// Why frames must reach the kernel behind us; `None` where nothing there waits for them.
    #[must_use]
    pub fn in_use(&self) -> Option<String> {
        let directory = format!("/sys/class/net/{}", self.name);
        let seen = fs::read_to_string(format!("{directory}/ifindex")).ok();
        if seen.and_then(|index| index.trim().parse().ok()) != Some(self.index) {
            return Some("/sys does not show it, so what uses it is not known".into());
        }
        if let Ok(master) = fs::read_link(format!("{directory}/master")) {
            let master = master.file_name().unwrap_or_default().to_string_lossy();
            return Some(format!("it belongs to {master}"));
        }
        if let Some(address) = address_of(&self.name) {
            return Some(format!("it has the address {address}"));
        }
        default_route(&self.name).then(|| "it carries a default route".into())
    }

    /// Has the interface take frames for anybody, until what is returned is dropped: also by a
    /// process that is killed.
    ///
    /// # Errors
    /// `CAP_NET_RAW` is missing, or the interface is gone.
    pub fn promiscuous(&self) -> io::Result<Promiscuous> {
        // Protocol 0: not one frame is queued.
        let socket = socket(libc::AF_PACKET, libc::SOCK_RAW)?;
        let membership = libc::packet_mreq {
            mr_ifindex: self.index as libc::c_int,
            mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        set_option(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            &membership,
        )?;
        Ok(Promiscuous { _socket: socket })
    }
}

/// An interface that takes frames for anybody.
#[derive(Debug)]
pub struct Promiscuous {
    _socket: OwnedFd,
}

const UP_AND_RUNNING: libc::c_int = libc::IFF_UP | libc::IFF_RUNNING;

pub(crate) fn socket(family: libc::c_int, kind: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call takes three numbers.
    let fd = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given us this descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

pub(crate) fn set_option<T>(
    socket: RawFd,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: the kernel reads no more than the size it is told.
    let set = unsafe {
        libc::setsockopt(
            socket,
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if set == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The name an interface has now.
fn name_of(index: u32) -> Option<CString> {
    let mut name = [0u8; libc::IF_NAMESIZE];
    // SAFETY: the buffer has the size that the call asks for.
    let found = unsafe { libc::if_indextoname(index, name.as_mut_ptr().cast()) };
    if found.is_null() {
        return None;
    }
    CStr::from_bytes_until_nul(&name).ok().map(CStr::to_owned)
}

fn request(name: &CStr, call: libc::Ioctl) -> io::Result<libc::ifreq> {
    let socket = socket(libc::AF_INET, libc::SOCK_DGRAM)?;
    // SAFETY: a structure of numbers, for which all zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.to_bytes()) {
        *to = *from as libc::c_char;
    }
    // SAFETY: both calls that are made take a pointer to such a request and fill it.
    if unsafe { libc::ioctl(socket.as_raw_fd(), call, &raw mut request) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(request)
}

fn flags(name: &CStr) -> io::Result<libc::c_int> {
    let request = request(name, libc::SIOCGIFFLAGS)?;
    // SAFETY: the call filled this member.
    Ok(libc::c_int::from(unsafe { request.ifr_ifru.ifru_flags }))
}

/// Whether frames of the interface begin with an Ethernet header.
pub(crate) fn is_ethernet(interface: &Interface) -> io::Result<bool> {
    let name = CString::new(interface.name.as_str())?;
    let request = request(&name, libc::SIOCGIFHWADDR)?;
    // SAFETY: the call filled this member.
    let kind = unsafe { request.ifr_ifru.ifru_hwaddr.sa_family };
    Ok(matches!(kind, libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK))
}

/// An address of the interface, where it has one.
fn address_of(name: &str) -> Option<String> {
    let mut list = std::ptr::null_mut();
    // SAFETY: the call fills the pointer, and answers 0 when it did.
    if unsafe { libc::getifaddrs(&raw mut list) } != 0 {
        return Some("which could not be listed".into());
    }
    let mut found = None;
    let mut next: *const libc::ifaddrs = list;
    // SAFETY: the list is valid until it is freed below, its last member's `ifa_next` is null.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: the name is a string that ends with 0; an address is null or valid.
        let (this, address) = unsafe { (CStr::from_ptr(entry.ifa_name), entry.ifa_addr.as_ref()) };
        if this.to_bytes() == name.as_bytes()
            && let Some(address) = address
        {
            let address = std::ptr::from_ref(address);
            // SAFETY: the family says which address it is.
            found = found.or_else(|| unsafe { shown(address) });
        }
        next = entry.ifa_next;
    }
    // SAFETY: it is the list that the call made, and nothing refers to it any more.
    unsafe { libc::freeifaddrs(list) };
    found
}

/// An IP address as text.
///
/// # Safety
/// `address` is valid, and of the type that its family says.
unsafe fn shown(address: *const libc::sockaddr) -> Option<String> {
    // SAFETY: every address begins with its family.
    match libc::c_int::from(unsafe { (*address).sa_family }) {
        libc::AF_INET => {
            // SAFETY: the family says so; it need not be aligned for it.
            let address = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            let bytes = address.sin_addr.s_addr.to_ne_bytes();
            Some(std::net::Ipv4Addr::from(bytes).to_string())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let address = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(std::net::Ipv6Addr::from(address.sin6_addr.s6_addr).to_string())
        }
        _ => None,
    }
}

/// Whether a default route leads through the interface.
fn default_route(name: &str) -> bool {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    // Iface Destination Gateway Flags RefCnt Use Metric Mask ...
    let v4 = read("/proc/self/net/route").lines().any(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let column = |at: usize| columns.get(at).copied();
        column(0) == Some(name) && column(1) == Some("00000000") && column(7) == Some("00000000")
    });
    // Destination, its prefix length, ..., the interface last.
    v4 || read("/proc/self/net/ipv6_route").lines().any(|line| {
        line.starts_with("00000000000000000000000000000000 00 ")
            && line.split_whitespace().last() == Some(name)
    })
}
