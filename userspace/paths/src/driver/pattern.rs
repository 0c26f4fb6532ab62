//! A pattern of one line: text, `*` for any characters, `{egress}` for the name of a port.
//!
//! It fits anywhere in a line, whatever the case; a blank fits one blank or more. `^` and `$` are the ends of the line
//! without its blanks. `{egress=swp}` is a name that begins with `swp`, `{field}` a text without two blanks in a row, and
//! `{fields}` a list of words.

use serde::Deserialize;
use std::ops::RangeInclusive;

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Char(char),
    Blanks,
    Any,
    Start,
    End,
    /// The name of a port, with its first letters.
    Egress(String),
    Field,
    Fields,
}

impl Part {
    const fn is_name(&self) -> bool {
        matches!(self, Self::Egress(_) | Self::Field | Self::Fields)
    }
}

/// Lines are read up to this length.
const MAX_LINE: usize = 1_024;

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut parts = Vec::new();
        let whole = text.trim();
        let mut rest = whole;
        while let Some(c) = rest.chars().next() {
            let name = rest.strip_prefix("{egress").and_then(|rest| rest.split_once('}'));
            let (part, length) = match (name, c) {
                (Some((begin, _)), _) => {
                    let begin_with = begin.trim_start_matches('=').to_owned();
                    (Part::Egress(begin_with), "{egress}".len() + begin.len())
                }
                (None, '{') if rest.starts_with("{field}") => (Part::Field, "{field}".len()),
                (None, '{') if rest.starts_with("{fields}") => (Part::Fields, "{fields}".len()),
                (None, '*') => (Part::Any, 1),
                (None, '^') if parts.is_empty() => (Part::Start, 1),
                (None, '$') if rest.len() == 1 => (Part::End, 1),
                (None, c) if c.is_whitespace() => (Part::Blanks, rest.len() - rest.trim_start().len()),
                (None, c) => (Part::Char(c.to_ascii_lowercase()), c.len_utf8()),
            };
            parts.push(part);
            rest = &rest[length..];
        }
        let several = parts.iter().filter(|part| part.is_name()).count() > 1;
        match parts.is_empty() || several {
            true => Err(format!(
                "`{text}` is no pattern: it needs text, and `{{egress}}` or `{{field}}` at most once"
            )),
            false => Ok(Self(parts)),
        }
    }
}

impl Pattern {
    /// Whether it fits a line.
    #[must_use]
    pub fn fits(&self, line: &str) -> bool {
        self.search(line, false).is_some()
    }

    /// Whether it names a port.
    pub(super) fn has_port(&self) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Egress(_)))
    }

    /// Whether it names fields.
    pub(super) fn has_field(&self) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Field | Part::Fields))
    }

    /// Whether it fits the whole of a text.
    pub(super) fn is_whole(&self, text: &str) -> bool {
        self.search(text, true).is_some()
    }

    /// The name of the port in a line that it fits; signs alone are none.
    #[must_use]
    pub fn egress(&self, line: &str) -> Option<String> {
        let name = self.search(line, false)??;
        let name = name.trim_end_matches([',', ';', '.']);
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// The names of fields in a line that it fits as a whole.
    pub(super) fn names(&self, line: &str) -> Option<Vec<String>> {
        let name = self.search(line, true)??;
        let is_list = self.0.contains(&Part::Fields);
        let is_end = |c: char| c == ',' || c.is_whitespace();
        let words = || name.split(is_end).filter(|word| !word.is_empty());
        Some(match is_list {
            true => words().map(str::to_owned).collect(),
            false => vec![name.trim().to_owned()],
        })
    }

    fn search(&self, line: &str, is_whole: bool) -> Option<Option<String>> {
        let line: Vec<char> = line.trim().chars().take(MAX_LINE).collect();
        let mut search = Search {
            failed: vec![false; (self.0.len() + 1) * (line.len() + 1)],
            parts: &self.0,
            line: &line,
            is_whole,
            name: None,
        };
        let starts = if is_whole { 0 } else { line.len() };
        (0..=starts).any(|start| search.fit(0, start)).then_some(search.name)
    }
}

struct Search<'a> {
    parts: &'a [Part],
    line: &'a [char],
    /// Places that did not fit, by part: each is tried once, so a hostile line costs little.
    failed: Vec<bool>,
    /// Whether the pattern must end where the line does.
    is_whole: bool,
    name: Option<String>,
}

