//! Where a device is managed.

/// `host`, `host:port`, `user@host`, `[fd00::1]:port`, or an IPv6 address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// With the user, if there is one.
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
}

impl Address {
    /// Reads it.
    ///
    /// # Errors
    /// It is no address: what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
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
        // The client would take it as an option.
        if host.is_empty() || text.starts_with('-') {
            return Err(format!("`{text}` is no address or name"));
        }
        let port = port.map(|port| match port.parse() {
            Ok(0) | Err(_) => Err(format!("`{text}` has the port `{port}`: expected 1 to 65535")),
            Ok(port) => Ok(port),
        });
        Ok(Self {
            host: format!("{user}{host}"),
            port: port.transpose()?,
        })
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
            let address = Address::parse(text).unwrap();
            assert_eq!((&*address.host, address.port), (host, port));
        }
        for text in ["1.2.3.4:99999", "leaf1:", "leaf1:0", "-oProxyCommand=x", "", "admin@"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }
}
