//! What a column can hold, where that is less than its type: the numbers of a header field, the
//! names of the specification, addresses. A comparison with anything else would never hold, and
//! is most likely misspelt.

use super::literal::{Literal, fits};
use crate::Column;
use crate::nearest::nearest;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_wire::Opcode;

/// Whether `column`, which the user calls `name`, can hold `literal`, which reads `text`.
///
/// # Errors
/// A sentence that says what it holds.
pub(super) fn check(
    name: &str,
    column: &Column,
    literal: &Literal,
    text: &str,
) -> Result<(), String> {
    match (column.name, literal) {
        (_, Literal::Null) => Ok(()),
        ("src" | "dst", Literal::Pattern(pattern)) if !pattern.contains('*') => {
            Err(format!("`{text}` is no IP address"))
        }
        ("opcode", Literal::Pattern(pattern)) => opcode(pattern),
        ("opcode" | "service", Literal::Network(_)) => {
            Err(format!("`{text}` is an address, and no {}", column.name))
        }
        ("service", Literal::Pattern(pattern)) => service(pattern),
        (field, literal) => match (bits(field), literal) {
            (None, _) => Ok(()),
            (Some(bits), Literal::Integer(number)) if (0..1 << bits).contains(number) => Ok(()),
            (Some(bits), _) => {
                let most = (1u32 << bits) - 1;
                Err(format!(
                    "`{name}` is a whole number from 0 to {most}: `{text}` is not"
                ))
            }
        },
    }
}

/// How wide the header field is that the column holds.
fn bits(column: &str) -> Option<u32> {
    match column {
        "vlan" | "inner_vlan" => Some(12),
        "udp_src_port" | "udp_dst_port" => Some(16),
        "src_qpn" | "dst_qpn" | "start_psn" | "vni" => Some(24),
        _ => None,
    }
}

fn opcodes() -> impl Iterator<Item = Opcode> {
    (0..=u8::MAX).map(Opcode)
}

fn opcode(pattern: &str) -> Result<(), String> {
    let names: Vec<String> = opcodes().map(|opcode| opcode.to_string()).collect();
    let fitting = |pattern: &str| names.iter().filter(|name| fits(name, pattern)).count();
    if fitting(pattern) > 0 {
        return Ok(());
    }
    // Of a name that lacks some of its words, these words with any others between them.
    let words = pattern.replace('_', "*");
    let wider = [format!("{words}*"), format!("*{words}*")];
    let wider = wider.iter().find(|wider| fitting(wider) > 0);
    let upper = pattern.to_ascii_uppercase();
    let near = nearest(&upper, names.iter().map(String::as_str));
    let hint = match near.or(wider.map(String::as_str)) {
        Some(hint) => format!("`{hint}` is near"),
        None => "some are RC_SEND_ONLY, UD_SEND_ONLY and CNP".into(),
    };
    Err(format!("no opcode is called `{pattern}`; {hint}"))
}

fn service(pattern: &str) -> Result<(), String> {
    let names: BTreeSet<&str> = opcodes().map(|opcode| opcode.transport().name()).collect();
    if names.iter().any(|name| fits(name, pattern)) {
        return Ok(());
    }
    let names = Vec::from_iter(names).join(", ");
    Err(format!(
        "no service is called `{pattern}`; there are {names}"
    ))
}
