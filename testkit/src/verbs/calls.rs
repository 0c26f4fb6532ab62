//! The libibverbs calls for devices and completions, on the test double.

use super::double::{Cq, Double, KILOHERTZ, NAMES, NICS, Stamps, fail, gid, leak, with};
use super::queue_pairs::{post_recv, post_send};
use super::sniffer::{create_flow, destroy_flow};
use rocescope_ibverbs as ib;
use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_void};

/// Returns the device of a context.
pub(super) fn device_of(double: &Double, context: *mut ib::ibv_context) -> usize {
    double.contexts[&context.addr()]
}

pub(super) unsafe extern "C" fn ibv_get_device_list(count: *mut c_int) -> *mut *mut ib::ibv_device {
    if let Some(errno) = with(|double| double.no_list) {
        return fail(errno);
    }
    let device = |name: &std::ffi::CStr| {
        leak(|device: &mut ib::ibv_device| {
            for (to, from) in device.name.iter_mut().zip(name.to_bytes()) {
                *to = *from as c_char;
            }
        })
    };
    // SAFETY: the caller passes a number to write.
    unsafe { *count = NAMES.len() as c_int };
    leak::<[*mut ib::ibv_device; 3]>(|list| {
        list[0] = device(NAMES[0]);
        list[1] = device(NAMES[1]);
    })
    .cast()
}

pub(super) const unsafe extern "C" fn ibv_free_device_list(_: *mut *mut ib::ibv_device) {}

pub(super) unsafe extern "C" fn ibv_get_device_name(device: *mut ib::ibv_device) -> *const c_char {
    // SAFETY: it is a device of the list.
    unsafe { (*device).name.as_ptr() }
}

pub(super) unsafe extern "C" fn ibv_open_device(device: *mut ib::ibv_device) -> *mut ib::ibv_context {
    // SAFETY: it is a device of the list.
    let number = unsafe { (*device).name[5] } as u8 - b'0';
    let number = usize::from(number);
    if with(|double| double.closed == Some(number)) {
        return fail(libc::EACCES);
    }
    let verbs = leak(|verbs: &mut ib::verbs_context| {
        verbs.sz = size_of::<ib::verbs_context>();
        verbs.create_cq_ex = Some(create_cq_ex);
        verbs.query_device_ex = Some(query_device_ex);
        verbs.query_port = Some(query_port);
        verbs.ibv_create_flow = Some(create_flow);
        verbs.ibv_destroy_flow = Some(destroy_flow);
        verbs.context.abi_compat = std::ptr::without_provenance_mut(usize::MAX);
        verbs.context.ops.poll_cq = Some(poll_cq);
        verbs.context.ops.req_notify_cq = Some(req_notify_cq);
        verbs.context.ops.post_send = Some(post_send);
        verbs.context.ops.post_recv = Some(post_recv);
    });
    // SAFETY: it was just created.
    let context = unsafe { &raw mut (*verbs).context };
    with(|double| {
        double.contexts.insert(context.addr(), number);
        double.open += 1;
    });
    context
}

pub(super) unsafe extern "C" fn ibv_close_device(_: *mut ib::ibv_context) -> c_int {
    with(|double| double.open -= 1);
    0
}

/// The first device has an MTU of 4096 bytes, the second of 1024.
unsafe extern "C" fn query_port(
    context: *mut ib::ibv_context,
    _: u8,
    attributes: *mut ib::ibv_port_attr,
    _: usize,
) -> c_int {
    let device = with(|double| device_of(double, context));
    // SAFETY: the caller passes attributes to fill.
    unsafe { (*attributes).active_mtu = [5, 3][device] };
    0
}

pub(super) const unsafe extern "C" fn ibv_wc_status_str(status: ib::ibv_wc_status) -> *const c_char {
    match status {
        ib::IBV_WC_RETRY_EXC_ERR => c"transport retry counter exceeded".as_ptr(),
        _ => c"another error".as_ptr(),
    }
}

