//! What the library exports.

use super::types::*;
use libc::{c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

const NAME: &str = "libibverbs.so.1";

static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();

/// What a function answers if the library did not load, as its manual page has it for an error; `errno` is `EOPNOTSUPP`.
trait Missing {
    fn missing() -> Self;
}

impl<T> Missing for *mut T {
    fn missing() -> Self {
        null_mut()
    }
}

impl Missing for *const c_char {
    fn missing() -> Self {
        c"libibverbs does not load".as_ptr()
    }
}

impl Missing for c_int {
    fn missing() -> Self {
        libc::EOPNOTSUPP
    }
}

impl Missing for isize {
    fn missing() -> Self {
        -(libc::EOPNOTSUPP as Self)
    }
}

impl Missing for () {
    fn missing() -> Self {}
}

macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// The functions of a library, or of a double of it in a test.
        #[derive(Clone, Copy, Debug)]
        pub struct Library {
            $(
                $(#[$doc])*
                pub $name: unsafe extern "C" fn($($type),*) -> $result,
            )*
        }

        impl Library {
            fn load() -> Result<Self, String> {
                // SAFETY: the constructors of the library have no precondition.
                let file = unsafe { libloading::Library::new(NAME) }.map_err(|error| error.to_string())?;
                let library = Self {
                    $(
                        // SAFETY: this is the type of that name since the first version of the ABI.
                        $name: unsafe {
                            *file.get(concat!(stringify!($name), "\0").as_bytes()).map_err(|error| error.to_string())?
                        },
                    )*
                };
                // Its functions are called until the process ends.
                std::mem::forget(file);
                Ok(library)
            }
        }

        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// As its manual page states.
            pub unsafe fn $name($($argument: $type),*) -> $result {
                match LIBRARY.get_or_init(Library::load) {
                    // SAFETY: by the caller.
                    Ok(library) => unsafe { (library.$name)($($argument),*) },
                    Err(_) => {
                        // SAFETY: the place of `errno` of this thread.
                        unsafe { *libc::__errno_location() = libc::EOPNOTSUPP };
                        Missing::missing()
                    }
                }
            }
        )*
    };
}

functions! {
    /// All devices; their number goes to `count`.
    fn ibv_get_device_list(count: *mut c_int) -> *mut *mut ibv_device;
    /// Frees a list; devices that are open stay.
    fn ibv_free_device_list(list: *mut *mut ibv_device) -> ();
    /// The name of a device, such as `mlx5_0`.
    fn ibv_get_device_name(device: *mut ibv_device) -> *const c_char;
    /// Opens a device.
    fn ibv_open_device(device: *mut ibv_device) -> *mut ibv_context;
    /// Closes a device.
    fn ibv_close_device(context: *mut ibv_context) -> c_int;
    /// GIDs of all ports with type and interface; use [`ibv_query_gid_table`](super::ibv_query_gid_table).
    fn _ibv_query_gid_table(context: *mut ibv_context, entries: *mut ibv_gid_entry, most: usize, flags: u32, size: usize) -> isize;
    /// A channel for completion events.
    fn ibv_create_comp_channel(context: *mut ibv_context) -> *mut ibv_comp_channel;
    /// Closes a channel.
    fn ibv_destroy_comp_channel(channel: *mut ibv_comp_channel) -> c_int;
    /// A completion queue.
    fn ibv_create_cq(context: *mut ibv_context, depth: c_int, cq_context: *mut c_void, channel: *mut ibv_comp_channel, vector: c_int) -> *mut ibv_cq;
    /// Closes a completion queue, extended ones too.
    fn ibv_destroy_cq(cq: *mut ibv_cq) -> c_int;
    /// Waits for a completion event.
    fn ibv_get_cq_event(channel: *mut ibv_comp_channel, cq: *mut *mut ibv_cq, cq_context: *mut *mut c_void) -> c_int;
    /// Acknowledges completion events.
    fn ibv_ack_cq_events(cq: *mut ibv_cq, count: libc::c_uint) -> ();
    /// A protection domain.
    fn ibv_alloc_pd(context: *mut ibv_context) -> *mut ibv_pd;
    /// Closes a protection domain.
    fn ibv_dealloc_pd(pd: *mut ibv_pd) -> c_int;
    /// Registers memory.
    fn ibv_reg_mr(pd: *mut ibv_pd, address: *mut c_void, length: usize, access: c_int) -> *mut ibv_mr;
    /// Gives registered memory back.
    fn ibv_dereg_mr(region: *mut ibv_mr) -> c_int;
    /// A queue pair.
    fn ibv_create_qp(pd: *mut ibv_pd, attributes: *mut ibv_qp_init_attr) -> *mut ibv_qp;
    /// Moves a queue pair to another state.
    fn ibv_modify_qp(qp: *mut ibv_qp, attributes: *mut ibv_qp_attr, mask: c_int) -> c_int;
    /// Closes a queue pair.
    fn ibv_destroy_qp(qp: *mut ibv_qp) -> c_int;
    /// An address handle: a destination of datagrams.
    fn ibv_create_ah(pd: *mut ibv_pd, attributes: *mut ibv_ah_attr) -> *mut ibv_ah;
    /// Closes an address handle.
    fn ibv_destroy_ah(handle: *mut ibv_ah) -> c_int;
    /// The meaning of the status of a completion.
    fn ibv_wc_status_str(status: ibv_wc_status) -> *const c_char;
}

/// Why the library did not load; `None` if it did.
#[must_use]
pub fn missing() -> Option<&'static str> {
    LIBRARY.get_or_init(Library::load).as_ref().err().map(String::as_str)
}

/// Makes these functions the library of this process, for a test double. The first library stays: returns whether this one
/// became it.
pub fn provide(library: Library) -> bool {
    LIBRARY.set(Ok(library)).is_ok()
}
