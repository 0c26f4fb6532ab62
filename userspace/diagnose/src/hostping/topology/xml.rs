//! What the readers of XML share.

use crate::hostping::refusal::{Refusal, line_number};
use alloc::format;
use alloc::string::ToString;
use core::str::FromStr;
use roxmltree::{Document, Error, Node, ParsingOptions};

/// More nodes than any host has: a file with more is refused.
const MAX_NODES: u32 = 1_000_000;

pub(super) fn document(text: &str) -> Result<Document<'_>, Refusal> {
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
        Refusal::at(line, error.to_string())
    })
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
