//! Writes frames into a pcapng file.

use super::frame::Frame;
use rocescope_wire::LinkType;
use std::io::{self, Write};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const COMMENT: u16 = 1;
/// `if_name`.
const NAME: u16 = 2;
/// `shb_userappl`: the program that wrote the section.
const APPLICATION: u16 = 4;
/// `if_tsresol`: the unit of times, as a negative power of ten.
const RESOLUTION: u16 = 9;
/// "Unspecified" as the length of a section.
const UNKNOWN: u64 = u64::MAX;

/// Writes one section with times in nanoseconds; describes an interface before its first frame.
///
/// Format: draft-ietf-opsawg-pcapng, sections 4.1 to 4.3.
#[derive(Debug)]
pub struct PcapNgWriter<W> {
    out: W,
    /// Interfaces described so far, by their index and link type.
    interfaces: Vec<(u32, LinkType)>,
    /// Names of interfaces by their index.
    names: Vec<(u32, String)>,
    block: Vec<u8>,
}

impl<W: Write> PcapNgWriter<W> {
    /// Starts the section.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn new(out: W) -> io::Result<Self> {
        Self::described(out, "", Vec::new())
    }

    /// Starts the section with a comment, unless that is empty; `names` has the names of interfaces by
    /// their index.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn described(out: W, comment: &str, names: Vec<(u32, String)>) -> io::Result<Self> {
        let mut writer = Self {
            out,
            interfaces: Vec::new(),
            names,
            block: Vec::new(),
        };
        writer.begin();
        writer.put(&0x1a2b_3c4d_u32.to_le_bytes());
        // Version 1.0.
        writer.put(&[1, 0, 0, 0]);
        writer.put(&UNKNOWN.to_le_bytes());
        if !comment.is_empty() {
            writer.option(COMMENT, comment.as_bytes());
        }
        writer.option(APPLICATION, concat!("rocescope ", env!("CARGO_PKG_VERSION")).as_bytes());
        writer.end_options();
        writer.end(SECTION)?;
        Ok(writer)
    }

    /// Writes a frame, with a comment unless that is empty. Omits a frame of an unsupported link layer,
    /// because its number is no longer known.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn frame(&mut self, frame: &Frame<'_>, comment: &str) -> io::Result<()> {
        let Some(link) = frame.link else {
            return Ok(());
        };
        let key = (frame.interface, link);
        let index = match self.interfaces.iter().position(|known| *known == key) {
            Some(index) => index,
            None => {
                self.interface(frame.interface, link)?;
                self.interfaces.push(key);
                self.interfaces.len() - 1
            }
        };
        self.begin();
        self.put(&(index as u32).to_le_bytes());
        self.put(&((frame.time_ns >> 32) as u32).to_le_bytes());
        self.put(&(frame.time_ns as u32).to_le_bytes());
        self.put(&(frame.bytes.len() as u32).to_le_bytes());
        self.put(&frame.lengths.original.to_le_bytes());
        self.put(frame.bytes);
        self.pad();
        if !comment.is_empty() {
            self.option(COMMENT, comment.as_bytes());
            self.end_options();
        }
        self.end(ENHANCED_PACKET)
    }

    /// Flushes everything to the stream.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// The stream, between two blocks.
    pub const fn out(&mut self) -> &mut W {
        &mut self.out
    }

    fn interface(&mut self, index: u32, link: LinkType) -> io::Result<()> {
        self.begin();
        self.put(&number(link).to_le_bytes());
        self.put(&[0; 2]);
        // No limit on the length of frames.
        self.put(&[0; 4]);
        let name = self.names.iter().find(|(known, _)| *known == index);
        if let Some((_, name)) = name.cloned() {
            self.option(NAME, name.as_bytes());
        }
        self.option(RESOLUTION, &[9]);
        self.end_options();
        self.end(INTERFACE)
    }

    fn begin(&mut self) {
        self.block.clear();
    }

    fn put(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.put(&code.to_le_bytes());
        self.put(&(value.len() as u16).to_le_bytes());
        self.put(value);
        self.pad();
    }

    fn end_options(&mut self) {
        self.put(&[0; 4]);
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Writes the block with its type, and its length at both ends.
    fn end(&mut self, kind: u32) -> io::Result<()> {
        let bytes = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&bytes)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&bytes)
    }
}

/// The number in pcap's registry.
pub(crate) const fn number(link: LinkType) -> u16 {
    match link {
        LinkType::Ethernet => 1,
        LinkType::Raw => 101,
        LinkType::LinuxCooked => 113,
        LinkType::LinuxCooked2 => 276,
    }
}

#[cfg(test)]
mod tests {
    use super::{PcapNgWriter, number};
    use crate::file::{Frame, FrameReader};
    use rocescope_wire::{FrameLengths, LinkType};

    #[test]
    fn frames_round_trip() {
        let links = [
            LinkType::Ethernet,
            LinkType::Raw,
            LinkType::LinuxCooked,
            LinkType::LinuxCooked2,
        ];
        let frames: Vec<(Vec<u8>, LinkType, u64)> = (0..40_u64)
            .map(|i| {
                let bytes = (0..i as u8 * 3).collect();
                (bytes, links[i as usize % 4], 1_795_228_209_123_456_789 + i)
            })
            .collect();
        let mut file = Vec::new();
        let mut writer = PcapNgWriter::new(&mut file).unwrap();
        for (bytes, link, time_ns) in &frames {
            let lengths = FrameLengths {
                captured: bytes.len() as u32,
                original: bytes.len() as u32 + 7,
            };
            let frame = Frame {
                bytes,
                link: Some(*link),
                lengths,
                time_ns: *time_ns,
                interface: 5,
            };
            writer.frame(&frame, if bytes.len() > 9 { "why" } else { "" }).unwrap();
        }
        writer.finish().unwrap();
        let mut reader = FrameReader::new(&file[..]).unwrap();
        for (bytes, link, time_ns) in &frames {
            let frame = reader.next_frame().unwrap().unwrap();
            assert_eq!((frame.bytes, frame.link), (&bytes[..], Some(*link)));
            assert_eq!(frame.time_ns, *time_ns);
            assert_eq!(frame.lengths.original, bytes.len() as u32 + 7);
        }
        assert!(reader.next_frame().unwrap().is_none());
    }

    #[test]
    fn link_type_numbers_round_trip() {
        for number_in_registry in 0..300 {
            if let Some(link) = LinkType::from_number(number_in_registry) {
                let written = u32::from(number(link));
                assert_eq!(LinkType::from_number(written), Some(link));
            }
        }
    }
}
