//! Names for addresses, from a file in the format of `/etc/hosts`.
//!
//! Rows keep addresses: filters, joins and keys use them. Names are added where a document is written, and only here:
//! [`Hosts::text`] for cells and sentences, [`Hosts::json`] for JSON.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::net::IpAddr;

/// The first name of each address.
///
/// ```
/// use rocescope_model::hosts::Hosts;
///
/// let hosts = Hosts::parse("10.0.0.1  gpu-1 gpu-1.example  # rail 0\n").unwrap();
/// assert_eq!(hosts.text("10.0.0.1 → 10.0.0.2 QP 17"), "gpu-1 (10.0.0.1) → 10.0.0.2 QP 17");
/// assert_eq!(hosts.json(r#"{"src":"10.0.0.1"}"#), r#"{"src":"10.0.0.1","src_name":"gpu-1"}"#);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts(BTreeMap<IpAddr, String>);

/// A line that is not an address and names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostsError {
    /// The line, from 1.
    pub line: usize,
    message: String,
}

impl fmt::Display for HostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl core::error::Error for HostsError {}

impl Hosts {
    /// Parses lines of an address and its names; `#` begins a comment. The first name of the first line of an address
    /// counts, as in `/etc/hosts`.
    ///
    /// # Errors
    /// The first line that begins with no address, or has no name.
    pub fn parse(text: &str) -> Result<Self, HostsError> {
        let mut hosts = BTreeMap::new();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.split('#').next().unwrap_or_default();
            let mut words = content.split_whitespace();
            let Some(address) = words.next() else {
                continue;
            };
            let error = |message| HostsError { line, message };
            // A zone, as in `fe80::1%eth0`, is no part of the address in a packet.
            let parsed = address.split('%').next().unwrap_or_default().parse::<IpAddr>();
            let parsed = parsed.map_err(|_| error(format!("`{address}` is no IP address")))?;
            let name = words.next().ok_or_else(|| error(format!("{address} has no name")))?;
            hosts.entry(parsed).or_insert_with(|| crate::human::visible(name));
        }
        Ok(Self(hosts))
    }

    /// Whether there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The addresses with their names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (IpAddr, &str)> {
        self.0.iter().map(|(address, name)| (*address, name.as_str()))
    }

    /// The addresses with this name; case does not matter.
    pub fn addresses(&self, name: &str) -> impl Iterator<Item = IpAddr> {
        let named = self.iter().filter(move |(_, each)| each.eq_ignore_ascii_case(name));
        named.map(|(address, _)| address)
    }

    /// The name of an address.
    #[must_use]
    pub fn name(&self, address: IpAddr) -> Option<&str> {
        self.0.get(&address).map(String::as_str)
    }

    /// The name of an address in text, if the text is nothing but an address.
    #[must_use]
    pub fn name_of(&self, text: &str) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        self.name(text.parse().ok()?)
    }

    /// Replaces every address with a name by `name (address)`.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(is_part) {
            let (before, from) = rest.split_at(start);
            let length = from.find(|c| !is_part(c)).unwrap_or(from.len());
            let (word, after) = from.split_at(length);
            out.push_str(before);
            // A word that goes on with other letters, such as `10.0.0.1x`, is no address.
            let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            if ends(before.chars().next_back()) && ends(after.chars().next()) {
                out.push_str(&self.word(word));
            } else {
                out.push_str(word);
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// The same for one word: an address, perhaps followed by a port or a punctuation mark.
    fn word(&self, word: &str) -> String {
        let bare = word.trim_end_matches(['.', ':']);
        let with_port = bare.rsplit_once(':').filter(|(address, _)| address.contains('.'));
        let address = with_port.map_or(bare, |(address, _)| address);
        match self.name_of(address) {
            Some(name) => format!("{name} ({address}){}", &word[address.len()..]),
            None => word.to_owned(),
        }
    }

    /// Adds `"KEY_name": "NAME"` behind every `"KEY": "ADDRESS"` whose address has a name. The text must be JSON.
    #[must_use]
    pub fn json(&self, json: &str) -> String {
        if self.0.is_empty() {
            return json.to_owned();
        }
        let mut out = String::with_capacity(json.len());
        let mut rest = json;
        // The last string, if a colon and nothing else follows it: a key.
        let mut key: Option<&str> = None;
        let mut last: Option<&str> = None;
        while let Some(c) = rest.chars().next() {
            if c != '"' {
                match c {
                    ':' => key = last.take(),
                    c if c.is_whitespace() => {}
                    _ => (key, last) = (None, None),
                }
                out.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
            let length = string_length(rest);
            let (string, after) = rest.split_at(length);
            out.push_str(string);
            rest = after;
            let content = string.trim_matches('"');
            match key.take() {
                Some(key) => {
                    last = None;
                    if let Some(name) = self.name_of(content) {
                        let space = if out.contains("\": ") { " " } else { "" };
                        let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                        out.push_str(&format!(",{space}\"{key}_name\":{space}\"{name}\""));
                    }
                }
                None => last = Some(content),
            }
        }
        out
    }
}

/// Whether a character may be part of an address or a port.
fn is_part(c: char) -> bool {
    c.is_ascii_hexdigit() || c == '.' || c == ':'
}

/// The length of the string at the start of JSON, with its quotes.
fn string_length(json: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in json.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    json.len()
}

impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (address, name) in &self.0 {
            writeln!(f, "{address}\t{name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Hosts;
    use std::string::ToString;

    fn hosts() -> Hosts {
        Hosts::parse("# fabric\n10.0.0.1 gpu-1 alias\n\n10.0.0.2\tgpu-2 # b\nfd00::1 six\n10.0.0.1 later\n").unwrap()
    }

    #[test]
    fn the_first_name_of_an_address_counts_and_errors_name_their_line() {
        assert_eq!(hosts().to_string(), "10.0.0.1\tgpu-1\n10.0.0.2\tgpu-2\nfd00::1\tsix\n");
        let error = |text: &str| Hosts::parse(text).unwrap_err().to_string();
        assert_eq!(
            error("10.0.0.1 a\ngpu-2 10.0.0.2\n"),
            "line 2: `gpu-2` is no IP address"
        );
        assert_eq!(error("\n\n10.0.0.1 # a\n"), "line 3: 10.0.0.1 has no name");
        // A name cannot control the terminal.
        let hosts = Hosts::parse("10.0.0.1 a\u{1b}[2J").unwrap();
        assert_eq!(hosts.text("10.0.0.1"), "a\u{fffd}[2J (10.0.0.1)");
    }

    #[test]
    fn addresses_in_text_get_their_names() {
        let text = |text: &str| hosts().text(text);
        assert_eq!(text("10.0.0.1"), "gpu-1 (10.0.0.1)");
        assert_eq!(
            text("10.0.0.1>10.0.0.2:49152, fd00::1."),
            "gpu-1 (10.0.0.1)>gpu-2 (10.0.0.2):49152, six (fd00::1)."
        );
        for unchanged in [
            "10.0.0.11",
            "x10.0.0.1",
            "10.0.0.1x",
            "10.0.0.1.5",
            "deadbeef: 12:30:09.5",
            "",
        ] {
            assert_eq!(text(unchanged), unchanged);
        }
        assert_eq!(Hosts::default().text("10.0.0.1"), "10.0.0.1");
    }

    #[test]
    fn names_stand_beside_addresses_in_json() {
        let json = "{\n  \"src\": \"10.0.0.1\",\n  \"list\": [\"10.0.0.1\"],\n  \"a\\\"b\": \"10.0.0.9\", \"n\": 1\n}";
        let expected = json.replace(
            "\"10.0.0.1\",\n  \"list",
            "\"10.0.0.1\", \"src_name\": \"gpu-1\",\n  \"list",
        );
        assert_eq!(hosts().json(json), expected);
        assert_eq!(
            hosts().json(r#"{"dst":"fd00::1","detail":"src: 10.0.0.1"}"#),
            r#"{"dst":"fd00::1","dst_name":"six","detail":"src: 10.0.0.1"}"#
        );
    }
}
