//! Counts totals, windows and flows frame by frame.

use super::endpoints::Flow;
use super::message::ACKNOWLEDGE;
use super::packet::Packet;
use super::scenario::Scenario;
use super::tally::Volume;
use super::truth::Window;
use rocescope_wire::tunnel::Encapsulation;
use std::collections::BTreeMap;

/// The counts over all connections.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) opcodes: [Volume; 256],
    pub(super) aeth: BTreeMap<&'static str, u64>,
    pub(super) rnr_timers: BTreeMap<u8, u64>,
    pub(super) messages: u64,
    pub(super) frames: u64,
    pub(super) not_roce: u64,
    pub(super) icrc_bad: u64,
    pub(super) icrc_unverifiable: u64,
    pub(super) lost_by_mirror: u64,
    pub(super) encapsulations: [u64; Encapsulation::COUNT],
    pub(super) first_ns: Option<u64>,
    pub(super) last_ns: u64,
    pub(super) windows: Vec<Window>,
    window_ns: u64,
}

/// How a packet reached the capture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// In nanoseconds since 1970.
    pub(super) at_ns: u64,
    /// Without the encapsulation of the mirror.
    pub(super) frame_bytes: u32,
    /// Its ICRC was captured.
    pub(super) whole: bool,
    pub(super) encapsulation: Encapsulation,
    /// The windows of its flow are recorded.
    pub(super) series: bool,
}

impl Account {
    pub(super) fn new(scenario: &Scenario) -> Self {
        Self {
            opcodes: [Volume::default(); 256],
            aeth: BTreeMap::new(),
            rnr_timers: BTreeMap::new(),
            messages: 0,
            frames: 0,
            not_roce: 0,
            icrc_bad: 0,
            icrc_unverifiable: 0,
            lost_by_mirror: 0,
            encapsulations: [0; Encapsulation::COUNT],
            first_ns: None,
            last_ns: 0,
            windows: Vec::new(),
            window_ns: scenario.truth.window.0.max(1),
        }
    }

    /// Counts a frame that is not RoCEv2.
    pub(super) fn background(&mut self, at_ns: u64) {
        self.not_roce += 1;
        self.frame(at_ns);
    }

    /// Counts a packet and its flow.
    pub(super) fn packet(&mut self, packet: &Packet, arrival: Arrival, flow: &mut Flow) {
        let (frame_bytes, payload_bytes) = (arrival.frame_bytes, packet.payload_bytes);
        let ends_message = u64::from(packet.ends_message);
        let opcode = packet.bth.opcode.0;
        if let Some(volume) = self.opcodes.get_mut(usize::from(opcode)) {
            volume.add(frame_bytes, payload_bytes);
        }
        if let Some(frames) = self.encapsulations.get_mut(arrival.encapsulation as usize) {
            *frames += 1;
        }
        self.messages += ends_message;
        if !arrival.whole {
            self.icrc_unverifiable += 1;
        } else if packet.damaged {
            self.icrc_bad += 1;
        }
        if opcode == ACKNOWLEDGE
            && let [syndrome, ..] = packet.extension()
        {
            self.acknowledgement(*syndrome);
        }
        flow.volume.add(frame_bytes, payload_bytes);
        flow.messages += ends_message;
        let number = self.frame(arrival.at_ns);
        let is_first = flow.window != number;
        if let Some(window) = self.windows.last_mut() {
            window.volume.add(frame_bytes, payload_bytes);
            window.messages += ends_message;
            window.flows += u64::from(is_first);
        }
        if is_first {
            flow.window = number;
            if arrival.series {
                flow.series.push((number, Volume::default()));
            }
        }
        if let Some((_, volume)) = flow.series.last_mut() {
            volume.add(frame_bytes, payload_bytes);
        }
    }

    fn acknowledgement(&mut self, syndrome: u8) {
        let name = match (syndrome >> 5, syndrome & 0x1f) {
            (0, _) => "ack",
            (1, timer) => {
                *self.rnr_timers.entry(timer).or_default() += 1;
                "rnr_nak"
            }
            (_, 0) => "nak_psn_sequence_error",
            (_, 1) => "nak_invalid_request",
            (_, 2) => "nak_remote_access_error",
            _ => "nak_remote_operational_error",
        };
        *self.aeth.entry(name).or_default() += 1;
    }

    /// Counts a frame in its window and returns the number of the window, from 1.
    fn frame(&mut self, at_ns: u64) -> u64 {
        self.frames += 1;
        self.first_ns.get_or_insert(at_ns);
        self.last_ns = at_ns;
        match self.windows.last_mut() {
            // Frames arrive in the order of time.
            Some(window) if at_ns < window.start_ns.saturating_add(self.window_ns) => {
                window.frames += 1;
            }
            _ => self.windows.push(Window {
                start_ns: at_ns - at_ns % self.window_ns,
                frames: 1,
                ..Window::default()
            }),
        }
        self.windows.len() as u64
    }
}
