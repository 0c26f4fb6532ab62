//! Where a device is managed.

/// `host`, `host:port`, `user@host`, `[fd00::1]:port`, or an IPv6 address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// With the user, if there is one.
    pub(super) host: String,
    pub(super) port: Option<u16>,
}

impl Address {
    pub(super) fn parse(text: &str) -> Self {
        let (user, place) = match text.rsplit_once('@') {
            Some((user, place)) => (format!("{user}@"), place),
            None => (String::new(), text),
        };
        let split = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, rest)) => Some((host, rest.strip_prefix(':'))),
            // Several colons are an IPv6 address.
            None => match place.split_once(':') {
                Some((host, port)) if !port.contains(':') => Some((host, Some(port))),
                _ => None,
            },
        };
        let (host, port) = split.unwrap_or((place, None));
        Self {
            host: format!("{user}{host}"),
            port: port.and_then(|port| port.parse().ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn ports_and_users_are_split_off() {
        let cases = [
            ("192.0.2.1", "192.0.2.1", None),
            ("leaf1:2222", "leaf1", Some(2222)),
            ("admin@[fd00::1]:22", "admin@fd00::1", Some(22)),
            ("fd00::1", "fd00::1", None),
        ];
        for (text, host, port) in cases {
            let address = Address::parse(text);
            assert_eq!((&*address.host, address.port), (host, port));
        }
    }
}
