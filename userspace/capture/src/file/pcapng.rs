//! The next generation format: blocks, of which packets are one kind, in sections with interfaces
//! of their own.

use super::{Found, Step};
use pcap_parser::Block;
use pcap_parser::pcapng::{parse_block_be, parse_block_le};
use rocescope_wire::{FrameLengths, LinkType};

const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Written in the byte order of the section behind its length.
const BIG_ENDIAN_MAGIC: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];
const LITTLE_ENDIAN_MAGIC: [u8; 4] = [0x4d, 0x3c, 0x2b, 0x1a];
/// Blocks of secrets or names may be long; one that claims more is damage.
const LONGEST_BLOCK: usize = 16 * 1024 * 1024;
/// Offset of the frame in an enhanced and in a simple packet block.
const ENHANCED_AT: usize = 28;
const SIMPLE_AT: usize = 12;

#[derive(Default)]
pub(super) struct PcapNg {
    big_endian: bool,
    /// Interfaces of the section that is being read.
    interfaces: Vec<Interface>,
    /// Interfaces of the sections before it: an index over the whole file tells them apart.
    interfaces_before: u32,
    /// Simple packet blocks carry no time: they take that of the frame before.
    last_time_ns: u64,
}

struct Interface {
    link: Option<LinkType>,
    snaplen: u32,
    /// Units in a second.
    resolution: u64,
    /// Seconds to add.
    offset_s: i64,
}

impl PcapNg {
    /// Takes the next block.
    #[inline]
    pub(super) fn step(&mut self, bytes: &[u8]) -> Result<Step, String> {
        let Some((kind, rest)) = bytes.split_first_chunk::<4>() else {
            return Ok(Step::Need(12));
        };
        let (Some(length), Some(magic)) = (rest.first_chunk::<4>(), rest.get(4..8)) else {
            return Ok(Step::Need(12));
        };
        if *kind == SECTION_HEADER {
            self.big_endian = match magic {
                magic if magic == BIG_ENDIAN_MAGIC => true,
                magic if magic == LITTLE_ENDIAN_MAGIC => false,
                _ => return Err(format!("a section of byte order {magic:02x?}")),
            };
        }
        let block_bytes = if self.big_endian {
            u32::from_be_bytes(*length)
        } else {
            u32::from_le_bytes(*length)
        } as usize;
        if !(12..=LONGEST_BLOCK).contains(&block_bytes) {
            return Err(format!("a block that claims {block_bytes} bytes"));
        }
        let Some(block) = bytes.get(..block_bytes) else {
            return Ok(Step::Need(block_bytes));
        };
        let parsed = if self.big_endian {
            parse_block_be(block)
        } else {
            parse_block_le(block)
        };
        match parsed {
            Ok((_, block)) => self.take(&block, block_bytes),
            Err(_) => Err(format!(
                "a block of {block_bytes} bytes that cannot be read"
            )),
        }
    }

    fn take(&mut self, block: &Block<'_>, record_bytes: usize) -> Result<Step, String> {
        match block {
            Block::SectionHeader(_) => {
                self.interfaces_before += self.interfaces.len() as u32;
                self.interfaces.clear();
            }
            Block::InterfaceDescription(description) => {
                let resolution = description
                    .ts_resolution()
                    .filter(|resolution| *resolution > 0)
                    .ok_or("an interface whose time resolution makes no sense")?;
                self.interfaces.push(Interface {
                    link: LinkType::from_number(description.linktype.0 as u32),
                    snaplen: description.snaplen,
                    resolution,
                    offset_s: description.ts_offset(),
                });
            }
            Block::EnhancedPacket(packet) => {
                let interface = self.interface(packet.if_id)?;
                let units = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                if packet.caplen as usize > packet.data.len() {
                    return Err(format!(
                        "a frame of {} bytes in a shorter block",
                        packet.caplen
                    ));
                }
                let link = interface.link;
                self.last_time_ns = interface.time_ns(units);
                return Ok(Step::Frame(Found {
                    record_bytes,
                    at: ENHANCED_AT,
                    link,
                    lengths: FrameLengths {
                        captured: packet.caplen,
                        original: packet.origlen.max(packet.caplen),
                    },
                    time_ns: self.last_time_ns,
                    interface: self.interfaces_before + packet.if_id,
                }));
            }
            Block::SimplePacket(packet) => {
                let interface = self.interface(0)?;
                let captured = match interface.snaplen {
                    0 => packet.origlen,
                    snaplen => packet.origlen.min(snaplen),
                };
                if captured as usize > packet.data.len() {
                    return Err(format!(
                        "a simple packet of {captured} bytes in a shorter block"
                    ));
                }
                return Ok(Step::Frame(Found {
                    record_bytes,
                    at: SIMPLE_AT,
                    link: interface.link,
                    lengths: FrameLengths {
                        captured,
                        original: packet.origlen,
                    },
                    time_ns: self.last_time_ns,
                    interface: self.interfaces_before,
                }));
            }
            _ => {}
        }
        Ok(Step::Skip(record_bytes))
    }

    fn interface(&self, index: u32) -> Result<&Interface, String> {
        self.interfaces
            .get(index as usize)
            .ok_or_else(|| format!("a frame of interface {index}, which was not described"))
    }
}

impl Interface {
    /// `units` of this interface as nanoseconds since the epoch, kept within 0 and 2^63.
    fn time_ns(&self, units: u64) -> u64 {
        let seconds = i128::from(units / self.resolution) + i128::from(self.offset_s);
        let fraction = u128::from(units % self.resolution) * 1_000_000_000;
        let fraction_ns = fraction / u128::from(self.resolution);
        let time_ns = seconds * 1_000_000_000 + fraction_ns as i128;
        time_ns.clamp(0, i128::from(i64::MAX)) as u64
    }
}
