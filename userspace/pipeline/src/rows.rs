//! Turns a finished window into rows of the dataset.

use crate::delivery::Delivery;
use crate::fields::{address, opcode_name, vlan, vni};
use crate::flow_estimate::{FlowEstimate, needs_hyper_log_log};
use crate::flow_table::{Flow, direction_key};
use crate::overflow::Bounded;
use crate::port_counts::Spread;
use crate::rate_change::RateChange;
use crate::settings::Settings;
use crate::time::EventTime;
use crate::window::{FlowEvent, LossInterval, NACK, Window};
use alloc::format;
use alloc::vec::Vec;
use rocescope_model::{EventRow, FlowRow, OpcodeRow, SpreadRow, Text, Time, Unit, Value, WindowRow, WindowRows, human};
use rocescope_record::OpcodeTotals;
use rocescope_sketches::jitter::ChangeKind;
use rocescope_sketches::{HyperLogLog, LinearCounting};
use rocescope_wire::extension::{Acknowledgement, Syndrome, rnr_timer_us};
use rocescope_wire::mrc::NackReason;
use rocescope_wire::{FlowKey, Opcode, Transport};

/// The opcodes that were seen, as rows without window and rates.
pub fn opcode_rows(opcodes: &[OpcodeTotals; 256]) -> impl Iterator<Item = OpcodeRow> {
    let seen = (0..=255).zip(opcodes);
    let seen = seen.filter(|(_, totals)| totals.packets > 0);
    seen.map(|(number, totals)| OpcodeRow {
        opcode: opcode_name(Opcode(number)),
        opcode_number: number,
        packets: totals.packets,
        frame_bytes: totals.frame_bytes,
        payload_bytes: totals.payload_bytes,
        messages: if Opcode(number).ends_message() {
            totals.packets
        } else {
            0
        },
        ..OpcodeRow::default()
    })
}

/// A window to turn into rows.
pub(crate) struct Closing<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) start_ns: u64,
    pub(crate) window: &'a Window,
    /// The window's flows, largest first, as many as are stored or tracked.
    pub(crate) top: &'a [Bounded],
    /// The smallest flows, if they are asked for.
    pub(crate) small: &'a [&'a Flow],
    pub(crate) changes: &'a [RateChange],
    /// All flows of the window.
    pub(crate) flows: &'a LinearCounting,
    /// Their packets and bytes, if sketches are wanted and not all flows become rows.
    pub(crate) count_min: Option<&'a crate::sketch_columns::CountMinColumns>,
    /// Mirror loss and mirror duplicates since the last window, if connections are tracked.
    pub(crate) delivery: Option<Delivery>,
    /// The number of elephants.
    pub(crate) elephants: u64,
}

