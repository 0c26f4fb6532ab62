//! The RDMA devices of this host, opened, with the GIDs of their ports.

use crate as ib;
use crate::error::Error;
use std::ffi::CStr;
use std::io;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// The maximum number of GIDs that are read per device: two ports have 256 each.
const GIDS: usize = 512;

/// The type of RoCEv2 entries in a GID table (`IBV_GID_TYPE_ROCE_V2`).
pub const GID_TYPE_ROCE_V2: u32 = 2;

/// An open device; it closes when it is dropped.
pub struct OpenDevice {
    /// Its name, such as `mlx5_0`.
    pub name: String,
    /// What calls of the library name it by.
    pub context: NonNull<ib::ibv_context>,
    /// The GIDs of all its ports.
    pub gids: Vec<ib::ibv_gid_entry>,
}

impl std::fmt::Debug for OpenDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenDevice")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

// SAFETY: libibverbs is thread-safe.
unsafe impl Send for OpenDevice {}
// SAFETY: as above.
unsafe impl Sync for OpenDevice {}

impl OpenDevice {
    /// Leaves it open until the process ends.
    pub fn keep(self) -> NonNull<ib::ibv_context> {
        let mut device = ManuallyDrop::new(self);
        // What else it owns.
        drop((std::mem::take(&mut device.name), std::mem::take(&mut device.gids)));
        device.context
    }
}

impl Drop for OpenDevice {
    fn drop(&mut self) {
        // SAFETY: it is open, and nothing uses it. The result of closing does not matter.
        unsafe { ib::ibv_close_device(self.context.as_ptr()) };
    }
}

/// Why there is no list of devices.
fn none() -> Error {
    let source = io::Error::last_os_error();
    if let Some(why) = ib::missing() {
        return Error {
            what: "RDMA devices: libibverbs.so.1 (of rdma-core) does not load",
            source: io::Error::other(why),
        };
    }
    let what = match source.raw_os_error() {
        Some(libc::ENOSYS) => "RDMA devices: the kernel has none (`modprobe ib_uverbs`)",
        _ => "RDMA devices",
    };
    Error { what, source }
}

/// Opens every device that opens; appends the errors of the others to `refused`, as `; NAME: ERROR`.
///
/// # Errors
/// The library does not load, or the kernel has no RDMA.
pub fn devices(refused: &mut String) -> Result<Vec<OpenDevice>, Error> {
    devices_named(|_| true, refused)
}

/// The same for devices of some names.
///
/// # Errors
/// The library does not load, or the kernel has no RDMA.
pub fn devices_named(is_wanted: impl Fn(&str) -> bool, refused: &mut String) -> Result<Vec<OpenDevice>, Error> {
    let mut count = 0;
    let mut devices = Vec::new();
    // SAFETY: the list holds `count` devices, valid until the list is freed; an open device stays valid.
    unsafe {
        let list = ib::ibv_get_device_list(&raw mut count);
        if list.is_null() {
            return Err(none());
        }
        for at in 0..usize::try_from(count).unwrap_or(0) {
            let device = *list.add(at);
            let name = CStr::from_ptr(ib::ibv_get_device_name(device)).to_string_lossy();
            if !is_wanted(&name) {
                continue;
            }
            let opened = NonNull::new(ib::ibv_open_device(device));
            let opened = opened.ok_or_else(io::Error::last_os_error).and_then(|context| {
                let mut device = OpenDevice {
                    name: name.to_string(),
                    context,
                    gids: Vec::new(),
                };
                device.gids = gids(context)?;
                Ok(device)
            });
            match opened {
                Ok(device) => devices.push(device),
                Err(error) => *refused += &format!("; {name}: {error}"),
            }
        }
        ib::ibv_free_device_list(list);
    }
    Ok(devices)
}

fn gids(context: NonNull<ib::ibv_context>) -> io::Result<Vec<ib::ibv_gid_entry>> {
    // SAFETY: a structure of numbers, for which all zeros is valid.
    let mut entries = vec![unsafe { std::mem::zeroed::<ib::ibv_gid_entry>() }; GIDS];
    // SAFETY: the device is open, and the call fills no more than the given number of entries.
    let found = unsafe { ib::ibv_query_gid_table(context.as_ptr(), entries.as_mut_ptr(), GIDS, 0) };
    let Ok(found) = usize::try_from(found) else {
        return Err(io::Error::from_raw_os_error(found.unsigned_abs() as i32));
    };
    entries.truncate(found);
    Ok(entries)
}
