//! A pattern of one line: text, `*` for any characters, `{egress}` for the name of a port.
//!
//! It fits anywhere in a line, whatever the case; a blank fits one blank or more. `{egress=swp}` is a name that begins
//! with `swp`.

use serde::Deserialize;

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Char(char),
    Blanks,
    Any,
    /// The name of a port, with its first letters.
    Egress(String),
}

/// Lines are read up to this length.
const MAX_LINE: usize = 1_024;

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text.trim();
        while let Some(c) = rest.chars().next() {
            let name = rest.strip_prefix("{egress").and_then(|rest| rest.split_once('}'));
            let (part, length) = match (name, c) {
                (Some((begin, _)), _) => {
                    let begin_with = begin.trim_start_matches('=').to_owned();
                    (Part::Egress(begin_with), "{egress}".len() + begin.len())
                }
                (None, '*') => (Part::Any, 1),
                (None, c) if c.is_whitespace() => (Part::Blanks, rest.len() - rest.trim_start().len()),
                (None, c) => (Part::Char(c.to_ascii_lowercase()), c.len_utf8()),
            };
            parts.push(part);
            rest = &rest[length..];
        }
        let several = parts.iter().filter(|part| matches!(part, Part::Egress(_))).count() > 1;
        match parts.is_empty() || several {
            true => Err(format!(
                "`{text}` is no pattern: it needs text, and `{{egress}}` at most once"
            )),
            false => Ok(Self(parts)),
        }
    }
}

impl Pattern {
    /// Whether it fits a line.
    #[must_use]
    pub fn fits(&self, line: &str) -> bool {
        self.search(line).is_some()
    }

    /// The name of the port in a line that it fits.
    #[must_use]
    pub fn egress(&self, line: &str) -> Option<String> {
        self.search(line).flatten()
    }

    fn search(&self, line: &str) -> Option<Option<String>> {
        let line: Vec<char> = line.chars().take(MAX_LINE).collect();
        let mut search = Search {
            failed: vec![false; (self.0.len() + 1) * (line.len() + 1)],
            parts: &self.0,
            line: &line,
            egress: None,
        };
        (0..=line.len())
            .any(|start| search.fit(0, start))
            .then_some(search.egress)
    }
}

struct Search<'a> {
    parts: &'a [Part],
    line: &'a [char],
    /// Places that did not fit, by part: each is tried once, so a hostile line costs little.
    failed: Vec<bool>,
    egress: Option<String>,
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
            None => true,
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
                let is_alone = matches!(parts.get(number + 1), None | Some(Part::Blanks));
                let shortest = if is_alone { length.max(1) } else { 1 };
                (shortest..=length).any(|length| {
                    let fits = self.fit(number + 1, at + length);
                    if fits {
                        let name: String = line[..length].iter().collect();
                        self.egress = Some(name.trim_end_matches([',', ';', '.']).to_owned());
                    }
                    fits
                })
            }
        }
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
        assert!(Pattern::try_from(String::from("{egress} {egress}")).is_err());
        assert_eq!(egress("a*a*a*a*b", &"a".repeat(100_000)), None);
    }
}
