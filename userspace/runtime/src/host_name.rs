//! The name of this host.

use crate::error::{Result, RuntimeError};
use std::fs;

/// The name of this host, which is the observer of its rows unless another is set.
///
/// # Errors
/// The kernel does not report it.
pub fn host_name() -> Result<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").map_err(RuntimeError::HostName)?;
    Ok(name.trim().to_owned())
}
