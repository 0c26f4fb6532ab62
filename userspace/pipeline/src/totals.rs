//! Totals by opcode and syndrome, and frames by class.

use alloc::boxed::Box;
use rocescope_record::{Counters, OpcodeTotals, RunRecord};
use rocescope_wire::extension::{Acknowledgement, Syndrome};
use rocescope_wire::{NotRoce, Operation};

/// Totals by opcode and syndrome, of a window or of the whole capture.
#[derive(Clone, Debug)]
pub struct Totals {
    /// By opcode number.
    pub opcodes: Box<[OpcodeTotals; 256]>,
    /// ACKNOWLEDGE packets by syndrome.
    pub syndromes: Box<[u64; 256]>,
    /// LAST and ONLY packets.
    pub messages: u64,
    /// Packets with ECN congestion experienced.
    pub congestion_experienced: u64,
    /// Late packets, counted in a later window than their own.
    pub late_packets: u64,
    /// RoCE packets that the filter dropped, counted nowhere else.
    pub filtered_packets: u64,
    /// Packets whose ICRC is wrong.
    pub icrc_bad: u64,
    /// Packets whose ICRC could not be verified.
    pub icrc_unverifiable: u64,
    /// RoCEv2 packets in runs that found the ring full.
    pub capture_lost_packets: u64,
    /// Frames that a full packet socket dropped, before they were classified.
    pub capture_dropped_frames: u64,
    /// Frames by class.
    pub classes: FrameCounts,
}

/// Frames by the classes that rows have. RoCEv2 packets are counted by their runs, whose times are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the counters")]
pub struct FrameCounts {
    pub not_roce: u64,
    pub roce_v1: u64,
    pub malformed: u64,
    pub fragments: u64,
    pub filtered: u64,
    pub snapped: u64,
    pub mirrored_frames: u64,
    pub mirror_lost: u64,
}

impl FrameCounts {
    /// The counts in `counters`.
    #[must_use]
    pub fn of(counters: &Counters) -> Self {
        Self {
            not_roce: counters.not_roce(),
            roce_v1: counters.not_roce[NotRoce::RoceV1 as usize],
            malformed: counters.malformed(),
            fragments: counters.fragments,
            filtered: counters.filtered,
            snapped: counters.snapped,
            mirrored_frames: counters.mirrored_frames,
            mirror_lost: counters.mirror_lost,
        }
    }

    /// Adds what was counted between `earlier` and `later`.
    pub fn add_between(&mut self, earlier: &Self, later: &Self) {
        self.not_roce += later.not_roce - earlier.not_roce;
        self.roce_v1 += later.roce_v1 - earlier.roce_v1;
        self.malformed += later.malformed - earlier.malformed;
        self.fragments += later.fragments - earlier.fragments;
        self.filtered += later.filtered - earlier.filtered;
        self.snapped += later.snapped - earlier.snapped;
        self.mirrored_frames += later.mirrored_frames - earlier.mirrored_frames;
        // A late frame takes back one that was already reported as lost; the next loss is then not reported.
        self.mirror_lost += later.mirror_lost.saturating_sub(earlier.mirror_lost);
    }
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            opcodes: Box::new([OpcodeTotals::default(); 256]),
            syndromes: Box::new([0; 256]),
            messages: 0,
            congestion_experienced: 0,
            late_packets: 0,
            filtered_packets: 0,
            icrc_bad: 0,
            icrc_unverifiable: 0,
            capture_lost_packets: 0,
            capture_dropped_frames: 0,
            classes: FrameCounts::default(),
        }
    }
}

impl Totals {
    pub(crate) fn add_run(&mut self, run: &RunRecord) {
        for (opcode, totals) in run.opcodes() {
            self.opcodes[usize::from(opcode.0)].add(totals);
        }
        if run.opcode().operation() == Operation::Acknowledge {
            self.syndromes[usize::from(run.syndrome)] += u64::from(run.packets);
        }
        self.messages += run.messages();
        self.congestion_experienced += u64::from(run.congestion_experienced);
    }

    /// Adds the totals of a window.
    pub fn add(&mut self, other: &Self) {
        for (sum, totals) in self.opcodes.iter_mut().zip(other.opcodes.iter()) {
            sum.add(*totals);
        }
        for (sum, count) in self.syndromes.iter_mut().zip(other.syndromes.iter()) {
            *sum += count;
        }
        self.messages += other.messages;
        self.congestion_experienced += other.congestion_experienced;
        self.late_packets += other.late_packets;
        self.filtered_packets += other.filtered_packets;
        self.icrc_bad += other.icrc_bad;
        self.icrc_unverifiable += other.icrc_unverifiable;
        self.capture_lost_packets += other.capture_lost_packets;
        self.capture_dropped_frames += other.capture_dropped_frames;
        self.classes.add_between(&FrameCounts::default(), &other.classes);
    }

    pub(crate) fn clear(&mut self) {
        self.opcodes.fill(OpcodeTotals::default());
        self.syndromes.fill(0);
        self.messages = 0;
        self.congestion_experienced = 0;
        self.late_packets = 0;
        self.filtered_packets = 0;
        self.icrc_bad = 0;
        self.icrc_unverifiable = 0;
        self.capture_lost_packets = 0;
        self.capture_dropped_frames = 0;
        self.classes = FrameCounts::default();
    }

    /// Frames of all kinds: the sum of the classes. A cut of the counters at the end of a window would differ from
    /// the runs of the window by the packets that arrive while the counters are read.
    #[must_use]
    pub fn frames(&self) -> u64 {
        let classes = &self.classes;
        let others = classes.not_roce + classes.malformed + classes.fragments + classes.filtered + classes.snapped;
        self.all().packets + self.capture_lost_packets + self.filtered_packets + others
    }

    /// Sum over all opcodes.
    #[must_use]
    pub fn all(&self) -> OpcodeTotals {
        self.opcodes.iter().fold(OpcodeTotals::default(), |mut sum, totals| {
            sum.add(*totals);
            sum
        })
    }

    /// ACKNOWLEDGE packets that are neither positive nor RNR.
    #[must_use]
    pub fn naks(&self) -> u64 {
        self.acknowledges(|meaning| matches!(meaning, Acknowledgement::Nak(_)))
    }

    /// Receiver-not-ready NAKs.
    #[must_use]
    pub fn rnr_naks(&self) -> u64 {
        self.acknowledges(|meaning| matches!(meaning, Acknowledgement::RnrNak { .. }))
    }

    fn acknowledges(&self, wanted: impl Fn(Acknowledgement) -> bool) -> u64 {
        (0..=255u8)
            .zip(self.syndromes.iter())
            .filter(|(syndrome, _)| wanted(Syndrome(*syndrome).meaning()))
            .map(|(_, count)| count)
            .sum()
    }
}