impl Closing<'_> {
    fn start(&self) -> Time {
        Time(self.start_ns.min(i64::MAX as u64) as i64)
    }

    fn window_ns(&self) -> i64 {
        self.settings.window_ns as i64
    }

    pub(crate) fn rows(&self, rows: &mut WindowRows) {
        rows.windows.push(self.window_row());
        rows.opcodes.extend(self.opcode_rows());
        let top = self.top.iter().take(self.settings.flow_rows);
        let mut room = self.settings.spread_rows;
        for (bounded, rank) in top.zip(1..) {
            let spread = self.window.ports.spread(&bounded.flow.key);
            rows.flows.push(self.flow_row(bounded, rank, spread.as_ref()));
            if let Some(spread) = spread.filter(|spread| spread.ports.len() <= room) {
                room -= spread.ports.len();
                rows.spread.extend(self.spread_rows(&bounded.flow.key, &spread));
            }
        }
        let small = self
            .small
            .iter()
            .map(|flow| self.flow_row(&Bounded::exact(**flow), 0, None));
        rows.small_flows.extend(small);
        let events = self.window.flow_events.iter();
        let events = events.map(|((key, syndrome), event)| self.flow_event_row(key, *syndrome, event));
        let changes = self.changes.iter();
        let changes = changes.map(|change| change_row(self.settings, change));
        let loss = self.window.capture_loss.iter();
        let loss = loss.map(|loss| capture_loss_row(&self.settings.observer, loss));
        let untracked = self.delivery.filter(|delivery| delivery.untracked_packets > 0);
        let untracked = untracked.map(|delivery| {
            let why = "of connections that found no memory";
            self.untracked_row("untracked", delivery.untracked_packets, why)
        });
        let yielded = self.delivery.filter(|delivery| delivery.yielded_packets > 0);
        let yielded = yielded.map(|delivery| {
            let why = "that connections left out, because the capture fell behind";
            self.untracked_row("yielded", delivery.yielded_packets, why)
        });
        let mut events: Vec<EventRow> = events
            .chain(changes)
            .chain(loss)
            .chain(untracked)
            .chain(yielded)
            .chain(self.window.pauses.rows(&self.settings.observer))
            .collect();
        events.sort_by_key(|event| event.time_ns);
        rows.events.append(&mut events);
    }

    /// Packets that are missing in connections, as a row.
    fn untracked_row(&self, kind: &'static str, packets: u64, why: &str) -> EventRow {
        EventRow {
            observer: self.settings.observer.clone(),
            time: self.start(),
            time_ns: self.start().0,
            kind: Text::from_static(kind),
            count: packets,
            detail: format!("{packets} packets {why}: their losses are unknown").into(),
            ..EventRow::default()
        }
    }

    fn window_row(&self) -> WindowRow {
        let totals = &self.window.totals;
        let all = totals.all();
        let classes = &totals.classes;
        let live = self.settings.live;
        let run_slack_ns = live.map_or(0, |live| live.run_slack_ns);
        let (estimate, hll) = self.flow_estimate();
        let exact = self.window.overflow.is_none();
        let flows = match &self.window.overflow {
            None => self.window.flows.flows().len() as u64,
            Some(overflow) => {
                let mut flow_bitmap = overflow.flow_bitmap.clone();
                for flow in self.window.flows.flows() {
                    flow_bitmap.add(flow.hash());
                }
                FlowEstimate::new(&flow_bitmap.estimate(), hll.as_ref()).rounded()
            }
        };
        let bitmap = self
            .settings
            .sketches
            .then(|| crate::sketch_columns::bitmap(self.flows));
        WindowRow {
            observer: self.settings.observer.clone(),
            window_start: self.start(),
            window_start_ns: self.start().0,
            window_ns: self.window_ns(),
            frames: totals.frames(),
            roce_packets: all.packets,
            not_roce_frames: classes.not_roce,
            malformed_frames: classes.malformed,
            fragment_frames: classes.fragments,
            filtered_frames: classes.filtered + totals.filtered_packets,
            snapped_frames: classes.snapped,
            roce_v1_frames: classes.roce_v1,
            frame_bytes: all.frame_bytes,
            payload_bytes: all.payload_bytes,
            messages: totals.messages,
            flows,
            flows_exact: exact,
            estimated_flows: estimate.flows,
            estimated_flows_stderr_ratio: estimate.stderr_ratio,
            elephant_flows: self.elephants,
            mouse_flows: flows.saturating_sub(self.elephants),
            ecn_ce_packets: totals.congestion_experienced,
            cnp_packets: totals.opcodes[usize::from(Opcode::CNP.0)].packets,
            nak_packets: totals.naks(),
            rnr_nak_packets: totals.rnr_naks(),
            icrc_bad_packets: self.settings.verify_icrc.then_some(totals.icrc_bad),
            icrc_unverifiable_packets: self.settings.verify_icrc.then_some(totals.icrc_unverifiable),
            unknown_opcode_packets: unknown_opcode_packets(&totals.opcodes),
            capture_lost_packets: totals.capture_lost_packets,
            capture_dropped_frames: live
                .filter(|live| live.drops_frames)
                .map(|_| totals.capture_dropped_frames),
            late_packets: totals.late_packets,
            fabric_lost_packets: self.delivery.map(|_| self.window.fabric_lost_packets),
            retransmitted_packets: self.delivery.map(|_| self.window.retransmitted_packets),
            mirror_lost_packets: self.delivery.map(|delivery| delivery.mirror_lost_packets),
            mirror_loss_ratio: self
                .delivery
                .and_then(|delivery| delivery.mirror_loss_ratio(all.packets)),
            mirror_duplicate_packets: self.delivery.map(|delivery| delivery.mirror_duplicate_packets),
            mirror_gap_frames: (classes.mirrored_frames + classes.mirror_lost > 0).then_some(classes.mirror_lost),
            boundary_slack_ns: self.window.slack_ns.max(run_slack_ns) as i64,
            jitter_events: self
                .changes
                .iter()
                .filter(|change| change.event.kind == ChangeKind::Jitter)
                .count() as u64,
            hll_flows: hll
                .filter(|_| self.settings.sketches)
                .map(|hll| hll.to_datasketches().into()),
            linear_counting: bitmap,
            count_min_packets: self.count_min.map(|columns| columns.packets.clone()),
            count_min_bytes: self.count_min.map(|columns| columns.frame_bytes.clone()),
        }
    }

    /// The number of flows from the sketches, and the HyperLogLog if there are more flows than the bitmap has bits.
    fn flow_estimate(&self) -> (FlowEstimate, Option<HyperLogLog>) {
        let bitmap = self.flows.estimate();
        let hll = needs_hyper_log_log(&bitmap).then(|| {
            let mut hll = HyperLogLog::new();
            for flow in self.window.flows.flows() {
                hll.add(flow.hash());
            }
            if let Some(overflow) = &self.window.overflow {
                hll.merge(&overflow.hll);
            }
            hll
        });
        (FlowEstimate::new(&bitmap, hll.as_ref()), hll)
    }

    fn opcode_rows(&self) -> impl Iterator<Item = OpcodeRow> {
        let seconds = self.settings.window_ns as f64 / 1e9;
        opcode_rows(&self.window.totals.opcodes).map(move |row| OpcodeRow {
            observer: self.settings.observer.clone(),
            window_start: self.start(),
            window_start_ns: self.start().0,
            window_ns: self.window_ns(),
            frame_bps: self.settings.bps(row.frame_bytes),
            rate_pps: row.packets as f64 / seconds,
            ..row
        })
    }

    fn flow_row(&self, bounded: &Bounded, rank: u32, spread: Option<&Spread>) -> FlowRow {
        let Bounded {
            flow,
            error_packets,
            error_frame_bytes,
        } = bounded;
        let (key, counts) = (&flow.key, &flow.counts);
        // For datagrams and flows that are not tracked, retransmissions are unknown.
        let transport = flow.opcode.transport();
        let is_tracked = self.settings.connections.is_some()
            && matches!(
                transport,
                Transport::Rc | Transport::Uc | Transport::Xrc | Transport::Mrc
            );
        let impairment = is_tracked.then(|| self.window.impaired_flows.of(key)).flatten();
        FlowRow {
            observer: self.settings.observer.clone(),
            window_start: self.start(),
            window_start_ns: self.start().0,
            window_ns: self.window_ns(),
            rank,
            flow_hash: flow.hash().0.cast_signed(),
            src: address(key.src),
            dst: address(key.dst),
            udp_src_port: (key.udp_src_port != 0).then_some(key.udp_src_port),
            udp_src_ports: match key.udp_src_port {
                0 => self.window.ports.count(key).map(|ports| ports as u64),
                _ => Some(1),
            },
            port_imbalance_ratio: spread.map(Spread::imbalance),
            dst_qpn: key.dst_qpn,
            vlan: vlan(key.vlan),
            inner_vlan: vlan(key.inner_vlan),
            vni: vni(key.vni),
            service: Text::from_static(transport.name()),
            packets: counts.packets,
            frame_bytes: counts.frame_bytes,
            payload_bytes: counts.payload_bytes,
            messages: counts.messages,
            frame_bps: self.settings.bps(counts.frame_bytes),
            payload_bps: self.settings.bps(counts.payload_bytes),
            error_packets: *error_packets,
            error_frame_bytes: *error_frame_bytes,
            elephant: is_elephant(self.settings, bounded),
            ecn_ce_packets: counts.congestion_experienced,
            retransmitted_packets: impairment.map(|impairment| impairment.retransmitted),
            out_of_order_packets: impairment.map(|impairment| impairment.out_of_order),
            first_ns: counts.first_ns as i64,
            last_ns: counts.last_ns as i64,
            direction_key: Some(direction_key(key)),
        }
    }

    fn spread_rows(&self, key: &FlowKey, spread: &Spread) -> impl Iterator<Item = SpreadRow> {
        spread.ports.iter().map(|(port, counts)| SpreadRow {
            observer: self.settings.observer.clone(),
            window_start: self.start(),
            window_start_ns: self.start().0,
            window_ns: self.window_ns(),
            direction_key: direction_key(key),
            src: address(key.src),
            dst: address(key.dst),
            dst_qpn: key.dst_qpn,
            vlan: vlan(key.vlan),
            udp_src_port: *port,
            packets: counts.packets.cast_unsigned(),
            frame_bytes: counts.frame_bytes.cast_unsigned(),
            ecn_ce_packets: counts.congestion_experienced.cast_unsigned(),
            trimmed_packets: self.window.ports.trimmed(key, *port),
            deviation_ratio: spread.deviation(counts),
        })
    }

    fn flow_event_row(&self, key: &FlowKey, syndrome: Option<u8>, event: &FlowEvent) -> EventRow {
        let seconds = self.settings.window_ns as f64 / 1e9;
        let syndrome = syndrome.map(Syndrome);
        let (kind, value, detail) = match syndrome.map(Syndrome::meaning) {
            None => {
                let detail = format!("{} CNPs in the window", event.count);
                ("cnp_burst", Some(event.count as f64 / seconds), detail)
            }
            Some(Acknowledgement::RnrNak { timer }) => {
                let timer_us = rnr_timer_us(timer);
                let detail = format!("receiver not ready, requests a wait of {timer_us} µs");
                ("rnr_nak", Some(f64::from(timer_us) * 1_000.0), detail)
            }
            // Of MRC, not a syndrome but the reason: see `Window::add`.
            Some(Acknowledgement::Reserved(code)) => {
                let name = NackReason(code & !NACK).name();
                let detail = format!("negative acknowledgement of PSN {}: {name}", event.psn);
                ("nak", None, detail)
            }
            Some(_) => {
                let detail = format!("negative acknowledgement at PSN {}", event.psn);
                ("nak", None, detail)
            }
        };
        EventRow {
            kind: Text::from_static(kind),
            psn: Some(event.psn),
            syndrome: syndrome.map(|syndrome| {
                Text::from_static(match syndrome.meaning() {
                    Acknowledgement::Reserved(code) => NackReason(code & !NACK).name(),
                    _ => syndrome.name(),
                })
            }),
            value,
            count: event.count,
            detail: detail.into(),
            ..event_row(&self.settings.observer, key, event.time_ns)
        }
    }
}

