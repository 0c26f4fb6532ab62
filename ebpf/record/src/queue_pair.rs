//! Queue pairs as the kernel's verbs core sees them come, change and go.
//!
//! A program copies the attributes of a change as they are; user space reads them by the layout of the running kernel
//! ([`VerbsLayout`] for the fields that the program itself needs).

use bytemuck::{Pod, Zeroable};

/// It was created.
pub const CREATED: u32 = 1;
/// Its attributes were modified: a [`QueuePairChange`].
pub const MODIFIED: u32 = 2;
/// CM sent its number to connect it. Nothing but device and number is known.
pub const BY_CM: u32 = 3;
/// It ended.
pub const ENDED: u32 = 4;

/// Room for the beginning of the kernel's `struct ib_qp_attr`, which has 216 bytes in Linux 6.1.
pub const ATTRIBUTE_BYTES: usize = 256;
/// Room for the name of a device: `IB_DEVICE_NAME_MAX`.
pub const DEVICE_BYTES: usize = 64;
/// Room for the name of a process or kernel module: `TASK_COMM_LEN`.
pub const OWNER_BYTES: usize = 16;

/// What happened to a queue pair, and to which one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct QueuePairEvent {
    /// `CLOCK_MONOTONIC` in nanoseconds.
    pub time_ns: u64,
    /// Address of the kernel's `struct ib_qp`: no other queue pair has it before this one ended. 0 if unknown.
    pub identity: u64,
    /// What happened.
    pub what: u32,
    /// Number of the queue pair.
    pub number: u32,
    /// `enum ib_qp_type`.
    pub kind: u32,
    /// Its port; 0 before it has one.
    pub port: u32,
    /// Process that created it; 0 for the kernel.
    pub pid: u32,
    /// `enum rdma_driver_id` of its device.
    pub driver: u32,
    /// Name of that process, or of the kernel module; ends at a zero.
    pub owner: [u8; OWNER_BYTES],
    /// Name of its device; ends at a zero.
    pub device: [u8; DEVICE_BYTES],
}

/// A change of attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct QueuePairChange {
    /// The queue pair.
    pub event: QueuePairEvent,
    /// GID from which it sends.
    pub local_gid: [u8; 16],
    /// `enum ib_gid_type` of that GID.
    pub gid_type: u32,
    /// Attributes that were set: `enum ib_qp_attr_mask`.
    pub mask: u32,
    /// The beginning of the kernel's `struct ib_qp_attr`.
    pub attributes: [u8; ATTRIBUTE_BYTES],
}

/// Where the program finds what it reads in the running kernel: offsets in bytes, if nothing else is stated.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct VerbsLayout {
    /// The registers of the first arguments, in `struct pt_regs`.
    pub arguments: [u32; 3],
    /// The register of the result.
    pub result: u32,
    /// `rdma_restrack_entry.type`.
    pub resource_type: u32,
    /// The number `RDMA_RESTRACK_QP`.
    pub resource_is_queue_pair: u32,
    /// `rdma_restrack_entry.task`.
    pub resource_task: u32,
    /// `rdma_restrack_entry.kern_name`.
    pub resource_kernel_name: u32,
    /// `ib_qp.res`.
    pub pair_resource: u32,
    /// `ib_qp.device`.
    pub pair_device: u32,
    /// `ib_qp.qp_num`.
    pub pair_number: u32,
    /// `ib_qp.qp_type`.
    pub pair_kind: u32,
    /// `ib_qp.port`.
    pub pair_port: u32,
    /// `ib_qp.av_sgid_attr`.
    pub pair_gid: u32,
    /// `ib_gid_attr.gid`.
    pub gid: u32,
    /// `ib_gid_attr.gid_type`.
    pub gid_type: u32,
    /// `ib_device.name`.
    pub device_name: u32,
    /// `ib_device.ops.driver_id`.
    pub device_driver: u32,
    /// `task_struct.group_leader`.
    pub task_leader: u32,
    /// `task_struct.tgid`.
    pub task_process: u32,
    /// `task_struct.comm`.
    pub task_name: u32,
    /// Bytes of `ib_qp_attr` to copy, at most [`ATTRIBUTE_BYTES`].
    pub attribute_bytes: u32,
    /// `ib_cm_id.device`.
    pub connection_device: u32,
    /// `ib_cm_req_param.qp_num`.
    pub request_number: u32,
    /// `ib_cm_rep_param.qp_num`.
    pub reply_number: u32,
}

/// Why events are lost: indexes of the counters of the program.
pub mod lost {
    /// The ring was full.
    pub const RING: u32 = 0;
    /// The kernel did not run the program at the end of a call, because too many calls ran at once.
    pub const RETURNS: u32 = 1;
    /// More tasks than the table holds modified queue pairs at once.
    pub const CALLS: u32 = 2;
    /// A field of the kernel could not be read.
    pub const UNREADABLE: u32 = 3;
    /// Number of reasons.
    pub const REASONS: usize = 4;
}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<QueuePairEvent>() == 120 && offset_of!(QueuePairEvent, owner) == 40);
    assert!(size_of::<QueuePairChange>() == 144 + ATTRIBUTE_BYTES && offset_of!(QueuePairChange, attributes) == 144);
    assert!(size_of::<VerbsLayout>() == 100);
};
