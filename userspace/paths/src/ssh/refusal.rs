//! Why the client could not connect, and what to do.

use super::address::Address;
use super::child::last_line;
use crate::transport::Failure;
use std::path::Path;

/// The reason in what the client printed. `known` is the file of host keys, if it is not the client's own.
pub(super) fn of(text: &str, address: &Address, known: Option<&Path>) -> Failure {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["IDENTIFICATION HAS CHANGED"]) {
        let host = Host::of(text, "Host key for ", " has changed", address);
        let file = known
            .map(|file| format!(" -f {}", quoted(&file.display().to_string())))
            .unwrap_or_default();
        let command = format!("ssh-keygen -R {}{file}", quoted(&host.name()));
        return Failure::new(
            "host_key_changed",
            format!("its host key is not the known one: find out why, then remove the old one with `{command}`"),
        );
    }
    if has(&["Host key verification failed", "host key is known"]) {
        let host = Host::of(text, "host key is known for ", " and you", address);
        let port = host.port.map_or(String::new(), |port| format!("-p {port} "));
        let file = known.map_or_else(
            || "~/.ssh/known_hosts".into(),
            |file| quoted(&file.display().to_string()),
        );
        let command = format!("ssh-keyscan {port}{} >> {file}", quoted(&host.address));
        return Failure::new(
            "host_key_unknown",
            format!("its host key is unknown: compare it with the device's own, then add it with `{command}`"),
        );
    }
    let reason = if has(&["Permission denied", "Too many authentication failures"]) {
        "login_refused"
    } else if has(&[
        "refused",
        "timed out",
        "No route to host",
        "unreachable",
        "resolve hostname",
    ]) {
        "unreachable"
    } else {
        "no_connection"
    };
    Failure::new(reason, last_line(text))
}

/// The host whose key is meant. The configuration of the client may have another name and port than the topology.
struct Host {
    address: String,
    /// If it is not 22.
    port: Option<u16>,
}

impl Host {
    /// The host that the client names between two texts, `leaf1` or `[leaf1]:2222`; otherwise that of the topology.
    fn of(text: &str, before: &str, behind: &str, address: &Address) -> Self {
        let named = text.split_once(before).and_then(|(_, rest)| rest.split_once(behind));
        let is_name = |name: &&str| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control());
        let name = named.map(|(name, _)| name).filter(is_name);
        let (address, port) = match name {
            Some(name) => match name.strip_prefix('[').and_then(|rest| rest.split_once("]:")) {
                Some((host, port)) => (host, port.parse().ok()),
                None => (name, None),
            },
            None => {
                let host = address.host.rsplit_once('@').map_or(&*address.host, |(_, host)| host);
                (host, address.port)
            }
        };
        Self {
            address: address.into(),
            port: port.filter(|port| *port != 22),
        }
    }

    /// Its name in the file of host keys.
    fn name(&self) -> String {
        match self.port {
            Some(port) => format!("[{}]:{port}", self.address),
            None => self.address.clone(),
        }
    }
}

/// A word for a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:@%+".contains(c);
    match text.chars().all(is_plain) && !text.is_empty() {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::address::Address;
    use super::of;
    use std::path::Path;

    #[test]
    fn commands_name_the_port_and_the_file_of_host_keys() {
        let known = Path::new("/tmp/our keys");
        let unknown = "No ED25519 host key is known for [192.0.2.1]:2222 and you have requested strict checking.\r\n\
                       Host key verification failed.";
        let changed = "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n\
                       Host key for leaf1 has changed and you have requested strict checking.";
        let cut = "REMOTE HOST IDENTIFICATION HAS CHANGED!";
        for (text, file, command) in [
            (
                unknown,
                Some(known),
                "`ssh-keyscan -p 2222 192.0.2.1 >> '/tmp/our keys'`",
            ),
            (unknown, None, "`ssh-keyscan -p 2222 192.0.2.1 >> ~/.ssh/known_hosts`"),
            (changed, Some(known), "`ssh-keygen -R leaf1 -f '/tmp/our keys'`"),
            (cut, None, "`ssh-keygen -R '[fd00::1]:2200'`"),
        ] {
            let failure = of(text, &Address::parse("admin@[fd00::1]:2200").unwrap(), file);
            assert!(failure.message.contains(command), "{}", failure.message);
        }
    }
}