/// For each port: the NIC's address as RoCE v1, as RoCE v2 on another interface, and as the wanted entry.
pub(super) unsafe extern "C" fn _ibv_query_gid_table(
    context: *mut ib::ibv_context,
    entries: *mut ib::ibv_gid_entry,
    most: usize,
    _: u32,
    _: usize,
) -> isize {
    let (device, instead) = with(|double| (device_of(double, context), double.interface));
    let mut count = 0;
    for (nic, (its, port, interface)) in NICS.into_iter().enumerate() {
        let interface = instead.unwrap_or(interface);
        for (index, (kind, interface)) in [(1, interface), (2, 99), (2, interface)].into_iter().enumerate() {
            if its == device && count < most {
                // SAFETY: the caller has room for this number.
                unsafe {
                    *entries.add(count) = ib::ibv_gid_entry {
                        gid: ib::ibv_gid { raw: gid(nic) },
                        gid_index: index as u32,
                        port_num: port,
                        gid_type: kind,
                        ndev_ifindex: interface,
                    };
                }
                count += 1;
            }
        }
    }
    count as isize
}

unsafe extern "C" fn query_device_ex(
    _: *mut ib::ibv_context,
    _: *const c_void,
    attributes: *mut ib::ibv_device_attr_ex,
    _: usize,
) -> c_int {
    // SAFETY: the caller passes attributes to fill.
    unsafe { (*attributes).hca_core_clock = KILOHERTZ };
    0
}

pub(super) unsafe extern "C" fn ibv_create_comp_channel(context: *mut ib::ibv_context) -> *mut ib::ibv_comp_channel {
    // SAFETY: two numbers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    with(|double| double.open += 1);
    leak(|channel: &mut ib::ibv_comp_channel| {
        channel.context = context;
        channel.fd = fd;
    })
}

pub(super) unsafe extern "C" fn ibv_destroy_comp_channel(channel: *mut ib::ibv_comp_channel) -> c_int {
    with(|double| double.open -= 1);
    // SAFETY: a channel that was created above.
    unsafe { libc::close((*channel).fd) }
}

fn cq(context: *mut ib::ibv_context, channel: *mut ib::ibv_comp_channel, wall_clock: bool) -> usize {
    let made = leak(|cq: &mut ib::ibv_cq_ex| {
        cq.cq.context = context;
        cq.cq.channel = channel;
        cq.start_poll = Some(start_poll);
        cq.next_poll = Some(next_poll);
        cq.end_poll = Some(end_poll);
        cq.read_byte_len = Some(read_byte_len);
        cq.read_completion_ts = Some(read_stamp);
        cq.read_completion_wallclock_ns = Some(read_stamp);
    });
    let cq = Cq {
        wall_clock,
        // SAFETY: a channel that was created above.
        event: unsafe { (*channel).fd },
        armed: false,
        waiting: VecDeque::new(),
        reading: None,
    };
    with(|double| double.cqs.insert(made.expose_provenance(), cq));
    made.addr()
}

unsafe extern "C" fn create_cq_ex(
    context: *mut ib::ibv_context,
    attributes: *mut ib::ibv_cq_init_attr_ex,
) -> *mut ib::ibv_cq_ex {
    // SAFETY: the caller passes attributes.
    let attributes = unsafe { &*attributes };
    let wall = ib::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    let ticks = ib::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    let stamps = with(|double| double.stamps[device_of(double, context)]);
    let allowed = match stamps {
        Stamps::WallClock => wall | ticks | ib::IBV_WC_EX_WITH_BYTE_LEN,
        Stamps::Ticks => ticks | ib::IBV_WC_EX_WITH_BYTE_LEN,
        Stamps::Unsupported => 0,
    };
    if attributes.wc_flags & !allowed != 0 {
        return fail(libc::EOPNOTSUPP);
    }
    let made = cq(context, attributes.channel, attributes.wc_flags & wall != 0);
    std::ptr::with_exposed_provenance_mut(made)
}

