//! What the readers of XML share.

use crate::hostping::refusal::{Refusal, line_number};
use alloc::format;
use alloc::string::ToString;
use core::str::FromStr;
use roxmltree::{Document, Error, Node, ParsingOptions};

/// More than any host has: a file with more is refused. The readers visit an element inside the one around it, and the
/// parser compares each attribute with all others of its element.
const MAX_NODES: u32 = 200_000;
const MAX_DEPTH: usize = 128;
const MAX_ATTRIBUTES: usize = 256;
/// NUMA nodes: each is compared with all others.
pub(super) const MAX_NUMA: usize = 4_096;

pub(super) fn document(text: &str) -> Result<Document<'_>, Refusal> {
    check(text)?;
    // `lstopo` writes a document type.
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: MAX_NODES,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).map_err(|error| {
        let line = match error {
            // It is known at the end of the file.
            Error::UnclosedRootNode => line_number(text.lines().count().saturating_sub(1)),
            _ => error.pos().row,
        };
        Refusal::within(text, line, error.to_string())
    })
}

/// Refuses what costs more than its size: nesting, attributes, and entities, which the parser would replace.
fn check(text: &str) -> Result<(), Refusal> {
    let refused = |rest: &str, message: &str| {
        let before = &text[..text.len() - rest.len()];
        Err(Refusal::at(line_number(before.matches('\n').count()), message))
    };
    let mut rest = text;
    let mut depth = 0_usize;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        if let Some((begin, end)) = skipped.into_iter().find(|(begin, _)| rest.starts_with(begin)) {
            rest = rest[begin.len()..].split_once(end).map_or("", |(_, after)| after);
            continue;
        }
        let tag = Tag::of(rest);
        if rest.starts_with("<!") {
            if tag.has_declarations {
                return refused(rest, "declarations in the document type: expected none");
            }
        } else if rest.starts_with("</") {
            depth = depth.saturating_sub(1);
        } else if tag.attributes > MAX_ATTRIBUTES {
            return refused(rest, &format!("more than {MAX_ATTRIBUTES} attributes in an element"));
        } else if !tag.is_empty {
            depth += 1;
            if depth > MAX_DEPTH {
                return refused(rest, &format!("more than {MAX_DEPTH} elements inside each other"));
            }
        }
        rest = &rest[tag.len..];
    }
    Ok(())
}

/// What is between `<` and `>`.
#[derive(Default)]
struct Tag {
    len: usize,
    attributes: usize,
    /// It ends with `/>`.
    is_empty: bool,
    /// It has a `[` outside of quotes, as a document type with declarations does.
    has_declarations: bool,
}

impl Tag {
    fn of(text: &str) -> Self {
        let mut tag = Self::default();
        let mut quote = None;
        for byte in text.bytes() {
            tag.len += 1;
            match (quote, byte) {
                (Some(open), _) if open == byte => quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'=') => tag.attributes += 1,
                (None, b'[') => tag.has_declarations = true,
                (None, b'>') => break,
                (None, _) => tag.is_empty = byte == b'/',
            }
        }
        tag
    }
}

pub(super) fn refuse(node: Node<'_, '_>, message: &str) -> Refusal {
    Refusal::at(node.document().text_pos_at(node.range().start).row, message)
}

/// An attribute that must be there.
pub(super) fn required<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, Refusal> {
    let tag = node.tag_name().name();
    node.attribute(name)
        .ok_or_else(|| refuse(node, &format!("<{tag}> has no attribute `{name}`")))
}

/// A number that must be there.
pub(super) fn number<T: FromStr>(node: Node<'_, '_>, name: &str) -> Result<T, Refusal> {
    let text = required(node, name)?;
    let number = text.trim().parse();
    number.map_err(|_| refuse(node, &format!("`{name}` is `{text}`: expected a number from 0")))
}

/// A hexadecimal number such as `0x030200`.
pub(super) fn hexadecimal(node: Node<'_, '_>, name: &str) -> Result<u32, Refusal> {
    let text = required(node, name)?;
    let digits = text.trim_start_matches("0x");
    u32::from_str_radix(digits, 16).map_err(|_| {
        refuse(
            node,
            &format!("`{name}` is `{text}`: expected hexadecimal digits, such as 0x030200"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{MAX_ATTRIBUTES, MAX_DEPTH, check, document};
    use alloc::format;
    use alloc::string::String;

    fn nested(depth: usize) -> String {
        format!("{}{}", "<a>\n".repeat(depth), "</a>".repeat(depth))
    }

    fn attributes(count: usize) -> String {
        let all: String = (0..count).map(|n| format!(" a{n}='='")).collect();
        format!("<a{all}/>")
    }

    /// 10,000 elements inside each other ended the stack; entities took gigabytes, and attributes minutes.
    #[test]
    fn what_costs_more_than_its_size_is_refused_before_it_is_parsed() {
        let entity = "<!DOCTYPE a [<!ENTITY x \"y\">]>\n<a b=\"&x;\"/>";
        for (text, line, message) in [
            (
                nested(MAX_DEPTH + 1).as_str(),
                MAX_DEPTH as u32 + 1,
                "inside each other",
            ),
            (&nested(100_000), MAX_DEPTH as u32 + 1, "inside each other"),
            (&attributes(MAX_ATTRIBUTES + 1), 1, "attributes"),
            (entity, 1, "document type"),
        ] {
            let refusal = document(text).map(drop).unwrap_err();
            assert_eq!(refusal.line, line, "{refusal:?}");
            assert!(refusal.message.contains(message), "{refusal:?}");
        }
    }

    #[test]
    fn what_a_host_has_is_parsed() {
        let lstopo = "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n\
            <!-- <x><x> --><topology name='a>b'><![CDATA[<y><y>]]><info/></topology>";
        for text in [&nested(MAX_DEPTH), &attributes(MAX_ATTRIBUTES), lstopo] {
            assert!(document(text).is_ok(), "{text}");
        }
        let deep = format!("<a>{}</a>", "<b><c/></b>".repeat(10 * MAX_DEPTH));
        assert!(document(&deep).is_ok());
        for cut in 0..lstopo.len() {
            // Nothing is sliced where no character begins.
            let _ = check(lstopo.get(..cut).unwrap_or_default());
        }
    }
}
