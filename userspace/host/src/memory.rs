//! Memory of this process.

/// Gives memory that is free back to the kernel: the allocator of the GNU C library keeps it otherwise, for as long as
/// something after it is in use. For a process that has just dropped far more than it will need again.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes a number, and changes no memory that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