impl Search<'_> {
    /// Whether the parts from `part` on fit the line from `at` on.
    fn fit(&mut self, part: usize, at: usize) -> bool {
        let place = part * (self.line.len() + 1) + at;
        if self.failed[place] {
            return false;
        }
        let fits = self.try_fit(part, at);
        self.failed[place] = !fits;
        fits
    }

    fn try_fit(&mut self, number: usize, at: usize) -> bool {
        let (parts, line) = (self.parts, &self.line[at..]);
        match parts.get(number) {
            None => !self.is_whole || line.is_empty(),
            Some(Part::Start) => at == 0 && self.fit(number + 1, at),
            Some(Part::End) => line.is_empty(),
            Some(Part::Char(c)) => {
                let is_same = line.first().is_some_and(|first| first.to_ascii_lowercase() == *c);
                is_same && self.fit(number + 1, at + 1)
            }
            Some(Part::Blanks) => {
                let blanks = line.iter().take_while(|c| c.is_whitespace()).count();
                blanks > 0 && self.fit(number + 1, at + blanks)
            }
            // One character at a time, so that the depth of calls is that of the line at most.
            Some(Part::Any) => self.fit(number + 1, at) || !line.is_empty() && self.fit(number, at + 1),
            Some(Part::Egress(begin)) => {
                let word: String = line.iter().take_while(|c| !c.is_whitespace()).collect();
                if !word.starts_with(begin) {
                    return false;
                }
                let length = word.chars().count();
                // The whole word, unless the text behind it is in the same word: `(Ethernet1/1)`.
                let is_alone = matches!(parts.get(number + 1), None | Some(Part::Blanks | Part::End));
                let shortest = if is_alone { length.max(1) } else { 1 };
                self.name(number, at, shortest..=length)
            }
            Some(Part::Field) => {
                let is_gap = |pair: &[char]| pair.iter().all(|c| c.is_whitespace());
                let gap = line.windows(2).position(is_gap).unwrap_or(line.len());
                self.name(number, at, 1..=gap)
            }
            Some(Part::Fields) => self.name(number, at, 1..=line.len()),
        }
    }

    /// A name of one of these lengths, the shortest first.
    fn name(&mut self, number: usize, at: usize, mut lengths: RangeInclusive<usize>) -> bool {
        lengths.any(|length| {
            let fits = self.fit(number + 1, at + length);
            if fits {
                self.name = Some(self.line[at..at + length].iter().collect());
            }
            fits
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn egress(pattern: &str, line: &str) -> Option<String> {
        Pattern::try_from(pattern.to_owned()).unwrap().egress(line)
    }

    #[test]
    fn ports_are_found_in_lines() {
        let cases = [
            (
                "Output Interface: {egress}",
                "  output  interface:\tEthernet43\r",
                Some("Ethernet43"),
            ),
            (
                "Hashing to path * ({egress})",
                "Hashing to path *10.0.0.1 (Ethernet1/1)",
                Some("Ethernet1/1"),
            ),
            (
                "dev {egress}",
                "10.0.0.2 from 10.0.0.1 via 10.1.0.1 dev eth5 ",
                Some("eth5"),
            ),
            ("Egress port: {egress}", "Egress port: Ethernet4,", Some("Ethernet4")),
            ("{egress=swp}", "swp3", Some("swp3")),
            ("{egress=swp}", "ecmpcalc: will query hardware", None),
            ("dev {egress}", "dev", None),
        ];
        for (pattern, line, port) in cases {
            assert_eq!(egress(pattern, line).as_deref(), port, "{pattern}");
        }
        assert_eq!(egress("^{egress=swp}$", " swp3 ").as_deref(), Some("swp3"));
        assert_eq!(egress("^{egress=swp}$", "Invalid interface: swp3"), None);
        assert_eq!(egress("^{egress=swp}$", "swp3 is down"), None);
        assert!(Pattern::try_from(String::from("{egress} {egress}")).is_err());
        assert_eq!(egress("a*a*a*a*b", &"a".repeat(100_000)), None);
    }

    #[test]
    fn fields_are_named_by_whole_lines() {
        let names = |pattern: &str, line: &str| Pattern::try_from(pattern.to_owned()).unwrap().names(line);
        let one = |name: &str| Some(vec![name.to_owned()]);
        assert_eq!(
            names("{field} is ON", "   Source IPv4 Address is ON"),
            one("Source IPv4 Address")
        );
        assert_eq!(names("{field} is ON", "Flow Label is OFF"), None);
        // Columns are apart by two blanks or more.
        assert_eq!(names("{field} on", "source-ip   on"), one("source-ip"));
        assert_eq!(names("{field} on *", "gtp-teid  off  TEID on GTP packets"), None);
        let list = ["source-ip", "source-port"].map(String::from).to_vec();
        assert_eq!(
            names(
                "load-sharing fields ip {fields}",
                "load-sharing fields ip source-ip, source-port"
            ),
            Some(list)
        );
    }
}
