//! Capabilities: which a task needs, which are missing, and how to give them up.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use std::io;

/// A capability of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    set: CapabilitySet,
    /// Its name in the notation of `setcap`.
    pub name: &'static str,
}

const NET_ADMIN: Capability = capability(CapabilitySet::NET_ADMIN, "cap_net_admin");
const NET_RAW: Capability = capability(CapabilitySet::NET_RAW, "cap_net_raw");
const BPF: Capability = capability(CapabilitySet::BPF, "cap_bpf");

/// Needed for XDP: the program and its maps, the attachment, promiscuous mode.
pub const XDP: [Capability; 3] = [BPF, NET_ADMIN, NET_RAW];
/// With this capability the verifier adds no speculation barriers to a program.
pub const TRUST: Capability = capability(CapabilitySet::PERFMON, "cap_perfmon");
/// Needed to send live frames: the program, the count of accepted frames, the redirection.
pub const LIVE_FRAMES: [Capability; 3] = [BPF, TRUST, NET_ADMIN];
/// Needed to change the settings of an interface.
pub const SETTINGS: [Capability; 1] = [NET_ADMIN];
/// Needed for `AF_PACKET`.
pub const AF_PACKET: [Capability; 1] = [NET_RAW];

const fn capability(set: CapabilitySet, name: &'static str) -> Capability {
    Capability { set, name }
}

/// Those of `needed` that this process lacks.
///
/// # Errors
/// The kernel refuses to list them.
pub fn missing(needed: &[Capability]) -> io::Result<Vec<Capability>> {
    let held = capabilities(None)?.effective;
    let missing = needed.iter().filter(|needed| !held.contains(needed.set));
    Ok(missing.copied().collect())
}

/// Gives up every capability of this thread and its children permanently, except the one that lets
/// root write into any directory, where a dataset may have to go.
///
/// # Errors
/// The kernel refuses.
pub fn drop_all() -> io::Result<()> {
    keep_set(CapabilitySet::DAC_OVERRIDE)
}

/// Gives up every capability of this thread and its children permanently, except `kept`.
///
/// # Errors
/// The kernel refuses.
pub fn keep(kept: &[Capability]) -> io::Result<()> {
    let sets = kept.iter().map(|capability| capability.set);
    keep_set(sets.fold(CapabilitySet::empty(), CapabilitySet::union))
}

fn keep_set(kept: CapabilitySet) -> io::Result<()> {
    let held = capabilities(None)?;
    let sets = CapabilitySets {
        effective: held.effective & kept,
        permitted: held.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, sets)?)
}

/// Runs `work` without a capability, then restores it.
///
/// # Errors
/// The kernel refuses.
pub fn without<R>(capability: Capability, work: impl FnOnce() -> R) -> io::Result<R> {
    let before = capabilities(None)?;
    let mut fewer = before;
    // `CAP_SYS_ADMIN` includes it.
    fewer.effective -= capability.set | CapabilitySet::SYS_ADMIN;
    set_capabilities(None, fewer)?;
    let result = work();
    set_capabilities(None, before)?;
    Ok(result)
}

/// The command that grants this program `needed`.
#[must_use]
pub fn grant(needed: &[Capability]) -> String {
    let names: Vec<&str> = needed.iter().map(|capability| capability.name).collect();
    let program = std::env::current_exe().map_or_else(|_| "rocescope".into(), |path| path.display().to_string());
    format!("sudo setcap {}=ep {program}", names.join(","))
}
