//! Pages of memory for a device.

use super::Error;
use std::ptr::{NonNull, null_mut};

/// The highest number of a NUMA node, and one.
const NODES: usize = 1024;
const PAGE: usize = 4096;

/// Zeroed pages, which no reference points into: a device may read and write them at any time.
#[derive(Debug)]
pub struct Memory {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it owns its pages; reads and writes are volatile.
unsafe impl Send for Memory {}
// SAFETY: as above; two threads that write the same byte leave one of the two values.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps at least one byte, on the NUMA node of the thread that asks.
    ///
    /// # Errors
    /// The kernel has no memory.
    pub fn new(bytes: usize) -> Result<Self, Error> {
        let memory = Self::map(bytes)?;
        memory.touch();
        Ok(memory)
    }

    /// Maps at least one byte on this NUMA node, and nowhere else.
    ///
    /// # Errors
    /// There is no such node, it has no memory left, or the process may not choose a node (as in some containers).
    pub fn on_node(bytes: usize, node: usize) -> Result<Self, Error> {
        const WHAT: &str = "memory on a NUMA node";
        let memory = Self::map(bytes)?;
        let mut mask = [0u64; NODES / 64];
        let Some(word) = mask.get_mut(node / 64) else {
            return Err(Error::errno(WHAT, libc::EINVAL));
        };
        *word = 1 << (node % 64);
        // SAFETY: the pages belong to this mapping, and the mask has the given number of bits.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                memory.start.as_ptr(),
                memory.bytes,
                libc::MPOL_BIND,
                mask.as_ptr(),
                NODES,
                0,
            )
        };
        if answer != 0 {
            return Err(Error::last(WHAT));
        }
        memory.touch();
        Ok(memory)
    }

    fn map(bytes: usize) -> Result<Self, Error> {
        let bytes = bytes.max(1).next_multiple_of(PAGE);
        // SAFETY: new pages of no file.
        let start = unsafe {
            libc::mmap(
                null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        match NonNull::new(start.cast::<u8>()) {
            Some(first) if start != libc::MAP_FAILED => Ok(Self { start: first, bytes }),
            _ => Err(Error::last("memory")),
        }
    }

    /// Makes the kernel choose the pages now.
    fn touch(&self) {
        for at in (0..self.bytes).step_by(PAGE) {
            self.write(at, &[0]);
        }
    }

    /// Its size, which is a multiple of a page.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn start(&self) -> u64 {
        self.start.as_ptr().expose_provenance() as u64
    }

    pub(super) const fn as_ptr(&self) -> *mut libc::c_void {
        self.start.as_ptr().cast()
    }

    /// Writes bytes; those beyond the end are left out.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        for (at, byte) in (at..self.bytes).zip(bytes) {
            // SAFETY: inside the mapping.
            unsafe { self.start.add(at).write_volatile(*byte) };
        }
    }

    /// Reads bytes; those beyond the end stay as they are.
    pub fn read(&self, at: usize, into: &mut [u8]) {
        for (at, byte) in (at..self.bytes).zip(into) {
            // SAFETY: inside the mapping.
            *byte = unsafe { self.start.add(at).read_volatile() };
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's own, and no region has it any more.
        unsafe { libc::munmap(self.as_ptr(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::Memory;

    #[test]
    fn what_is_written_is_read_and_bytes_beyond_the_end_are_left_out() {
        let memory = Memory::new(1).unwrap();
        assert_eq!(memory.bytes(), 4096);
        memory.write(4094, &[1, 2, 3]);
        let mut read = [9; 4];
        memory.read(4093, &mut read);
        assert_eq!(read, [0, 1, 2, 9]);
    }

    #[test]
    fn a_node_that_does_not_exist_is_refused() {
        assert!(Memory::on_node(4096, 900).is_err());
        assert!(Memory::on_node(4096, 5000).is_err());
    }
}
