//! Control packets: whole CM datagrams, and TCP segments that become handshakes.

use aya::maps::{MapData, RingBuf};
use rocescope_record::handshake::HalfOpens;
use rocescope_record::{ControlPacket, MadRecord, SegmentRecord};

/// Control packets that wait for the watermark. The ring holds hundreds and is drained with the others.
pub(super) struct ControlPackets {
    ring: RingBuf<MapData>,
    half_open: HalfOpens,
    waiting: Vec<Record>,
    unreadable: u64,
}

enum Record {
    Mad(Box<MadRecord>),
    Segment(SegmentRecord),
}

impl Record {
    const fn time_ns(&self) -> u64 {
        match self {
            Self::Mad(record) => record.time_ns,
            Self::Segment(record) => record.time_ns,
        }
    }
}

impl ControlPackets {
    pub(super) fn new(ring: RingBuf<MapData>) -> Self {
        Self {
            ring,
            half_open: HalfOpens::default(),
            waiting: Vec::new(),
            unreadable: 0,
        }
    }

    /// Bytes in the ring that are not a record: a defect.
    pub(super) const fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Drains the ring and returns whether it held anything.
    pub(super) fn drain(&mut self) -> bool {
        let before = self.waiting.len();
        while let Some(bytes) = self.ring.next() {
            match bytes.len() {
                length if length == size_of::<MadRecord>() => {
                    let record = Box::new(bytemuck::pod_read_unaligned(&bytes));
                    self.waiting.push(Record::Mad(record));
                }
                length if length == size_of::<SegmentRecord>() => {
                    let record = bytemuck::pod_read_unaligned(&bytes);
                    self.waiting.push(Record::Segment(record));
                }
                length => self.unreadable += length as u64,
            }
        }
        self.waiting.len() > before
    }

    /// Delivers the packets that passed before `watermark_ns`, sorted by time.
    pub(super) fn release(&mut self, watermark_ns: u64, sink: &mut impl FnMut(ControlPacket<'_>)) {
        self.waiting.sort_by_key(Record::time_ns);
        let count = self.waiting.partition_point(|packet| packet.time_ns() < watermark_ns);
        self.hand_over(count, sink);
    }

    /// Delivers all packets in the order of publication.
    pub(super) fn release_as_published(&mut self, sink: &mut impl FnMut(ControlPacket<'_>)) {
        self.hand_over(self.waiting.len(), sink);
    }

    fn hand_over(&mut self, count: usize, sink: &mut impl FnMut(ControlPacket<'_>)) {
        for packet in self.waiting.drain(..count) {
            match packet {
                Record::Mad(record) => sink(ControlPacket::Mad(&record)),
                Record::Segment(record) => {
                    let segment = record.segment();
                    let whole = self.half_open.observe(&segment, record.interface, record.time_ns);
                    if let Some(handshake) = whole {
                        sink(ControlPacket::Handshake(&handshake));
                    }
                }
            }
        }
    }
}
