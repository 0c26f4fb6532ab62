//! Checks values against columns that cannot hold every value of their type: header fields, names of the specification,
//! addresses. A comparison with any other value would never match, and is most likely a typo.

use super::literal::{Literal, matches};
use crate::Column;
use crate::nearest::nearest;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_wire::Opcode;
use rocescope_wire::extension::Syndrome;

/// Checks that `column`, which the user wrote as `name`, can hold `literal`, which the user wrote as `text`.
///
/// # Errors
/// Returns a sentence with the expected values.
pub(super) fn check(name: &str, column: &Column, literal: &Literal, text: &str) -> Result<(), String> {
    match (column.name, literal) {
        (_, Literal::Null) => Ok(()),
        ("src" | "dst", Literal::Pattern(pattern)) if !pattern.contains('*') => {
            Err(format!("`{text}` is not an IP address"))
        }
        ("opcode", Literal::Pattern(pattern)) => opcode(pattern),
        ("opcode" | "service" | "syndrome", Literal::Network(_)) => {
            Err(format!("`{}` expects a name, not the address `{text}`", column.name))
        }
        ("service", Literal::Pattern(pattern)) => service(pattern),
        ("syndrome", Literal::Pattern(pattern)) => syndrome(pattern),
        (field, literal) => match (bits(field), literal) {
            (None, _) => Ok(()),
            (Some(bits), Literal::Integer(number)) if (0..1 << bits).contains(number) => Ok(()),
            (Some(bits), _) => {
                let max = (1u32 << bits) - 1;
                Err(format!(
                    "invalid `{name}` `{text}`: expected an integer from 0 to {max}"
                ))
            }
        },
    }
}

/// Returns the width of the column's header field in bits.
fn bits(column: &str) -> Option<u32> {
    match column {
        "vlan" | "inner_vlan" => Some(12),
        "udp_src_port" | "udp_dst_port" => Some(16),
        "src_qpn" | "dst_qpn" | "psn" | "start_psn" | "vni" => Some(24),
        _ => None,
    }
}

fn opcodes() -> impl Iterator<Item = Opcode> {
    (0..=u8::MAX).map(Opcode)
}

fn opcode(pattern: &str) -> Result<(), String> {
    let names: Vec<String> = opcodes().map(|opcode| opcode.to_string()).collect();
    let matching = |pattern: &str| names.iter().filter(|name| matches(name, pattern)).count();
    if matching(pattern) > 0 {
        return Ok(());
    }
    // For an incomplete name, suggest a pattern with its words and any others between them.
    let words = pattern.replace('_', "*");
    let wider = [format!("{words}*"), format!("*{words}*")];
    let wider = wider.iter().find(|wider| matching(wider) > 0);
    let upper = pattern.to_ascii_uppercase();
    let near = nearest(&upper, names.iter().map(String::as_str));
    let hint = match near.or(wider.map(String::as_str)) {
        Some(hint) => format!("did you mean `{hint}`?"),
        None => "examples are RC_SEND_ONLY, UD_SEND_ONLY and CNP".into(),
    };
    Err(format!("unknown opcode `{pattern}`; {hint}"))
}

fn service(pattern: &str) -> Result<(), String> {
    let names: BTreeSet<&str> = opcodes().map(|opcode| opcode.transport().name()).collect();
    if names.iter().any(|name| matches(name, pattern)) {
        return Ok(());
    }
    let names = Vec::from_iter(names).join(", ");
    Err(format!("unknown service `{pattern}`; expected one of {names}"))
}

/// Syndromes of RoCEv2; a word that begins with `nack_` is the reason of a NACK of MRC.
fn syndrome(pattern: &str) -> Result<(), String> {
    let names: BTreeSet<&str> = (0..=u8::MAX).map(|byte| Syndrome(byte).name()).collect();
    if pattern.starts_with("nack") || names.iter().any(|name| matches(name, pattern)) {
        return Ok(());
    }
    let names = Vec::from_iter(names).join(", ");
    Err(format!("unknown syndrome `{pattern}`; expected one of {names}"))
}
