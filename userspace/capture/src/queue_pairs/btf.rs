//! The kernel's own description of its types, in `/sys/kernel/btf`: where a field of a structure is in the running kernel.
//!
//! The kernel describes itself in `vmlinux`, and each module that is loaded in a file of its own, whose numbers of types
//! and strings continue those of `vmlinux`. Source: `Documentation/bpf/btf.rst`, `include/uapi/linux/btf.h`.

use super::error::Error;
use std::fs;
use std::path::Path;

const MAGIC: u16 = 0xeb9f;
const HEADER_BYTES: usize = 24;
/// Structures within structures, and other names of types.
const DEPTH: u32 = 16;

mod kind {
    pub(super) const INT: u32 = 1;
    pub(super) const POINTER: u32 = 2;
    pub(super) const ARRAY: u32 = 3;
    pub(super) const STRUCT: u32 = 4;
    pub(super) const UNION: u32 = 5;
    pub(super) const ENUM: u32 = 6;
    pub(super) const TYPEDEF: u32 = 8;
    pub(super) const VOLATILE: u32 = 9;
    pub(super) const CONST: u32 = 10;
    pub(super) const RESTRICT: u32 = 11;
    pub(super) const PROTOTYPE: u32 = 13;
    pub(super) const VARIABLE: u32 = 14;
    pub(super) const SECTION: u32 = 15;
    pub(super) const FLOAT: u32 = 16;
    pub(super) const DECLARATION_TAG: u32 = 17;
    pub(super) const TYPE_TAG: u32 = 18;
    pub(super) const ENUM_64: u32 = 19;
}

/// A field of a structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    /// Bytes before it.
    pub(super) offset: u32,
    /// Its size in bytes.
    pub(super) bytes: u32,
}

/// The types of a file.
#[derive(Debug)]
struct Types {
    data: Vec<u8>,
    /// Where each type begins in `data`.
    starts: Vec<usize>,
    /// Where the strings are in `data`.
    strings: std::ops::Range<usize>,
    /// The number of the first type.
    first: u32,
    /// The number of the first byte of the strings.
    first_string: u32,
}

/// The types of the kernel and of some modules.
#[derive(Debug)]
pub(super) struct Btf {
    kernel: Types,
    modules: Vec<Types>,
}

/// A type as it is written.
#[derive(Clone, Copy, Debug)]
struct Type<'a> {
    of: &'a Types,
    at: usize,
    name: u32,
    kind: u32,
    /// Number of members or values.
    count: usize,
    /// Whether offsets of members hold sizes of bit fields.
    has_bit_fields: bool,
    /// A size, or the number of a type.
    size_or_type: u32,
}

impl Btf {
    /// Reads the types of the running kernel, and of those modules that are loaded and described; the others may be parts
    /// of the kernel.
    pub(super) fn of_this_kernel(directory: &Path, modules: &[&str]) -> Result<Self, Error> {
        let path = directory.join("vmlinux");
        let kernel = fs::read(&path).map_err(|error| Error::Types(path, error))?;
        let modules = modules.iter().filter_map(|name| fs::read(directory.join(name)).ok());
        Self::parse(kernel, modules)
    }

    /// The types in these files.
    pub(super) fn parse(kernel: Vec<u8>, modules: impl IntoIterator<Item = Vec<u8>>) -> Result<Self, Error> {
        let kernel = Types::parse(kernel, 1, 0)?;
        let first = kernel.first + kernel.starts.len() as u32;
        let first_string = kernel.strings.len() as u32;
        let modules = modules
            .into_iter()
            .map(|module| Types::parse(module, first, first_string));
        Ok(Self {
            modules: modules.collect::<Result<_, Error>>()?,
            kernel,
        })
    }

    /// A field by its structure and its name, with points between names of structures within: `ah_attr.grh.dgid`.
    pub(super) fn field(&self, structure: &str, path: &str) -> Result<Field, Error> {
        let missing = || Error::Field(format!("{structure}.{path}"));
        let mut offset = 0;
        let mut within = self.named(structure, kind::STRUCT).ok_or_else(missing)?;
        let mut names = path.split('.').peekable();
        while let Some(name) = names.next() {
            let (bits, of) = self.member(within, name, DEPTH).ok_or_else(missing)?;
            if bits % 8 != 0 {
                return Err(missing());
            }
            offset += bits / 8;
            if names.peek().is_none() {
                let bytes = self.size(within.of, of, DEPTH).ok_or_else(missing)?;
                return Ok(Field { offset, bytes });
            }
            within = self.resolved(within.of, of, DEPTH).ok_or_else(missing)?;
        }
        Err(missing())
    }

    /// The size of a structure.
    pub(super) fn bytes(&self, structure: &str) -> Result<u32, Error> {
        let found = self.named(structure, kind::STRUCT);
        found
            .map(|found| found.size_or_type)
            .ok_or_else(|| Error::Field(structure.to_owned()))
    }

    /// The number of a name of an enumeration.
    pub(super) fn constant(&self, enumeration: &str, name: &str) -> Result<u32, Error> {
        let missing = || Error::Field(format!("{enumeration}.{name}"));
        let found = self.named(enumeration, kind::ENUM).ok_or_else(missing)?;
        let value = (0..found.count).find_map(|at| {
            let at = found.at + 12 + at * 8;
            (self.string(found.of, found.of.word(at)?)? == name.as_bytes()).then(|| found.of.word(at + 4))?
        });
        value.ok_or_else(missing)
    }

