//! Capabilities: which a capture needs, which are missing, and how they go before the first frame.

use std::io;

/// A capability of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    number: u32,
    /// Its name, as `setcap` takes it.
    pub name: &'static str,
}

const DAC_OVERRIDE: u32 = 1;
const SYS_ADMIN: u32 = 21;
const NET_ADMIN: Capability = capability(12, "cap_net_admin");
const NET_RAW: Capability = capability(13, "cap_net_raw");
const BPF: Capability = capability(39, "cap_bpf");

/// What XDP takes: the program and its maps, the attachment, promiscuous mode.
pub const XDP: [Capability; 3] = [BPF, NET_ADMIN, NET_RAW];
/// With it the verifier trusts a program not to speculate: see [`crate::xdp::costs`].
pub const TRUST: Capability = capability(38, "cap_perfmon");
/// What sending live frames takes: the program, the count of what the driver took, the redirection.
pub const LIVE_FRAMES: [Capability; 3] = [BPF, TRUST, NET_ADMIN];
/// What the settings of an interface take.
pub const SETTINGS: [Capability; 1] = [NET_ADMIN];
/// What `AF_PACKET` takes.
pub const AF_PACKET: [Capability; 1] = [NET_RAW];

const fn capability(number: u32, name: &'static str) -> Capability {
    Capability { number, name }
}

/// `_LINUX_CAPABILITY_VERSION_3`: two words of 32 bits each.
const VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

fn get() -> io::Result<[Sets; 2]> {
    let mut header = Header {
        version: VERSION,
        pid: 0,
    };
    let mut sets = [Sets::default(); 2];
    // SAFETY: this version of the call fills two such structures.
    let got = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) };
    if got == 0 {
        Ok(sets)
    } else {
        Err(io::Error::last_os_error())
    }
}

const fn place(number: u32) -> (usize, u32) {
    ((number / 32) as usize, 1 << (number % 32))
}

/// Those of `needed` that this process lacks.
///
/// # Errors
/// The kernel does not tell.
pub fn missing(needed: &[Capability]) -> io::Result<Vec<Capability>> {
    let sets = get()?;
    let held = |capability: &&Capability| {
        let (word, bit) = place(capability.number);
        sets.get(word).is_some_and(|set| set.effective & bit != 0)
    };
    Ok(needed
        .iter()
        .filter(|needed| !held(needed))
        .copied()
        .collect())
}

/// Gives up every capability of this thread and those it starts, for good. Only the one by which
/// root writes into any directory stays where it was, for that is where a dataset may have to go.
///
/// # Errors
/// The kernel refuses.
pub fn drop_all() -> io::Result<()> {
    keep(&[capability(DAC_OVERRIDE, "cap_dac_override")])
}

/// Gives up every capability of this thread and those it starts but for `kept`, for good.
///
/// # Errors
/// The kernel refuses.
pub fn keep(kept: &[Capability]) -> io::Result<()> {
    let held = get()?;
    let mut sets = [Sets::default(); 2];
    for capability in kept {
        let (word, bit) = place(capability.number);
        if let (Some(set), Some(held)) = (sets.get_mut(word), held.get(word)) {
            set.permitted |= held.permitted & bit;
            set.effective |= held.effective & bit;
        }
    }
    put(&sets)
}

fn put(sets: &[Sets; 2]) -> io::Result<()> {
    let mut header = Header {
        version: VERSION,
        pid: 0,
    };
    // SAFETY: this version of the call reads two such structures.
    let set = unsafe { libc::syscall(libc::SYS_capset, &raw mut header, sets.as_ptr()) };
    if set == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Does `work` while this thread does without a capability, which it takes up again afterwards.
///
/// # Errors
/// The kernel refuses.
pub(crate) fn without<R>(capability: Capability, work: impl FnOnce() -> R) -> io::Result<R> {
    let before = get()?;
    let mut fewer = before;
    let (word, bit) = place(capability.number);
    if let Some(set) = fewer.get_mut(word) {
        set.effective &= !bit;
    }
    // `CAP_SYS_ADMIN` stands for it too.
    let (word, bit) = place(SYS_ADMIN);
    if let Some(set) = fewer.get_mut(word) {
        set.effective &= !bit;
    }
    put(&fewer)?;
    let result = work();
    put(&before)?;
    Ok(result)
}

/// The command that gives this program `needed`.
#[must_use]
pub fn grant(needed: &[Capability]) -> String {
    let names: Vec<&str> = needed.iter().map(|capability| capability.name).collect();
    let program = std::env::current_exe()
        .map_or_else(|_| "rocescope".into(), |path| path.display().to_string());
    format!("sudo setcap {}=ep {program}", names.join(","))
}
