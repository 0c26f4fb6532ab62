//! The classic pcap format: a header, then records.

use super::erf;
use super::error::FileError;
use super::frame::{Found, Step};
use pcap_parser::nom;
use pcap_parser::{PcapError, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};
use rocescope_wire::{FrameLengths, LinkType};

/// Four times the largest snapshot length of libpcap: a record that claims more is damaged and must
/// not cause an allocation.
const LONGEST_FRAME: u32 = 1024 * 1024;
const FILE_HEADER_BYTES: usize = 24;
/// Two words of time, two words of length.
const RECORD_HEADER_BYTES: usize = 16;
/// Of the modified format (Kuznetsov): interface, protocol and type of the packet follow.
const MODIFIED_HEADER_BYTES: usize = 24;

/// Whether a file begins as one of this format.
pub(super) const fn is_known(head: &[u8]) -> bool {
    matches!(
        head,
        [0xa1, 0xb2, 0xc3, 0xd4, ..]
            | [0xd4, 0xc3, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0x3c, 0x4d, ..]
            | [0x4d, 0x3c, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0xcd, 0x34, ..]
            | [0x34, 0xcd, 0xb2, 0xa1, ..]
    )
}

pub(super) struct Pcap {
    big_endian: bool,
    /// Nanoseconds in a unit of the fraction.
    fraction_ns: u64,
    link: LinkType,
    /// Frames are inside a record of ERF.
    is_erf: bool,
    /// Bytes between the header of a record and its frame.
    more_bytes: usize,
}

impl Pcap {
    /// Reads the file header from the first bytes and returns its length.
    pub(super) fn read_header(bytes: &[u8]) -> Result<(Self, usize), FileError> {
        // The library reads the modified format in one byte order alone; apart from its magic the header is the same.
        let plain_magic: Option<[u8; 4]> = match bytes {
            [0xa1, 0xb2, 0xcd, 0x34, ..] => Some([0xa1, 0xb2, 0xc3, 0xd4]),
            [0x34, 0xcd, 0xb2, 0xa1, ..] => Some([0xd4, 0xc3, 0xb2, 0xa1]),
            _ => None,
        };
        let plain: Vec<u8> = plain_magic
            .iter()
            .flatten()
            .chain(bytes.iter().skip(plain_magic.map_or(0, |magic| magic.len())))
            .take(FILE_HEADER_BYTES)
            .copied()
            .collect();
        let header = match parse_pcap_header(&plain) {
            Ok((_, header)) => header,
            Err(nom::Err::Incomplete(_)) if bytes.len() >= 4 => {
                return Err(FileError::CutShort {
                    frames: 0,
                    at: 0,
                    left: bytes.len() as u64,
                });
            }
            Err(_) => {
                let first = bytes.get(..bytes.len().min(8)).unwrap_or_default();
                return Err(FileError::NotACapture(first.to_vec()));
            }
        };
        // The high bits describe frame check sequences.
        let number = header.network.0 as u32 & 0x03ff_ffff;
        let is_erf = number == erf::LINK;
        let link = match is_erf {
            true => LinkType::Ethernet,
            false => LinkType::from_number(number).ok_or(FileError::LinkType(number))?,
        };
        let fraction_ns = if header.is_nanosecond_precision() { 1 } else { 1_000 };
        Ok((
            Self {
                big_endian: header.is_bigendian(),
                fraction_ns,
                link,
                is_erf,
                more_bytes: plain_magic.map_or(0, |_| MODIFIED_HEADER_BYTES - RECORD_HEADER_BYTES),
            },
            header.size(),
        ))
    }

    /// Finds the next record.
    #[inline]
    pub(super) fn step(&mut self, bytes: &[u8]) -> Result<Step, String> {
        let Some(header) = bytes.first_chunk::<RECORD_HEADER_BYTES>() else {
            return Ok(Step::Need(RECORD_HEADER_BYTES));
        };
        let captured = [header[8], header[9], header[10], header[11]];
        let captured = if self.big_endian {
            u32::from_be_bytes(captured)
        } else {
            u32::from_le_bytes(captured)
        };
        // Decided by the header, not by the buffered bytes: a pipe and a file end alike.
        if captured > LONGEST_FRAME {
            return Err(format!("a record with an impossible frame length of {captured} bytes"));
        }
        let record_bytes = RECORD_HEADER_BYTES + self.more_bytes + captured as usize;
        if bytes.len() < record_bytes {
            return Ok(Step::Need(record_bytes));
        }
        let parsed = if self.big_endian {
            parse_pcap_frame_be(bytes)
        } else {
            parse_pcap_frame(bytes)
        };
        let (_, record) = match parsed {
            Ok(parsed) => parsed,
            Err(nom::Err::Incomplete(_)) => return Ok(Step::Need(record_bytes + 1)),
            Err(nom::Err::Error(error) | nom::Err::Failure(error)) => return Err(describe(&error)),
        };
        let found = Found {
            record_bytes,
            at: RECORD_HEADER_BYTES + self.more_bytes,
            link: Some(self.link),
            lengths: FrameLengths {
                captured: record.caplen,
                // Some writers leave it 0.
                original: record.origlen.max(record.caplen),
            },
            time_ns: u64::from(record.ts_sec) * 1_000_000_000 + u64::from(record.ts_usec) * self.fraction_ns,
            interface: 0,
        };
        Ok(Step::Frame(match self.is_erf {
            true => erf::inside(found, bytes),
            false => found,
        }))
    }
}

fn describe(error: &PcapError<&[u8]>) -> String {
    match error {
        PcapError::NomError(_, kind) | PcapError::OwnedNomError(_, kind) => {
            format!("an unreadable record ({kind:?})")
        }
        other => other.to_string(),
    }
}
