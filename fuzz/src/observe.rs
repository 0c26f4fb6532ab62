//! Passes frames with times through the run cache: no loss without a count.

use super::bytes::Bytes;
use rocescope_record::observer::FrameTime;
use rocescope_record::run::OpcodeTotals;
use rocescope_record::{Config, Counters, Observer, RunRecord, Sink, Slot, UetRecord};
use rocescope_wire::{Class, FrameLengths, LinkType};

/// Sums the runs that it gets, and drops a few as a full ring would.
struct Ledger {
    opcodes: [OpcodeTotals; 256],
    packets: u64,
    offered: u64,
    /// Drops every run of this number; 0 for none.
    lose: u64,
    lost_packets: u64,
    uet: u64,
}

impl Sink for Ledger {
    fn publish(&mut self, run: &RunRecord, counters: &mut Counters) {
        assert!(run.packets > 0);
        assert_eq!(
            u32::from(run.packets),
            u32::from(run.first) + u32::from(run.middle()) + u32::from(run.last) + u32::from(run.only)
        );
        for (opcode, totals) in run.opcodes() {
            self.opcodes[usize::from(opcode.0)].add(totals);
        }
        self.packets += u64::from(run.packets);
        self.offered += 1;
        if self.offered.is_multiple_of(self.lose) {
            self.lost_packets += u64::from(run.packets);
            counters.lost_runs += 1;
            counters.lost_packets += u64::from(run.packets);
        }
    }

    fn uet(&mut self, record: &UetRecord, counters: &mut Counters) {
        assert_eq!(UetRecord::in_place_of(record.as_run()), Some(record));
        self.offered += 1;
        if self.offered.is_multiple_of(self.lose) {
            counters.lost_uet += 1;
        } else {
            self.uet += 1;
        }
    }
}

/// Input: window, mark mask, sets, losses (8 bytes), then for each frame its length, the steps of time before it, its
/// interface, a length on the wire (8 bytes) and its bytes.
pub fn run(input: &[u8]) {
    let mut bytes = Bytes(input);
    let window_ns = u64::from(bytes.u32());
    let mut config = Config::exact(window_ns);
    config.mark_mask = u32::from(bytes.u8());
    let sets = 1 << (bytes.u8() % 4);
    let lose = u64::from(bytes.u16() % 8);
    let slot: Slot = bytemuck::Zeroable::zeroed();
    let mut observer = Observer::new(config, vec![[slot; 2]; sets]);
    let mut ledger = Ledger {
        opcodes: [OpcodeTotals::default(); 256],
        packets: 0,
        offered: 0,
        lose,
        lost_packets: 0,
        uet: 0,
    };
    let mut time_ns = 1_795_228_209_000_000_000u64;
    let mut frames = 0;
    while !bytes.0.is_empty() {
        let length = bytes.u16();
        let step = i64::from(bytes.u16().cast_signed());
        let interface = u32::from(bytes.u8() & 3);
        let kind = bytes.u8();
        let extra = u32::from(bytes.u16());
        let frame = bytes.slice(usize::from(length));
        // Quadratic steps: nanoseconds and seconds, forwards and backwards.
        time_ns = time_ns.wrapping_add_signed(step * step.abs());
        if kind & 7 == 7 {
            observer.flush(Some(time_ns), &mut ledger);
        }
        let captured = frame.len() as u32;
        let original = match kind >> 6 {
            0 | 1 => captured,
            2 => captured + extra,
            // Any value, as from broken writers.
            _ => captured.max(extra << 16 | extra),
        };
        let lengths = FrameLengths { captured, original };
        let clock = FrameTime(time_ns);
        let class = observer.observe(frame, LinkType::Ethernet, lengths, interface, &clock, &mut ledger);
        frames += 1;
        if let Class::Roce(packet) = class {
            assert!(packet.bth_at + 12 <= frame.len());
        }
    }
    observer.flush(None, &mut ledger);
    let counters = observer.counters();
    assert_eq!(counters.frames, frames);
    assert_eq!(counters.frames, counters.frames_accounted());
    assert_eq!(counters.roce_packets, counters.published_packets);
    assert_eq!(counters.roce_packets, ledger.packets);
    assert_eq!(counters.lost_packets, ledger.lost_packets);
    assert_eq!(counters.delivered_uet(), ledger.uet);
    assert_eq!(
        counters.delivered_packets() + counters.lost_packets,
        counters.roce_packets
    );
    for (opcode, (runs, counted)) in ledger.opcodes.iter().zip(&counters.opcodes).enumerate() {
        assert_eq!(runs, counted, "opcode {opcode:#04x}");
    }
}
