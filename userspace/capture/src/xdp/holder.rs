//! The process of another rocescope whose XDP program is on an interface.

use std::fs;
use std::path::Path;

/// Finds the process; `None` if the program is not of a rocescope, or this user may not see its process.
pub(super) fn process(interface: u32) -> Option<u32> {
    let own = fs::read_link("/proc/self/ns/net").ok()?;
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.find(|number| {
        let root = format!("/proc/{number}");
        let root = Path::new(&root);
        fs::read_to_string(root.join("comm")).is_ok_and(|name| name.trim_end() == "rocescope")
            // An interface of this number may exist in every namespace.
            && fs::read_link(root.join("ns/net")).is_ok_and(|namespace| namespace == own)
            && fs::read_dir(root.join("fdinfo")).is_ok_and(|descriptors| {
                descriptors.flatten().any(|entry| {
                    fs::read_to_string(entry.path()).is_ok_and(|text| is_link(&text, interface))
                })
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
    #[test]
    fn a_link_is_recognized_by_type_and_interface() {
        let description = "pos:\t0\nflags:\t02000000\nlink_type:\txdp\nlink_id:\t4\nprog_id:\t18\nifindex:\t7\n";
        assert!(super::is_link(description, 7));
        assert!(!super::is_link(description, 17));
        assert!(!super::is_link(&description.replace("xdp", "tcx"), 7));
    }
}
