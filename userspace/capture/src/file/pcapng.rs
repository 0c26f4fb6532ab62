//! The pcapng format: sections with their own interfaces, made of blocks, some of which are packets.

use super::frame::{Found, Step};
use pcap_parser::Block;
use pcap_parser::pcapng::{parse_block_be, parse_block_le};
use rocescope_wire::{FrameLengths, LinkType};

const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Written in the byte order of the section, after its length.
const BIG_ENDIAN_MAGIC: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];
const LITTLE_ENDIAN_MAGIC: [u8; 4] = [0x4d, 0x3c, 0x2b, 0x1a];
/// Blocks of secrets or names may be long; a block that claims more is damaged.
const LONGEST_BLOCK: usize = 16 * 1024 * 1024;
/// The obsolete packet block, replaced by the enhanced one.
const OBSOLETE_PACKET: u32 = 2;
/// Offset of the frame in an enhanced (or obsolete) and in a simple packet block.
const PACKET_AT: usize = 28;
const SIMPLE_AT: usize = 12;

#[derive(Default)]
pub(super) struct PcapNg {
    big_endian: bool,
    /// Interfaces of the current section.
    interfaces: Vec<Interface>,
    /// The number of interfaces in the sections before, for an index that is unique in the file.
    interfaces_before: u32,
    /// Simple packet blocks carry no time: they get that of the frame before.
    last_time_ns: u64,
}

struct Interface {
    link: Option<LinkType>,
    snaplen: u32,
    /// Units in a second; `None` if the description is invalid.
    resolution: Option<u64>,
    /// Seconds to add.
    offset_s: i64,
}

impl PcapNg {
    /// Reads the next block.
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
                _ => {
                    return Err(format!("a section with the unknown byte order {magic:02x?}"));
                }
            };
        }
        let block_bytes = if self.big_endian {
            u32::from_be_bytes(*length)
        } else {
            u32::from_le_bytes(*length)
        } as usize;
        if !(12..=LONGEST_BLOCK).contains(&block_bytes) {
            return Err(format!("a block with an impossible length of {block_bytes} bytes"));
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
            Err(_) => Err(format!("an unreadable block of {block_bytes} bytes")),
        }
    }

    fn take(&mut self, block: &Block<'_>, record_bytes: usize) -> Result<Step, String> {
        match block {
            Block::SectionHeader(_) => {
                self.interfaces_before += self.interfaces.len() as u32;
                self.interfaces.clear();
            }
            Block::InterfaceDescription(description) => {
                self.interfaces.push(Interface {
                    link: LinkType::from_number(description.linktype.0 as u32),
                    snaplen: description.snaplen,
                    resolution: resolution(description.if_tsresol),
                    offset_s: description.ts_offset(),
                });
            }
            Block::EnhancedPacket(packet) => {
                return self.packet(
                    record_bytes,
                    &Packet {
                        interface: packet.if_id,
                        units: u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low),
                        captured: packet.caplen,
                        original: packet.origlen,
                        room: packet.data.len(),
                    },
                );
            }
            // The library does not convert the type of an unknown block.
            Block::Unknown(block) if [OBSOLETE_PACKET, OBSOLETE_PACKET.swap_bytes()].contains(&block.block_type) => {
                let packet =
                    obsolete_packet(block.data, self.big_endian).ok_or("a packet block that ends inside its header")?;
                return self.packet(record_bytes, &packet);
            }
            Block::SimplePacket(packet) => {
                let interface = self.interface(0)?;
                let captured = match interface.snaplen {
                    0 => packet.origlen,
                    snaplen => packet.origlen.min(snaplen),
                };
                if captured as usize > packet.data.len() {
                    return Err(format!("a simple packet of {captured} bytes in a shorter block"));
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

    /// A frame of an enhanced or an obsolete packet block, which begin alike.
    fn packet(&mut self, record_bytes: usize, packet: &Packet) -> Result<Step, String> {
        let interface = self.interface(packet.interface)?;
        if packet.captured as usize > packet.room {
            return Err(format!("a frame of {} bytes in a shorter block", packet.captured));
        }
        let link = interface.link;
        let time_ns = interface.time_ns(packet.units).ok_or_else(|| {
            format!(
                "a frame of interface {}, whose time resolution is invalid",
                packet.interface
            )
        })?;
        self.last_time_ns = time_ns;
        Ok(Step::Frame(Found {
            record_bytes,
            at: PACKET_AT,
            link,
            lengths: FrameLengths {
                captured: packet.captured,
                original: packet.original.max(packet.captured),
            },
            time_ns,
            interface: self.interfaces_before.saturating_add(packet.interface),
        }))
    }

    fn interface(&self, index: u32) -> Result<&Interface, String> {
        self.interfaces
            .get(index as usize)
            .ok_or_else(|| format!("a frame of interface {index}, which has no description"))
    }
}

impl Interface {
    /// `units` of this interface as nanoseconds since the epoch, kept within 0 and 2^63.
    fn time_ns(&self, units: u64) -> Option<u64> {
        let resolution = self.resolution?;
        let seconds = i128::from(units / resolution) + i128::from(self.offset_s);
        let fraction = u128::from(units % resolution) * 1_000_000_000;
        let fraction_ns = fraction / u128::from(resolution);
        let time_ns = seconds * 1_000_000_000 + fraction_ns as i128;
        Some(time_ns.clamp(0, i128::from(i64::MAX)) as u64)
    }
}

/// Units in a second by the option `if_tsresol`: a power of ten, or of two with the high bit set.
/// The library (0.17) rejects every power of two.
fn resolution(option: u8) -> Option<u64> {
    let exponent = u32::from(option & 0x7f);
    if option & 0x80 == 0 {
        10u64.checked_pow(exponent)
    } else {
        1u64.checked_shl(exponent)
    }
}

/// The description of a frame in a packet block.
struct Packet {
    interface: u32,
    units: u64,
    captured: u32,
    original: u32,
    /// Bytes of the block available for the frame.
    room: usize,
}

/// Reads the body of an obsolete packet block.
fn obsolete_packet(body: &[u8], big_endian: bool) -> Option<Packet> {
    let (head, data) = body.split_first_chunk::<20>()?;
    let [i1, i0, _, _, rest @ ..] = *head;
    let interface = if big_endian { [i1, i0] } else { [i0, i1] };
    let word = |at: usize| {
        let bytes = rest.get(at..)?.first_chunk::<4>()?;
        Some(if big_endian {
            u32::from_be_bytes(*bytes)
        } else {
            u32::from_le_bytes(*bytes)
        })
    };
    Some(Packet {
        interface: u32::from(u16::from_be_bytes(interface)),
        units: u64::from(word(0)?) << 32 | u64::from(word(4)?),
        captured: word(8)?,
        original: word(12)?,
        room: data.len(),
    })
}
