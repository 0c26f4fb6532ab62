//! The name of this host.

use anyhow::{Context, Result};
use std::fs;

/// The name of this host, which is the observer of its rows unless another is set.
///
/// # Errors
/// The kernel does not report it.
pub(super) fn host_name() -> Result<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").context("the name of this host")?;
    Ok(name.trim().to_owned())
}