/// Whether the flow's rate reaches the elephant threshold; for a bounded flow, the middle of its bounds.
pub(crate) fn is_elephant(settings: &Settings, bounded: &Bounded) -> bool {
    let bytes = bounded.flow.counts.frame_bytes - bounded.error_frame_bytes / 2;
    settings.bps(bytes) >= settings.elephant_bps
}

fn unknown_opcode_packets(opcodes: &[OpcodeTotals; 256]) -> u64 {
    (0..=255u8)
        .zip(opcodes)
        .filter(|(number, _)| !Opcode(*number).is_known())
        .map(|(_, totals)| totals.packets)
        .sum()
}

/// An event of a flow, without kind and details.
pub(crate) fn event_row(observer: &Text, key: &FlowKey, time_ns: u64) -> EventRow {
    let time = Time(time_ns.min(i64::MAX as u64) as i64);
    EventRow {
        observer: observer.clone(),
        time,
        time_ns: time.0,
        src: Some(address(key.src)),
        dst: Some(address(key.dst)),
        udp_src_port: (key.udp_src_port != 0).then_some(key.udp_src_port),
        dst_qpn: Some(key.dst_qpn),
        vlan: vlan(key.vlan),
        count: 1,
        direction_key: Some(direction_key(key)),
        ..EventRow::default()
    }
}

