//! VLAN tags that a card takes out of frames: left in while a capture runs.
//!
//! The capture itself has no capability left when it ends, and may be killed. So a second process keeps
//! what it takes to restore the offload, and waits for the end of a pipe that only the capture holds.

use crate::error::{EngineError, Result};
use rocescope_host::interface::Interface;
use rocescope_host::privileges;
use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::io::{self, ErrorKind, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The hidden subcommand of the program around the engine that calls [`restore`]; the interface's index follows.
pub const RESTORE: &str = "restore-vlan-offload";

/// An offload that is off until this is dropped, or its process is gone.
pub(super) struct Restored(Child);

impl Drop for Restored {
    fn drop(&mut self) {
        // The end of its standard input; that it ends then is its own affair.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Whether XDP misses tags of this interface.
pub(super) fn is_stripped(interface: &Interface) -> bool {
    // A driver that does not tell has no such offload.
    interface.strips_vlan().unwrap_or(false)
}

/// Has the card leave tags in; `None` where it does so already.
pub(super) fn leave_in(interface: &Interface) -> Result<Option<Restored>> {
    if !is_stripped(interface) {
        return Ok(None);
    }
    let restored = start_restorer(interface).map_err(EngineError::RestoreProcess)?;
    let switched = interface.set_strips_vlan(false);
    switched.map_err(|error| EngineError::VlanOffload(interface.name.clone(), error))?;
    Ok(Some(restored))
}

/// Returns when the process is ready: from then on the offload is restored, whatever becomes of us.
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

/// Waits for the end of standard input, and has the card strip VLAN tags again. `ready` writes one byte to
/// standard output, for which the capture waits.
///
/// # Errors
/// The capabilities are missing, or the card refuses.
pub fn restore(interface: u32, ready: impl FnOnce() -> io::Result<()>) -> Result<()> {
    privileges::keep(&privileges::SETTINGS).map_err(EngineError::Capabilities)?;
    // A signal for the whole group ends the capture, and that ends us. The watchdog of systemd aborts.
    let ignored = Arc::new(AtomicBool::new(false));
    for signal in [SIGABRT, SIGINT, SIGTERM, SIGHUP] {
        flag::register(signal, Arc::clone(&ignored)).map_err(EngineError::Signals)?;
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
        // Gone with its settings.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        set => set.map_err(EngineError::RestoreVlanOffload),
    }
}