pub(super) unsafe extern "C" fn ibv_create_cq(
    context: *mut ib::ibv_context,
    _: c_int,
    _: *mut c_void,
    channel: *mut ib::ibv_comp_channel,
    _: c_int,
) -> *mut ib::ibv_cq {
    std::ptr::with_exposed_provenance_mut(cq(context, channel, false))
}

pub(super) unsafe extern "C" fn ibv_destroy_cq(cq: *mut ib::ibv_cq) -> c_int {
    with(|double| double.cqs.remove(&cq.addr()));
    0
}

pub(super) unsafe extern "C" fn ibv_get_cq_event(
    channel: *mut ib::ibv_comp_channel,
    cq: *mut *mut ib::ibv_cq,
    _: *mut *mut c_void,
) -> c_int {
    let mut count = 0u64;
    // SAFETY: a channel that was created above, and eight bytes; the caller passes a pointer to fill.
    unsafe {
        assert_eq!(libc::read((*channel).fd, (&raw mut count).cast(), 8), 8);
        let fd = (*channel).fd;
        let found = with(|double| {
            let mut cqs = double.cqs.iter();
            cqs.find(|(_, cq)| cq.event == fd).map(|(at, _)| *at)
        });
        *cq = std::ptr::with_exposed_provenance_mut(found.unwrap());
    }
    0
}

pub(super) const unsafe extern "C" fn ibv_ack_cq_events(_: *mut ib::ibv_cq, _: u32) {}

unsafe extern "C" fn req_notify_cq(cq: *mut ib::ibv_cq, _: c_int) -> c_int {
    with(|double| double.cqs.get_mut(&cq.addr()).unwrap().armed = true);
    0
}

unsafe extern "C" fn poll_cq(cq: *mut ib::ibv_cq, most: c_int, found: *mut ib::ibv_wc) -> c_int {
    with(|double| {
        let waiting = &mut double.cqs.get_mut(&cq.addr()).unwrap().waiting;
        let count = waiting.len().min(most as usize);
        for (at, completion) in waiting.drain(..count).enumerate() {
            // SAFETY: the caller has room for this number.
            let to = unsafe { &mut *found.add(at) };
            (to.wr_id, to.status) = (completion.number, completion.status);
            to.byte_len = completion.bytes;
        }
        count as c_int
    })
}

unsafe extern "C" fn start_poll(cq: *mut ib::ibv_cq_ex, _: *mut ib::ibv_poll_cq_attr) -> c_int {
    // SAFETY: the same as for the caller.
    unsafe { next_poll(cq) }
}

unsafe extern "C" fn next_poll(cq: *mut ib::ibv_cq_ex) -> c_int {
    with(|double| {
        let of = double.cqs.get_mut(&cq.addr()).unwrap();
        of.reading = of.waiting.pop_front();
        let Some(completion) = &of.reading else {
            return libc::ENOENT;
        };
        // SAFETY: a queue that was created above.
        unsafe {
            (*cq).wr_id = completion.number;
            (*cq).status = completion.status;
        }
        0
    })
}

unsafe extern "C" fn end_poll(cq: *mut ib::ibv_cq_ex) {
    with(|double| double.cqs.get_mut(&cq.addr()).unwrap().reading = None);
}

unsafe extern "C" fn read_byte_len(cq: *mut ib::ibv_cq_ex) -> u32 {
    with(|double| double.cqs[&cq.addr()].reading.as_ref().unwrap().bytes)
}

/// Nanoseconds or ticks, depending on the queue.
unsafe extern "C" fn read_stamp(cq: *mut ib::ibv_cq_ex) -> u64 {
    with(|double| {
        let of = &double.cqs[&cq.addr()];
        let completion = of.reading.as_ref().unwrap();
        assert_eq!(completion.status, ib::IBV_WC_SUCCESS);
        let nanos = completion.nanos as u128;
        if of.wall_clock {
            nanos as u64
        } else {
            (nanos * u128::from(KILOHERTZ) / 1_000_000) as u64
        }
    })
}
