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
/// What to grant for XDP: some kernels, such as Debian 12's 6.1, accept the program only with `TRUST`.
pub const GRANTED: [Capability; 4] = [BPF, NET_ADMIN, NET_RAW, TRUST];
/// Needed to send live frames: the program, the count of accepted frames, the redirection.
pub const LIVE_FRAMES: [Capability; 3] = [BPF, TRUST, NET_ADMIN];
/// Needed to read the environments of processes of other users.
pub const TRACE: Capability = capability(CapabilitySet::SYS_PTRACE, "cap_sys_ptrace");
/// Needed for programs on functions of the kernel.
pub const EVENTS: [Capability; 2] = [BPF, TRUST];
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
/// root write into any directory, where a dataset may have to go. Calling it again changes nothing.
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
    // Setting them gives the thread new credentials, even if they are equal. An RDMA device takes requests only from
    // the credentials that opened it (`ib_safe_file_access` of the kernel).
    if sets == held {
        return Ok(());
    }
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

/// The command that grants this program `needed`, and for XDP what some kernels need in addition: a second command would
/// take away what the first granted.
#[must_use]
pub fn grant(needed: &[Capability]) -> String {
    let needed = if needed == XDP { &GRANTED[..] } else { needed };
    let names: Vec<&str> = needed.iter().map(|capability| capability.name).collect();
    let program = std::env::current_exe().map_or_else(|_| "rocescope".into(), |path| path.display().to_string());
    format!("sudo setcap {}=ep {program}", names.join(","))
}

#[cfg(test)]
mod tests {
    use super::{AF_PACKET, GRANTED, XDP, grant};
    use std::collections::BTreeSet;

    /// Linux 6.1 refuses the XDP program without `cap_perfmon`: it is granted wherever the capabilities of XDP are.
    #[test]
    fn everybody_grants_the_same_capabilities_for_xdp() {
        let expected: BTreeSet<String> = GRANTED.iter().map(|one| one.name.to_uppercase()).collect();
        assert!(expected.contains("CAP_PERFMON"));
        assert!(XDP.iter().all(|one| expected.contains(&one.name.to_uppercase())));
        let unit = include_str!("../../../deploy/rocescope.service");
        for key in ["AmbientCapabilities=", "CapabilityBoundingSet="] {
            let line = unit.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            let held: BTreeSet<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(held, expected, "{key}");
        }
        let command = grant(&XDP);
        assert!(
            command.starts_with("sudo setcap cap_bpf,cap_net_admin,cap_net_raw,cap_perfmon=ep "),
            "{command}"
        );
        assert!(grant(&AF_PACKET).starts_with("sudo setcap cap_net_raw=ep "));
    }
}