    /// The first definition of a name: those of modules first.
    fn named(&self, name: &str, kind: u32) -> Option<Type<'_>> {
        let files = self.modules.iter().chain([&self.kernel]);
        files
            .flat_map(|of| of.starts.iter().filter_map(|start| of.at(*start)))
            .find(|found| found.kind == kind && self.string(found.of, found.name) == Some(name.as_bytes()))
    }

    /// A member, with its offset in bits and the number of its type; also those of structures without a name within.
    fn member(&self, within: Type<'_>, name: &str, depth: u32) -> Option<(u32, u32)> {
        if !matches!(within.kind, kind::STRUCT | kind::UNION) || depth == 0 {
            return None;
        }
        (0..within.count).find_map(|at| {
            let at = within.at + 12 + at * 12;
            let [member, of, offset] = [0, 4, 8].map(|field| within.of.word(at + field));
            let (member, of, offset) = (self.string(within.of, member?)?, of?, offset?);
            let bits = match within.has_bit_fields {
                // Its size in bits, if it is a bit field.
                true if offset >> 24 != 0 => return None,
                true => offset & 0xff_ffff,
                false => offset,
            };
            if member == name.as_bytes() {
                return Some((bits, of));
            }
            if !member.is_empty() {
                return None;
            }
            let inner = self.resolved(within.of, of, depth - 1)?;
            // The numbers of its types are those of the file that defines it.
            let (more, of) = self.member(inner, name, depth - 1)?;
            Some((bits + more, of))
        })
    }

    /// The type behind its other names.
    fn resolved<'a>(&'a self, from: &'a Types, number: u32, depth: u32) -> Option<Type<'a>> {
        let found = self.numbered(from, number)?;
        match found.kind {
            kind::TYPEDEF | kind::VOLATILE | kind::CONST | kind::RESTRICT | kind::TYPE_TAG if depth > 0 => {
                self.resolved(found.of, found.size_or_type, depth - 1)
            }
            kind::TYPEDEF | kind::VOLATILE | kind::CONST | kind::RESTRICT | kind::TYPE_TAG => None,
            _ => Some(found),
        }
    }

    fn numbered<'a>(&'a self, from: &'a Types, number: u32) -> Option<Type<'a>> {
        let of = if number < from.first { &self.kernel } else { from };
        of.at(*of.starts.get(number.checked_sub(of.first)? as usize)?)
    }

    fn size(&self, from: &Types, number: u32, depth: u32) -> Option<u32> {
        let found = self.resolved(from, number, depth)?;
        match found.kind {
            kind::INT | kind::STRUCT | kind::UNION | kind::ENUM | kind::ENUM_64 | kind::FLOAT => {
                Some(found.size_or_type)
            }
            kind::POINTER => Some(size_of::<usize>() as u32),
            kind::ARRAY if depth > 0 => {
                let element = self.size(found.of, found.of.word(found.at + 12)?, depth - 1)?;
                element.checked_mul(found.of.word(found.at + 20)?)
            }
            _ => None,
        }
    }

    fn string<'a>(&'a self, from: &'a Types, at: u32) -> Option<&'a [u8]> {
        let of = if at < from.first_string { &self.kernel } else { from };
        let at = (at - of.first_string) as usize;
        let rest = of.data.get(of.strings.clone())?.get(at..)?;
        rest.split(|byte| *byte == 0).next()
    }
}

impl Types {
    fn parse(data: Vec<u8>, first: u32, first_string: u32) -> Result<Self, Error> {
        let broken = || Error::Btf("a file of types is incomplete");
        let header: [u8; HEADER_BYTES] = data.first_chunk().copied().ok_or_else(broken)?;
        let word = |at: usize| {
            let bytes = header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_ne_bytes) as usize
        };
        if u16::from_ne_bytes([header[0], header[1]]) != MAGIC {
            return Err(Error::Btf("a file of types does not begin as one"));
        }
        let section = |offset: usize, bytes: usize| {
            let start = word(4).checked_add(offset)?;
            let end = start.checked_add(bytes)?;
            (end <= data.len()).then_some(start..end)
        };
        let types = section(word(8), word(12)).ok_or_else(broken)?;
        let strings = section(word(16), word(20)).ok_or_else(broken)?;
        let mut found = Self {
            data,
            starts: Vec::new(),
            strings,
            first,
            first_string,
        };
        let mut at = types.start;
        while at < types.end {
            let next = found.at(at).and_then(|found| at.checked_add(found.bytes()?));
            found.starts.push(at);
            at = next.ok_or(Error::Btf("a file of types has a kind of type that is not known"))?;
        }
        if at == types.end { Ok(found) } else { Err(broken()) }
    }

    fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.data.get(at..)?.first_chunk()?;
        Some(u32::from_ne_bytes(*bytes))
    }

    fn at(&self, at: usize) -> Option<Type<'_>> {
        let information = self.word(at + 4)?;
        Some(Type {
            of: self,
            at,
            name: self.word(at)?,
            kind: information >> 24 & 0x1f,
            count: (information & 0xffff) as usize,
            has_bit_fields: information >> 31 == 1,
            size_or_type: self.word(at + 8)?,
        })
    }
}

impl Type<'_> {
    /// Bytes to the next type; `None` for a kind of a later kernel.
    const fn bytes(&self) -> Option<usize> {
        let more = match self.kind {
            kind::INT | kind::VARIABLE | kind::DECLARATION_TAG => 4,
            kind::ARRAY => 12,
            kind::STRUCT | kind::UNION | kind::SECTION | kind::ENUM_64 => 12 * self.count,
            kind::ENUM | kind::PROTOTYPE => 8 * self.count,
            0..=kind::TYPE_TAG => 0,
            _ => return None,
        };
        Some(12 + more)
    }
}

#[cfg(test)]
#[path = "btf_tests.rs"]
mod tests;
