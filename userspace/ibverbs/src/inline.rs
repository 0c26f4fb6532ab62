//! What the header defines: calls through the tables of a device's driver.

use super::library::_ibv_query_gid_table;
use super::types::*;
use libc::c_int;
use std::mem::offset_of;
use std::ptr::{NonNull, null, null_mut};

/// The part of a device's context that is before it; `None` where the driver has none, or one that is too short for the
/// field at `offset`.
///
/// # Safety
/// The context is open.
unsafe fn extended(context: *mut ibv_context, offset: usize) -> Option<NonNull<verbs_context>> {
    // SAFETY: by the caller. This value marks contexts that have such a part, which ends with the context.
    unsafe {
        if (*context).abi_compat.addr() != usize::MAX {
            return None;
        }
        let start = context
            .byte_sub(offset_of!(verbs_context, context))
            .cast::<verbs_context>();
        // Its size is right before the context. Older ones begin later.
        let size = (&raw const (*start).sz).read();
        (size >= size_of::<verbs_context>() - offset).then(|| NonNull::new(start))?
    }
}

/// Fills GIDs of all ports, at most `most`; returns their number or a negative `errno`.
///
/// # Safety
/// The context is open, and there is room for `most` entries.
pub unsafe fn ibv_query_gid_table(
    context: *mut ibv_context,
    entries: *mut ibv_gid_entry,
    most: usize,
    flags: u32,
) -> isize {
    // SAFETY: by the caller.
    unsafe { _ibv_query_gid_table(context, entries, most, flags, size_of::<ibv_gid_entry>()) }
}

/// The state of a port, from 1. Returns 0 or an `errno`.
///
/// # Safety
/// The context is open.
pub unsafe fn ibv_query_port(context: *mut ibv_context, port: u8, attributes: *mut ibv_port_attr) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        let extended = extended(context, offset_of!(verbs_context, query_port));
        match extended.and_then(|extended| (*extended.as_ptr()).query_port) {
            Some(query) => query(context, port, attributes, size_of::<ibv_port_attr>()),
            None => libc::EOPNOTSUPP,
        }
    }
}

/// The attributes of a device. Returns 0 or an `errno`.
///
/// # Safety
/// The context is open.
pub unsafe fn ibv_query_device_ex(context: *mut ibv_context, attributes: *mut ibv_device_attr_ex) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        let extended = extended(context, offset_of!(verbs_context, query_device_ex));
        match extended.and_then(|extended| (*extended.as_ptr()).query_device_ex) {
            Some(query) => query(context, null(), attributes, size_of::<ibv_device_attr_ex>()),
            None => libc::EOPNOTSUPP,
        }
    }
}

/// A completion queue with timestamps; null, with `errno`, if there is none.
///
/// # Safety
/// The context is open, and so is what the attributes name.
pub unsafe fn ibv_create_cq_ex(context: *mut ibv_context, attributes: *mut ibv_cq_init_attr_ex) -> *mut ibv_cq_ex {
    // SAFETY: by the caller; the place of `errno` of this thread.
    unsafe {
        let extended = extended(context, offset_of!(verbs_context, create_cq_ex));
        match extended.and_then(|extended| (*extended.as_ptr()).create_cq_ex) {
            Some(create) => create(context, attributes),
            None => {
                *libc::__errno_location() = libc::EOPNOTSUPP;
                null_mut()
            }
        }
    }
}

/// Steers frames of a port to a queue pair; null, with `errno`, if the device or the process may not.
///
/// # Safety
/// The queue pair is open.
pub unsafe fn ibv_create_flow(qp: *mut ibv_qp, attributes: *mut ibv_flow_attr) -> *mut ibv_flow {
    // SAFETY: by the caller; the place of `errno` of this thread.
    unsafe {
        let extended = extended((*qp).context, offset_of!(verbs_context, ibv_create_flow));
        match extended.and_then(|extended| (*extended.as_ptr()).ibv_create_flow) {
            Some(create) => create(qp, attributes),
            None => {
                *libc::__errno_location() = libc::EOPNOTSUPP;
                null_mut()
            }
        }
    }
}

