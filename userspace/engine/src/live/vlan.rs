//! Disables the VLAN offload of a NIC while a capture runs.
//!
//! The capture has no capabilities when it ends, and may be killed. So a second process keeps the capability
//! to restore the offload, and waits for the end of a pipe that only the capture holds open.

use crate::error::{EngineError, Result};
use rocescope_host::interface::Interface;
use rocescope_host::privileges;
use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::io::{self, ErrorKind, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The hidden subcommand that calls [`restore`]; its argument is the index of the interface.
pub const RESTORE: &str = "restore-vlan-offload";

/// Keeps the offload disabled until this is dropped, or its process ends.
pub(super) struct Restored(Child);

impl Drop for Restored {
    fn drop(&mut self) {
        // Closing its standard input ends the process.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Whether XDP misses tags of this interface.
pub(super) fn is_stripped(interface: &Interface) -> bool {
    // A driver that does not report the offload has none.
    interface.strips_vlan().unwrap_or(false)
}

/// Disables the offload; `None` if it is disabled already.
pub(super) fn leave_in(interface: &Interface) -> Result<Option<Restored>> {
    if !is_stripped(interface) {
        return Ok(None);
    }
    let restored = start_restorer(interface).map_err(EngineError::RestoreProcess)?;
    let switched = interface.set_strips_vlan(false);
    switched.map_err(|error| EngineError::VlanOffload(interface.name.clone(), error))?;
    Ok(Some(restored))
}

/// Returns when the process is ready: from then on it restores the offload, even if this process is killed.
fn start_restorer(interface: &Interface) -> io::Result<Restored> {
    let mut child = Command::new(std::env::current_exe()?)
        .args([RESTORE, &interface.index.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take();
    let mut stdout = stdout.ok_or(ErrorKind::BrokenPipe)?;
    stdout.read_exact(&mut [0])?;
    Ok(Restored(child))
}

/// Waits for the end of standard input, then enables the offload again. `ready` writes one byte to standard
/// output, for which the capture waits.
///
/// # Errors
/// The capabilities are missing, or the NIC refuses.
pub fn restore(interface: u32, ready: impl FnOnce() -> io::Result<()>) -> Result<()> {
    privileges::keep(&privileges::SETTINGS).map_err(EngineError::Capabilities)?;
    // Ignore signals to the process group: they end the capture, which closes the pipe. The watchdog of systemd
    // sends SIGABRT.
    let ignored = Arc::new(AtomicBool::new(false));
    for signal in [SIGABRT, SIGINT, SIGTERM, SIGHUP] {
        flag::register(signal, Arc::clone(&ignored)).map_err(rocescope_runtime::RuntimeError::Signals)?;
    }
    let interface = Interface {
        index: interface,
        name: String::new(),
    };
    ready().map_err(EngineError::RestoreProcess)?;
    let mut byte = [0];
    while let Err(error) = std::io::stdin().lock().read(&mut byte) {
        if error.kind() != ErrorKind::Interrupted {
            break;
        }
    }
    match interface.set_strips_vlan(true) {
        // The interface was removed, and its settings with it.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        set => set.map_err(EngineError::RestoreVlanOffload),
    }
}
