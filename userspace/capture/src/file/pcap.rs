//! The classic pcap format: a header, then records.

use super::error::FileError;
use super::frame::{Found, Step};
use pcap_parser::nom;
use pcap_parser::{PcapError, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};
use rocescope_wire::{FrameLengths, LinkType};

/// Four times the largest snapshot length of libpcap: a record that claims more is damaged and must
/// not cause an allocation.
const LONGEST_FRAME: u32 = 1024 * 1024;
/// Two words of time, two words of length.
const RECORD_HEADER_BYTES: usize = 16;

pub(super) struct Pcap {
    big_endian: bool,
    /// Nanoseconds in a unit of the fraction.
    fraction_ns: u64,
    link: LinkType,
}

impl Pcap {
    /// Reads the file header from the first bytes and returns its length.
    pub(super) fn read_header(bytes: &[u8]) -> Result<(Self, usize), FileError> {
        let header = match parse_pcap_header(bytes) {
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
        // The Kuznetsov variant, which no tool has written for twenty years.
        if header.is_modified_format() {
            return Err(FileError::NotACapture(bytes.get(..4).unwrap_or_default().to_vec()));
        }
        // The high bits describe frame check sequences.
        let number = header.network.0 as u32 & 0x03ff_ffff;
        let link = LinkType::from_number(number).ok_or(FileError::LinkType(number))?;
        let fraction_ns = if header.is_nanosecond_precision() { 1 } else { 1_000 };
        Ok((
            Self {
                big_endian: header.is_bigendian(),
                fraction_ns,
                link,
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
        let parsed = if self.big_endian {
            parse_pcap_frame_be(bytes)
        } else {
            parse_pcap_frame(bytes)
        };
        let (rest, record) = match parsed {
            Ok(parsed) => parsed,
            Err(nom::Err::Incomplete(_)) => {
                return Ok(Step::Need(RECORD_HEADER_BYTES + captured as usize));
            }
            Err(nom::Err::Error(error) | nom::Err::Failure(error)) => return Err(describe(&error)),
        };
        Ok(Step::Frame(Found {
            record_bytes: bytes.len() - rest.len(),
            at: RECORD_HEADER_BYTES,
            link: Some(self.link),
            lengths: FrameLengths {
                captured: record.caplen,
                // Some writers leave it 0.
                original: record.origlen.max(record.caplen),
            },
            time_ns: u64::from(record.ts_sec) * 1_000_000_000 + u64::from(record.ts_usec) * self.fraction_ns,
            interface: 0,
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
