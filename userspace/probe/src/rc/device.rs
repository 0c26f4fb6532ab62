//! A port of an RDMA device.

use super::{Error, check};
use crate::backend;
use crate::backend::verbs::port::{Gid, devices, gid_of, is_of, rank};
use crate::types::Nic;
use rocescope_ibverbs::{self as ib, OpenDevice};
use std::mem::zeroed;
use std::ptr::NonNull;
use std::sync::Arc;

/// An open port with a RoCEv2 GID, and its protection domain. Clones share both.
#[derive(Clone, Debug)]
pub struct Device {
    open: Arc<Open>,
}

#[derive(Debug)]
struct Open {
    name: String,
    context: NonNull<ib::ibv_context>,
    domain: NonNull<ib::ibv_pd>,
    port: u8,
    gid: Gid,
    gid_index: u8,
    mtu: u32,
}

// SAFETY: libibverbs is thread-safe.
unsafe impl Send for Open {}
// SAFETY: as above.
unsafe impl Sync for Open {}

impl Device {
    /// The names of the RDMA devices that open, such as `mlx5_0`.
    ///
    /// # Errors
    /// libibverbs does not load, or the kernel has no RDMA.
    pub fn names() -> Result<Vec<String>, Error> {
        let found = devices(&mut String::new())?;
        Ok(found.iter().map(|found| found.name.clone()).collect())
    }

    /// Opens a port (from 1) of the device with this name. Of its RoCEv2 GIDs it uses one of an IPv4 address if there
    /// is one.
    ///
    /// # Errors
    /// libibverbs does not load, there is no such device, its port has no RoCEv2 GID, or it does not open.
    pub fn open(name: &str, port: u8) -> Result<Self, Error> {
        let mut refused = String::new();
        let found = devices(&mut refused)?;
        let found = found.into_iter().find(|found| found.name == name);
        let found = found.ok_or_else(|| nic(name, format!("no RDMA device of this name opens{refused}")))?;
        let entries = found.gids.iter();
        let of_port = entries.filter(|entry| entry.port_num == u32::from(port));
        let best = of_port.filter_map(|entry| Some((rank(entry)?, *entry)));
        let best = best.min_by_key(|(rank, _)| *rank);
        let (_, entry) = best.ok_or_else(|| nic(name, format!("port {port} has no RoCEv2 GID")))?;
        Self::with(found, &entry)
    }

    /// Opens the port of a NIC, which comes with its interface index, with the GID of its address.
    ///
    /// # Errors
    /// libibverbs does not load, the NIC has no RDMA device, or that does not open.
    pub fn of_nic(its: &Nic, interface: u32) -> Result<Self, Error> {
        let mut refused = String::new();
        let gid = gid_of(its.address);
        for found in devices(&mut refused)? {
            let entry = found.gids.iter().find(|entry| is_of(entry, &gid, interface));
            if let Some(entry) = entry.copied() {
                return Self::with(found, &entry);
            }
        }
        let why = format!("no RDMA device has a RoCEv2 GID of {} on it{refused}", its.address);
        Err(nic(&its.name, why))
    }

    fn with(found: OpenDevice, entry: &ib::ibv_gid_entry) -> Result<Self, Error> {
        const WHAT: &str = "an entry of the GID table";
        let port = u8::try_from(entry.port_num).map_err(|_| Error::errno(WHAT, libc::ERANGE))?;
        let gid_index = u8::try_from(entry.gid_index).map_err(|_| Error::errno(WHAT, libc::ERANGE))?;
        let mtu = mtu(&found, port)?;
        // SAFETY: the device is open.
        let domain = NonNull::new(unsafe { ib::ibv_alloc_pd(found.context.as_ptr()) });
        let domain = domain.ok_or_else(|| Error::last("a protection domain"))?;
        let name = found.name.clone();
        Ok(Self {
            open: Arc::new(Open {
                name,
                context: found.keep(),
                domain,
                port,
                // SAFETY: both variants of the union are 16 bytes, and every value is valid.
                gid: unsafe { entry.gid.raw },
                gid_index,
                mtu,
            }),
        })
    }

    /// Its name, such as `mlx5_0`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.open.name
    }

    /// The port, from 1.
    #[must_use]
    pub fn port(&self) -> u8 {
        self.open.port
    }

    /// The GID: an IPv6 address, or an IPv4 address mapped into one.
    #[must_use]
    pub fn gid(&self) -> [u8; 16] {
        self.open.gid
    }

    /// The active MTU of the port in bytes of payload: 256 to 4096.
    #[must_use]
    pub fn mtu(&self) -> u32 {
        self.open.mtu
    }

    pub(super) fn gid_index(&self) -> u8 {
        self.open.gid_index
    }

    pub(super) fn context(&self) -> NonNull<ib::ibv_context> {
        self.open.context
    }

    pub(super) fn domain(&self) -> *mut ib::ibv_pd {
        self.open.domain.as_ptr()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: both are open, and what used them is closed. The results of closing do not matter.
        unsafe {
            ib::ibv_dealloc_pd(self.domain.as_ptr());
            ib::ibv_close_device(self.context.as_ptr());
        }
    }
}

fn nic(name: &str, why: String) -> Error {
    Error::Setup(backend::Error::Nic {
        nic: name.to_owned(),
        why,
    })
}

/// The active MTU of a port in bytes.
fn mtu(found: &OpenDevice, port: u8) -> Result<u32, Error> {
    // SAFETY: a structure of numbers, for which all zeros is valid; the device is open, and the call fills it.
    let attributes = unsafe {
        let mut attributes: ib::ibv_port_attr = zeroed();
        let answer = ib::ibv_query_port(found.context.as_ptr(), port, &raw mut attributes);
        check("the state of a port", answer)?;
        attributes
    };
    // 1 is 256 bytes, and each next one twice as many, up to 4096.
    Ok(128 << attributes.active_mtu.clamp(1, 5))
}