/// The capture loss that began in a window, as a row.
fn capture_loss_row(observer: &Text, loss: &LossInterval) -> EventRow {
    let time = Time(loss.from_ns.min(i64::MAX as u64) as i64);
    let length_ns = loss.to_ns.since(loss.from_ns);
    let length = human::readable(&Value::I64(length_ns as i64), Unit::Nanoseconds);
    EventRow {
        observer: observer.clone(),
        time,
        time_ns: time.0,
        kind: Text::from_static("capture_loss"),
        value: Some(length_ns as f64),
        count: loss.count,
        detail: format!("the capture lost {} within {length}", loss.count).into(),
        ..EventRow::default()
    }
}

/// A rate, to read.
fn rate(bps: f64) -> alloc::string::String {
    human::readable(&Value::F64(bps), Unit::BitsPerSecond)
}

/// A change of rate as a row; its time is the start of the window in which the change began.
pub(crate) fn change_row(settings: &Settings, change: &RateChange) -> EventRow {
    let event = &change.event;
    let time_ns = event.window.saturating_mul(settings.window_ns);
    let (from, to) = (event.from_bps as f64, event.to_bps as f64);
    let (kind, what) = match event.kind {
        ChangeKind::Jitter => ("jitter", "change"),
        ChangeKind::Start => ("elephant", "started"),
        ChangeKind::Stop => ("elephant_end", "stopped"),
    };
    EventRow {
        kind: Text::from_static(kind),
        value: Some(to),
        previous: Some(from),
        detail: format!("{what}: {} to {}", rate(from), rate(to)).into(),
        ..event_row(&settings.observer, &change.key, time_ns)
    }
}
