//! Calls that have begun and not returned: at their end the registers of their arguments have other values.

use aya_ebpf::btf_maps::HashMap;
use aya_ebpf::macros::btf_map;

/// A call of a function that modifies a queue pair.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Call {
    /// Address of the queue pair.
    pub pair: u64,
    /// Address of its new attributes.
    pub attributes: u64,
    /// Which of them are set. Of eight bytes as the others, so that the compiler aligns what it writes to the stack.
    pub mask: u64,
}

impl Call {
    pub const NONE: Self = Self {
        pair: 0,
        attributes: 0,
        mask: 0,
    };
}

/// The calls of a task, one within the other.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Calls {
    /// Their number: 1 or 2.
    pub depth: u64,
    pub outer: Call,
    pub inner: Call,
}

/// By thread and process.
#[btf_map]
pub static CALLS: HashMap<u64, Calls, 4096> = HashMap::new();
