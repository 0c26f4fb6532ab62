//! Attaches a program to both directions of a link with `tc`, which loads it from an object file.

use crate::fabric::namespace::output;
use anyhow::Result;
use object::write::{Object, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope};
use std::path::Path;
use std::process::Command;

const SECTION: &str = "tc";

/// The object file of a program.
fn object(program: &[u8]) -> Result<Vec<u8>> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::Bpf, Endianness::Little);
    let text = object.add_section(Vec::new(), SECTION.into(), SectionKind::Text);
    let value = object.append_section_data(text, program, 8);
    object.add_symbol(Symbol {
        name: b"fault".to_vec(),
        value,
        size: program.len() as u64,
        kind: SymbolKind::Text,
        scope: SymbolScope::Linkage,
        weak: false,
        section: SymbolSection::Section(text),
        flags: SymbolFlags::None,
    });
    let license = object.add_section(Vec::new(), b"license".to_vec(), SectionKind::Data);
    object.append_section_data(license, b"GPL\0", 1);
    Ok(object.write()?)
}

/// Passes all frames of an interface through a program, incoming (`ingress`) or outgoing (`egress`). `file` receives
/// the object file.
pub(super) fn attach(namespace: &str, interface: &str, program: &[u8], directions: &[&str], file: &Path) -> Result<()> {
    std::fs::write(file, object(program)?)?;
    let tc = |arguments: &[&str]| {
        let mut tc = Command::new("tc");
        tc.args(["-n", namespace]).args(arguments);
        output(&mut tc).map(drop)
    };
    tc(&["qdisc", "add", "dev", interface, "clsact"])?;
    let file = file.display().to_string();
    for direction in directions {
        tc(&[
            "filter",
            "add",
            "dev",
            interface,
            direction,
            "bpf",
            "direct-action",
            "object-file",
            &file,
            "section",
            SECTION,
        ])?;
    }
    Ok(())
}

/// Detaches the program.
pub(super) fn detach(namespace: &str, interface: &str) -> Result<()> {
    let mut tc = Command::new("tc");
    tc.args(["-n", namespace, "qdisc", "del", "dev", interface, "clsact"]);
    output(&mut tc).map(drop)
}
