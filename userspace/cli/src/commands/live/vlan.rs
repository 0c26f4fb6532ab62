//! VLAN tags that a card takes out of frames: left in while a capture runs.
//!
//! The capture itself has no capability left when it ends, and may be killed. So a second process keeps
//! what it takes to restore the offload, and waits for the end of a pipe that only the capture holds.

use crate::arguments::RestoreVlanOffloadArguments;
use anyhow::{Context, Result};
use rocescope_host::interface::Interface;
use rocescope_host::privileges;
use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::io::{ErrorKind, Read};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
    let program = std::env::current_exe().context("this program")?;
    let mut command = Command::new(program);
    command.args(["restore-vlan-offload", &interface.index.to_string()]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("restore-vlan-offload")?;
    // It says that it is there: from then on the offload comes back, whatever becomes of us.
    let mut ready = [0];
    let mut stdout = child.stdout.take().context("restore-vlan-offload")?;
    stdout
        .read_exact(&mut ready)
        .context("restore-vlan-offload")?;
    let restored = Restored(child);
    let name = &interface.name;
    interface.set_strips_vlan(false).with_context(|| {
        format!("{name}: its VLAN offload cannot be switched off (`ethtool -K {name} rxvlan off`)")
    })?;
    Ok(Some(restored))
}

pub(in crate::commands) fn restore(arguments: &RestoreVlanOffloadArguments) -> Result<ExitCode> {
    privileges::keep(&privileges::SETTINGS).context("capabilities")?;
    // A signal for the whole group ends the capture, and that ends us. The watchdog of systemd aborts.
    let ignored = Arc::new(AtomicBool::new(false));
    for signal in [SIGABRT, SIGINT, SIGTERM, SIGHUP] {
        flag::register(signal, Arc::clone(&ignored)).context("signals")?;
    }
    let interface = Interface {
        index: arguments.interface,
        name: String::new(),
    };
    super::super::print("+")?;
    let mut byte = [0];
    while let Err(error) = std::io::stdin().lock().read(&mut byte) {
        if error.kind() != ErrorKind::Interrupted {
            break;
        }
    }
    match interface.set_strips_vlan(true) {
        // Gone with its settings.
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        set => set.context("the VLAN offload")?,
    }
    Ok(ExitCode::SUCCESS)
}
