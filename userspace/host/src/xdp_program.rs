//! The XDP program on an interface, and the process that holds it there.

use crate::netlink::{Socket, find};
use std::fmt;
use std::fs;
use std::path::Path;

/// `struct ifinfomsg`.
const LINK_HEADER: usize = 16;
/// `IFLA_XDP_ATTACHED`, and that nothing is attached.
const ATTACHED: u16 = 2;
const NOTHING: u8 = 0;

/// An XDP program of someone on an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XdpProgram {
    /// Who holds it there; `None` if no process does, as after `ip link set dev … xdp`, or if this user may not see it.
    pub process: Option<Process>,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub number: u32,
    /// The name of its program.
    pub name: String,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, process {}", self.name, self.number)
    }
}

/// The program on an interface; `None` if there is none, or the kernel does not tell.
#[must_use]
pub fn on(interface: u32) -> Option<XdpProgram> {
    let mut socket = Socket::open(libc::NETLINK_ROUTE).ok()?;
    let request = [&[0; 4][..], &interface.to_ne_bytes(), &[0; 8]].concat();
    let link = socket.ask(libc::RTM_GETLINK, &request).ok()??;
    is_attached(link.get(LINK_HEADER..)?).then(|| XdpProgram {
        process: process(interface),
    })
}

fn is_attached(attributes: &[u8]) -> bool {
    let state = find(attributes, libc::IFLA_XDP).and_then(|xdp| find(xdp, ATTACHED));
    state.and_then(<[u8]>::first).is_some_and(|state| *state != NOTHING)
}

/// Finds the process that holds the program on an interface.
#[must_use]
pub fn process(interface: u32) -> Option<Process> {
    let own = fs::read_link("/proc/self/ns/net").ok()?;
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.find_map(|number| {
        let root = format!("/proc/{number}");
        let root = Path::new(&root);
        // An interface of this number may exist in every namespace.
        let is_here = fs::read_link(root.join("ns/net")).is_ok_and(|namespace| namespace == own);
        let holds = is_here
            && fs::read_dir(root.join("fdinfo")).is_ok_and(|descriptors| {
                descriptors
                    .flatten()
                    .any(|entry| fs::read_to_string(entry.path()).is_ok_and(|text| is_link(&text, interface)))
            });
        holds.then(|| Process {
            number,
            name: fs::read_to_string(root.join("comm"))
                .map_or_else(|_| "unknown".into(), |name| name.trim_end().into()),
        })
    })
}

/// Whether this describes a link of an XDP program to the interface.
fn is_link(description: &str, interface: u32) -> bool {
    let value = |key: &str| {
        let mut lines = description.lines();
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(str::trim))
    };
    value("link_type") == Some("xdp") && value("ifindex").and_then(|index| index.parse().ok()) == Some(interface)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::attribute;

    #[test]
    fn a_link_is_recognized_by_type_and_interface() {
        let description = "pos:\t0\nflags:\t02000000\nlink_type:\txdp\nlink_id:\t4\nprog_id:\t18\nifindex:\t7\n";
        assert!(is_link(description, 7));
        assert!(!is_link(description, 17));
        assert!(!is_link(&description.replace("xdp", "tcx"), 7));
    }

    #[test]
    fn a_program_is_attached_unless_the_kernel_says_that_none_is() {
        let link = |state: u8| attribute(libc::IFLA_XDP, &attribute(ATTACHED, &[state]));
        assert!(is_attached(&link(1)) && is_attached(&link(2)));
        assert!(!is_attached(&link(0)) && !is_attached(&[]));
    }
}
