//! Paths of a mapping: `/interfaces/interface[name={port}]/state`, with placeholders for what a row is about.
//!
//! | placeholder | what it is for |
//! |---|---|
//! | `{port}`, `{module}` | the name of the port, or of the component that is its optical module |
//! | `{queue}`, `{priority}` | a text that ends in the number |
//! | `*` | anything: a lane, for one |

use super::message::{Path, PathElem};

/// What a placeholder is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Port,
    Module,
    Queue,
    Priority,
    Other,
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "port" => Self::Port,
            "module" => Self::Module,
            "queue" => Self::Queue,
            "priority" => Self::Priority,
            _ => return None,
        })
    }
}

/// A part of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Placeholder(Kind),
}

/// The name of an element or the value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pieces: Vec<Piece>,
}

impl Name {
    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            let pieces = vec![Piece::Placeholder(Kind::Other)];
            return Some(Self { pieces });
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            let (name, behind) = behind.split_once('}')?;
            if !before.is_empty() {
                pieces.push(Piece::Literal(before.to_owned()));
            }
            // Where one ended and the next began would be a guess.
            if matches!(pieces.last(), Some(Piece::Placeholder(_))) {
                return None;
            }
            pieces.push(Piece::Placeholder(Kind::named(name)?));
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest.to_owned()));
        }
        (!pieces.is_empty()).then_some(Self { pieces })
    }

    /// The name itself, if it has no placeholder.
    pub(super) fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// As it is asked for.
    fn asked(&self) -> String {
        self.literal().unwrap_or("*").to_owned()
    }

    /// What its placeholders stand for in a text, appended to `found`; `false`, and nothing is, if the text does not fit.
    pub(super) fn matches(&self, text: &str, found: &mut Vec<(Kind, String)>) -> bool {
        let before = found.len();
        let mut rest = text;
        let mut open = None;
        for piece in &self.pieces {
            match piece {
                Piece::Placeholder(kind) => open = Some(*kind),
                Piece::Literal(literal) => {
                    // Names of ports have separators themselves (`Ethernet0/1:3`): the last one counts.
                    let at = match open {
                        None => rest.starts_with(literal.as_str()).then_some(0),
                        Some(_) => rest.rfind(literal.as_str()),
                    };
                    // `PFC_3_ON2OFF_RX` is no `PFC_{priority}_RX`.
                    let fits = |name: &str| {
                        !matches!(open, Some(Kind::Queue | Kind::Priority))
                            || name.ends_with(|last: char| last.is_ascii_digit())
                    };
                    let Some((name, behind)) = at
                        .and_then(|at| Some((rest.get(..at)?, rest.get(at + literal.len()..)?)))
                        .filter(|(name, _)| fits(name))
                    else {
                        found.truncate(before);
                        return false;
                    };
                    found.extend(open.take().map(|kind| (kind, name.to_owned())));
                    rest = behind;
                }
            }
        }
        match open {
            Some(kind) => found.push((kind, rest.to_owned())),
            None if !rest.is_empty() => {
                found.truncate(before);
                return false;
            }
            None => {}
        }
        true
    }
}

/// An element of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: Name,
    pub(super) keys: Vec<(String, Name)>,
}

impl Element {
    /// Whether it has such a placeholder.
    pub(super) fn has(&self, kind: Kind) -> bool {
        let mut names = self.keys.iter().map(|(_, name)| name).chain([&self.name]);
        names.any(|name| name.pieces.contains(&Piece::Placeholder(kind)))
    }
}

/// Reads a path, absolute or relative; `None` if it is none.
pub(super) fn parse(text: &str) -> Option<Vec<Element>> {
    let text = text.strip_prefix('/').unwrap_or(text);
    split(text)?.into_iter().map(element).collect()
}

/// Splits at slashes outside of brackets.
fn split(text: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut begin, mut is_inside) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '[' if !is_inside => is_inside = true,
            ']' if is_inside => is_inside = false,
            '[' | ']' => return None,
            '/' if !is_inside => {
                parts.push(text.get(begin..at)?);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(begin..)?);
    (!is_inside).then_some(parts)
}

fn element(text: &str) -> Option<Element> {
    let (name, mut rest) = match text.find('[') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let mut keys = Vec::new();
    while !rest.is_empty() {
        let (key, behind) = rest.strip_prefix('[')?.split_once(']')?;
        let (key, value) = key.split_once('=')?;
        keys.push((key.to_owned(), Name::parse(value)?));
        rest = behind;
    }
    let name = Name::parse(name)?;
    Some(Element { name, keys })
}

/// The path that is subscribed to: anything in the place of placeholders.
pub(super) fn asked(elements: &[Element]) -> Path {
    let elem = |element: &Element| PathElem {
        name: element.name.asked(),
        key: element
            .keys
            .iter()
            .map(|(key, value)| (key.clone(), value.asked()))
            .collect(),
    };
    Path {
        elem: elements.iter().map(elem).collect(),
        ..Path::default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Name, asked, parse};

    #[test]
    fn names_have_what_their_placeholders_stand_for() {
        let found = |pattern: &str, text| -> Option<Vec<(Kind, &str)>> {
            let mut found = Vec::new();
            let fits = Name::parse(pattern).unwrap().matches(text, &mut found);
            assert!(fits || found.is_empty());
            fits.then_some(
                found
                    .into_iter()
                    .map(|(kind, text)| (kind, text.leak() as &str))
                    .collect(),
            )
        };
        assert_eq!(found("state", "state"), Some(vec![]));
        assert_eq!(found("state", "states"), None);
        assert_eq!(found("{port}", "Ethernet1/1"), Some(vec![(Kind::Port, "Ethernet1/1")]));
        assert_eq!(
            found("{port}:{queue}", "a:b:3"),
            Some(vec![(Kind::Port, "a:b"), (Kind::Queue, "3")])
        );
        assert_eq!(
            found("PFC_{priority}_RX", "PFC_3_RX"),
            Some(vec![(Kind::Priority, "3")])
        );
        assert_eq!(found("PFC_{priority}_RX", "PFC_3_TX"), None);
        assert_eq!(found("PFC_{priority}_RX", "PFC_3_ON2OFF_RX"), None);
        assert_eq!(found("*", "7"), Some(vec![(Kind::Other, "7")]));
    }

    #[test]
    fn a_path_is_asked_for_with_wildcards() {
        let path = asked(&parse("/a/b[name={port}][x=1]/Ethernet*/{port}").unwrap());
        let names: Vec<_> = path.elem.iter().map(|elem| elem.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "Ethernet*", "*"]);
        let keys: Vec<_> = path.elem[1].key.iter().map(|(key, value)| (&**key, &**value)).collect();
        assert_eq!(keys, [("name", "*"), ("x", "1")]);
        // A slash in a key is a part of it.
        assert_eq!(parse("a[name=1/1]/b").unwrap().len(), 2);
        for bad in [
            "",
            "/",
            "a//b",
            "a[b",
            "a[b]",
            "a]b",
            "{colour}",
            "{port}{queue}",
            "{port",
            "a[b=]",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
