//! The switches to ask: `[NAME=]HOST[:PORT]`.

use crate::ssh::Address as Place;
use crate::switch::Names;
use rocescope_model::Text;
use std::collections::HashSet;
use std::net::IpAddr;
use std::str::FromStr;

/// The port of gNMI (IANA).
const PORT: u16 = 9339;

/// A switch to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Its name, if one is given.
    name: Option<String>,
    /// Name or address of its host.
    pub host: String,
    /// Its TCP port.
    pub port: u16,
}

/// Why switches cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum BadAddress {
    /// It is no address.
    #[error("{0}; expected [NAME=]HOST[:PORT]")]
    Unreadable(String),
    /// Rows of two switches would have the same name.
    #[error("two switches have the name {0}: name them NAME={0}")]
    Twice(String),
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let unreadable = || BadAddress::Unreadable(format!("`{text}` is no switch"));
        let (name, place) = match text.split_once('=') {
            Some((name, place)) => (Some(name.to_owned()), place),
            None => (None, text),
        };
        let place = Place::parse(place).map_err(BadAddress::Unreadable)?;
        let has_space = text.contains(char::is_whitespace);
        if has_space || place.host.contains('@') || name.as_deref() == Some("") {
            return Err(unreadable());
        }
        Ok(Self {
            name,
            host: place.host,
            port: place.port.unwrap_or(PORT),
        })
    }
}

impl Address {
    /// Its name in rows: the given one, otherwise that of the topology for its address, otherwise its host.
    #[must_use]
    pub fn name(&self, names: &Names) -> Text {
        match (&self.name, self.host.parse::<IpAddr>()) {
            (Some(name), _) => name.clone().into(),
            (None, Ok(address)) => names.switch(address),
            (None, Err(_)) => self.host.clone().into(),
        }
    }
}

/// Reads a list with a switch on each line; what is behind `#` is a comment.
///
/// # Errors
/// A line is no switch.
pub fn list(text: &str) -> Result<Vec<Address>, BadAddress> {
    let lines = text
        .lines()
        .map(|line| line.split_once('#').map_or(line, |(line, _)| line).trim());
    lines.filter(|line| !line.is_empty()).map(str::parse).collect()
}

/// The names of switches in rows: each has its own.
///
/// # Errors
/// Two have the same.
pub fn names(addresses: &[Address], names: &Names) -> Result<Vec<Text>, BadAddress> {
    let found: Vec<Text> = addresses.iter().map(|address| address.name(names)).collect();
    let mut known = HashSet::new();
    match found.iter().find(|name| !known.insert(name.to_string())) {
        Some(name) => Err(BadAddress::Twice(name.to_string())),
        None => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Names, list, names};

    #[test]
    fn switches_have_a_host_a_port_and_a_name_each() {
        let read = list("leaf1 # the first\n\nleaf2=[fd00::1]:57400\n#x\n192.0.2.7:6030").unwrap();
        let shown: Vec<_> = read.iter().map(|switch| (&*switch.host, switch.port)).collect();
        assert_eq!(shown, [("leaf1", 9339), ("fd00::1", 57400), ("192.0.2.7", 6030)]);
        let named = names(&read, &Names::default()).unwrap();
        let named: Vec<&str> = named.iter().map(|name| &**name).collect();
        assert_eq!(named, ["leaf1", "leaf2", "192.0.2.7"]);
        let twice = names(&list("a\nb=x\na:1").unwrap(), &Names::default()).unwrap_err();
        assert!(twice.to_string().contains("the name a"), "{twice}");
        for bad in ["", "=a", "a b", "a:0", "user@a", "a=", "http://a"] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
    }
}