/// Ends a flow. Returns 0 or an `errno`.
///
/// # Safety
/// The flow is open.
pub unsafe fn ibv_destroy_flow(flow: *mut ibv_flow) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        let extended = extended((*flow).context, offset_of!(verbs_context, ibv_destroy_flow));
        match extended.and_then(|extended| (*extended.as_ptr()).ibv_destroy_flow) {
            Some(destroy) => destroy(flow),
            None => libc::EOPNOTSUPP,
        }
    }
}

macro_rules! through_table {
    ($($(#[$doc:meta])* fn $name:ident($first:ident: $of:ty $(, $argument:ident: $type:ty)*) -> $result:ty, $($field:ident).+ or $missing:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// What the pointers name is open.
            pub unsafe fn $name($first: $of $(, $argument: $type)*) -> $result {
                // SAFETY: by the caller.
                unsafe {
                    match (*$first).$($field).+ {
                        Some(call) => call($first $(, $argument)*),
                        None => $missing,
                    }
                }
            }
        )*
    };
}

through_table! {
    /// Begins to read completions; `ENOENT` if there is none.
    fn ibv_start_poll(cq: *mut ibv_cq_ex, attributes: *mut ibv_poll_cq_attr) -> c_int, start_poll or libc::EOPNOTSUPP;
    /// The next completion; `ENOENT` if there is none.
    fn ibv_next_poll(cq: *mut ibv_cq_ex) -> c_int, next_poll or libc::EOPNOTSUPP;
    /// Ends reading completions.
    fn ibv_end_poll(cq: *mut ibv_cq_ex) -> (), end_poll or ();
    /// The length of the receive that is being read, in bytes.
    fn ibv_wc_read_byte_len(cq: *mut ibv_cq_ex) -> u32, read_byte_len or 0;
    /// The timestamp of the completion that is being read, in ticks of the device's clock.
    fn ibv_wc_read_completion_ts(cq: *mut ibv_cq_ex) -> u64, read_completion_ts or 0;
    /// The timestamp of the completion that is being read, in nanoseconds since 1970.
    fn ibv_wc_read_completion_wallclock_ns(cq: *mut ibv_cq_ex) -> u64, read_completion_wallclock_ns or 0;
}

macro_rules! through_context {
    ($($(#[$doc:meta])* fn $name:ident($first:ident: $of:ty, $($argument:ident: $type:ty),*), $field:ident or $missing:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// What the pointers name is open.
            pub unsafe fn $name($first: $of, $($argument: $type),*) -> c_int {
                // SAFETY: by the caller.
                unsafe {
                    match (*(*$first).context).ops.$field {
                        Some(call) => call($first, $($argument),*),
                        None => $missing,
                    }
                }
            }
        )*
    };
}

through_context! {
    /// Reads at most `most` completions; returns their number, or a negative value.
    fn ibv_poll_cq(cq: *mut ibv_cq, most: c_int, completions: *mut ibv_wc), poll_cq or -1;
    /// Requests an event for the next completion.
    fn ibv_req_notify_cq(cq: *mut ibv_cq, solicited_only: c_int), req_notify_cq or libc::EOPNOTSUPP;
    /// Posts sends; the first that is refused goes to `bad`.
    fn ibv_post_send(qp: *mut ibv_qp, requests: *mut ibv_send_wr, bad: *mut *mut ibv_send_wr), post_send or libc::EOPNOTSUPP;
    /// Posts receives; the first that is refused goes to `bad`.
    fn ibv_post_recv(qp: *mut ibv_qp, requests: *mut ibv_recv_wr, bad: *mut *mut ibv_recv_wr), post_recv or libc::EOPNOTSUPP;
}
