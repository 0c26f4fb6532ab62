//! Memory that is registered with a device.

use super::{Device, Error, Memory};
use rocescope_ibverbs as ib;
use std::ops::Range;
use std::ptr::NonNull;

/// What a peer needs to know to WRITE to memory, or to READ it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The address of the first byte, in the process of the peer.
    pub address: u64,
    /// The remote key.
    pub key: u32,
}

impl Window {
    /// The window without its first bytes.
    #[must_use]
    pub const fn skip(self, bytes: u64) -> Self {
        Self {
            address: self.address.wrapping_add(bytes),
            ..self
        }
    }
}

/// Registered memory: operations of this device read and write it, and so may peers that know its [`Window`].
#[derive(Debug)]
pub struct Region {
    region: NonNull<ib::ibv_mr>,
    /// `None` once the device may still use it although nothing else does.
    memory: Option<Memory>,
    /// Closed after the region.
    _device: Device,
}

// SAFETY: libibverbs is thread-safe.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Registers memory with a device, which pins its pages.
    ///
    /// # Errors
    /// The process may not lock as much memory.
    pub fn register(device: &Device, memory: Memory) -> Result<Self, Error> {
        let access = ib::IBV_ACCESS_LOCAL_WRITE | ib::IBV_ACCESS_REMOTE_WRITE | ib::IBV_ACCESS_REMOTE_READ;
        // SAFETY: the domain is open, and the pages stay until the region is closed.
        let region = unsafe { ib::ibv_reg_mr(device.domain(), memory.as_ptr(), memory.bytes(), access) };
        let region = NonNull::new(region);
        Ok(Self {
            region: region.ok_or_else(|| Error::last("a memory region (`ulimit -l` bounds its size)"))?,
            memory: Some(memory),
            _device: device.clone(),
        })
    }

    /// What a peer needs to know.
    #[must_use]
    pub fn window(&self) -> Window {
        // SAFETY: the region is open, and its key does not change.
        let key = unsafe { self.region.as_ref() }.rkey;
        Window {
            address: self.memory.as_ref().map_or(0, Memory::start),
            key,
        }
    }

    /// Its size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, Memory::bytes)
    }

    /// Writes bytes into the memory; those beyond its end are left out.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        if let Some(memory) = &self.memory {
            memory.write(at, bytes);
        }
    }

    /// Reads bytes of the memory; those beyond its end stay as they are.
    pub fn read(&self, at: usize, into: &mut [u8]) {
        if let Some(memory) = &self.memory {
            memory.read(at, into);
        }
    }

    /// Describes a part to the device.
    pub(super) fn part(&self, range: &Range<usize>) -> Result<ib::ibv_sge, Error> {
        let bytes = self.bytes();
        let length = u32::try_from(range.len());
        match length {
            Ok(length) if range.start <= range.end && range.end <= bytes => Ok(ib::ibv_sge {
                addr: self.window().skip(range.start as u64).address,
                length,
                // SAFETY: as in `window`.
                lkey: unsafe { self.region.as_ref() }.lkey,
            }),
            _ => Err(Error::Outside {
                start: range.start,
                end: range.end,
                bytes,
            }),
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: it is open; requests in flight fail.
        let answer = unsafe { ib::ibv_dereg_mr(self.region.as_ptr()) };
        if answer != 0 {
            // The device may still write to these pages, so no one else gets them.
            std::mem::forget(self.memory.take());
        }
    }
}
