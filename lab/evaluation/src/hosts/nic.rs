//! A model of a NIC: what it counts of the packets that it sends and receives, and of what its host does.
//!
//! It knows no threshold and no rule of the analysis. The transport is that of the InfiniBand specification: a NAK makes
//! the requester go back, a timer does if nothing comes, and a requester whose timer expired seven times in a row
//! gives up and flushes its work requests.

use super::frame::Packet;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The drivers that the model can speak for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Driver {
    Mlx5,
    Bnxt,
    Irdma,
    Rxe,
}

/// What a NIC counts, whatever its driver calls it.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) sent_packets: u64,
    pub(super) sent_bytes: u64,
    pub(super) received_packets: u64,
    pub(super) received_bytes: u64,
    pub(super) marked: u64,
    pub(super) cnps_sent: u64,
    pub(super) cnps_handled: u64,
    pub(super) cnps_ignored: u64,
    pub(super) sequence_naks: u64,
    pub(super) implied_naks: u64,
    pub(super) out_of_sequence: u64,
    pub(super) duplicates: u64,
    pub(super) timeouts: u64,
    pub(super) gave_up: u64,
    pub(super) completion_errors: u64,
    pub(super) flushed: u64,
    pub(super) rnr_received: u64,
    pub(super) rnr_sent: u64,
    pub(super) dropped: u64,
    pub(super) symbol_errors: u64,
    pub(super) crc_errors: u64,
    pub(super) corrected_bits: u64,
    pub(super) link_failures: u64,
    pub(super) pause_sent: u64,
    pub(super) pause_sent_us: u64,
    pub(super) pause_received: u64,
    pub(super) pause_received_us: u64,
}

/// A port of a host.
#[derive(Clone, Debug)]
pub(super) struct Nic {
    pub(super) driver: Driver,
    pub(super) counts: Counts,
    /// Whether its host has it.
    pub(super) is_present: bool,
    /// Whether it is up.
    pub(super) is_up: bool,
    pub(super) rate_bps: u64,
    /// GT/s and lanes of the `PCIe` link, now and at most.
    pub(super) pcie: (f64, u32),
    pub(super) pcie_max: (f64, u32),
    pub(super) queue_pairs: u32,
    /// How often its timers may expire in a row.
    pub(super) retries: u32,
    /// Whether its reaction point handles CNPs.
    pub(super) reacts: bool,
    requests: BTreeMap<(IpAddr, u32), Requester>,
    /// The PSN after the last READ that came, by queue pair. No scenario loses one.
    reads: BTreeMap<u32, u32>,
}

/// One requester of a NIC.
#[derive(Clone, Debug, Default)]
struct Requester {
    /// The PSN after the last request.
    next_psn: Option<u32>,
    last_ns: u64,
    was_told: bool,
    expired: u32,
    has_given_up: bool,
}

/// Whether a PSN is before another one.
const fn is_before(psn: u32, other: u32) -> bool {
    psn.wrapping_sub(other) & 0xff_ffff > 0x7f_ffff
}

/// The timer of the scenarios.
const TIMER_NS: u64 = 4_194_304;

impl Nic {
    pub(super) fn new(driver: Driver, rate_bps: u64) -> Self {
        Self {
            driver,
            counts: Counts::default(),
            is_present: true,
            is_up: true,
            rate_bps,
            pcie: (16.0, 16),
            pcie_max: (16.0, 16),
            queue_pairs: 0,
            retries: 7,
            reacts: true,
            requests: BTreeMap::new(),
            reads: BTreeMap::new(),
        }
    }

    /// A packet leaves.
    pub(super) fn sends(&mut self, packet: &Packet, bytes: u32, at_ns: u64) {
        self.counts.sent_packets += 1;
        self.counts.sent_bytes += u64::from(bytes);
        if packet.is_cnp() {
            self.counts.cnps_sent += 1;
        } else if let Some(syndrome) = packet.syndrome {
            match syndrome >> 5 {
                1 => self.counts.rnr_sent += 1,
                3 if syndrome & 31 == 0 => self.counts.out_of_sequence += 1,
                _ => {}
            }
        } else if packet.is_request() {
            self.requests(packet, at_ns);
        }
    }

    fn requests(&mut self, packet: &Packet, at_ns: u64) {
        let requester = self.requests.entry((packet.dst, packet.dst_qpn)).or_default();
        let goes_back = requester.next_psn.is_some_and(|next| is_before(packet.psn, next));
        if goes_back {
            let waited = at_ns - requester.last_ns >= TIMER_NS / 2;
            if !requester.was_told {
                self.counts.timeouts += u64::from(waited);
                requester.expired += u32::from(waited);
                // A response came that is not the next one.
                self.counts.implied_naks += u64::from(!waited && packet.is_read());
            }
            requester.was_told = false;
        }
        requester.next_psn = Some(packet.next_psn());
        requester.last_ns = at_ns;
    }

    /// A packet arrives. `peers` has the other end of each queue pair.
    pub(super) fn receives(&mut self, packet: &Packet, bytes: u32, peers: &BTreeMap<(IpAddr, u32), (IpAddr, u32)>) {
        self.counts.received_packets += 1;
        self.counts.received_bytes += u64::from(bytes);
        if packet.is_cnp() {
            match self.reacts {
                true => self.counts.cnps_handled += 1,
                false => self.counts.cnps_ignored += 1,
            }
            return;
        }
        self.counts.marked += u64::from(packet.is_marked);
        if packet.is_read() {
            let before = self.reads.insert(packet.dst_qpn, packet.next_psn());
            self.counts.duplicates += u64::from(before.is_some_and(|next| is_before(packet.psn, next)));
        }
        let Some(syndrome) = packet.syndrome else {
            return;
        };
        match syndrome >> 5 {
            1 => self.counts.rnr_received += 1,
            3 if syndrome & 31 == 0 => self.counts.sequence_naks += 1,
            _ => {}
        }
        if let Some(requester) = peers
            .get(&(packet.dst, packet.dst_qpn))
            .and_then(|peer| self.requests.get_mut(peer))
        {
            requester.was_told = syndrome >> 5 != 0;
            requester.expired = 0;
        }
    }

    /// Time passes without packets: a requester that waits for the last time gives up.
    pub(super) fn wait(&mut self, at_ns: u64, outstanding: u64) {
        for requester in self.requests.values_mut() {
            let is_over = requester.expired >= self.retries && at_ns > requester.last_ns + 2 * TIMER_NS;
            if is_over && !requester.has_given_up {
                requester.has_given_up = true;
                self.counts.timeouts += 1;
                self.counts.gave_up += 1;
                self.counts.completion_errors += 1;
                self.counts.flushed += outstanding;
            }
        }
    }

    /// Its files below `class/infiniband/DEVICE`, and the lines of `ethtool -S`.
    pub(super) fn files(&self) -> (Vec<(String, String)>, String) {
        let counts = &self.counts;
        let mut files = Vec::new();
        let mut add = |path: &str, content: String| files.push((path.to_owned(), content));
        let (state, physical) = if self.is_up {
            ("4: ACTIVE", "5: LinkUp")
        } else {
            ("1: DOWN", "2: Polling")
        };
        add("ports/1/state", state.into());
        add("ports/1/phys_state", physical.into());
        add("ports/1/link_layer", "Ethernet".into());
        add("ports/1/rate", format!("{} Gb/sec (4X)", self.rate_bps as f64 / 1e9));
        if self.driver != Driver::Rxe {
            add("device/current_link_speed", format!("{:.1} GT/s PCIe", self.pcie.0));
            add("device/current_link_width", self.pcie.1.to_string());
            add("device/max_link_speed", format!("{:.1} GT/s PCIe", self.pcie_max.0));
            add("device/max_link_width", self.pcie_max.1.to_string());
        }
        let mut counters: Vec<(&str, u64)> = Vec::new();
        let mut statistics: Vec<(&str, u64)> = Vec::new();
        let mut directory = "ports/1/hw_counters";
        match self.driver {
            Driver::Mlx5 => {
                add("device/uevent", "DRIVER=mlx5_core".into());
                for (name, value) in [
                    ("port_xmit_data", counts.sent_bytes / 4),
                    ("port_rcv_data", counts.received_bytes / 4),
                    ("port_xmit_packets", counts.sent_packets),
                    ("port_rcv_packets", counts.received_packets),
                    ("symbol_error", counts.symbol_errors.min(65_535)),
                    ("port_rcv_errors", counts.crc_errors.min(65_535)),
                    ("link_downed", counts.link_failures.min(255)),
                    ("port_xmit_discards", 0),
                ] {
                    add(&format!("ports/1/counters/{name}"), value.to_string());
                }
                counters.extend([
                    ("local_ack_timeout_err", counts.timeouts),
                    ("packet_seq_err", counts.sequence_naks),
                    ("implied_nak_seq_err", counts.implied_naks),
                    ("out_of_sequence", counts.out_of_sequence),
                    ("duplicate_request", counts.duplicates),
                    ("out_of_buffer", counts.rnr_sent),
                    ("rnr_nak_retry_err", counts.rnr_received),
                    ("req_cqe_error", counts.completion_errors),
                    ("req_cqe_flush_error", counts.flushed),
                    ("req_transport_retries_exceeded", counts.gave_up),
                    ("np_ecn_marked_roce_packets", counts.marked),
                    ("np_cnp_sent", counts.cnps_sent),
                    ("rp_cnp_handled", counts.cnps_handled),
                    ("rp_cnp_ignored", counts.cnps_ignored),
                    ("rx_icrc_encapsulated", 0),
                    ("roce_adp_retrans", 0),
                ]);
                statistics.extend([
                    ("rx_prio3_pause", counts.pause_received),
                    ("rx_prio3_pause_duration", counts.pause_received_us),
                    ("tx_prio3_pause", counts.pause_sent),
                    ("tx_prio3_pause_duration", counts.pause_sent_us),
                    ("rx_discards_phy", counts.dropped),
                    ("rx_crc_errors_phy", counts.crc_errors),
                    ("rx_corrected_bits_phy", counts.corrected_bits),
                    ("link_down_events_phy", counts.link_failures),
                ]);
            }
            Driver::Bnxt => {
                add("device/uevent", "DRIVER=bnxt_en".into());
                counters.extend([
                    ("tx_bytes", counts.sent_bytes),
                    ("rx_bytes", counts.received_bytes),
                    ("tx_pkts", counts.sent_packets),
                    ("rx_pkts", counts.received_packets),
                    ("to_retransmits", counts.timeouts),
                    ("seq_err_naks_rcvd", counts.sequence_naks),
                    ("max_retry_exceeded", counts.gave_up),
                    ("rnr_naks_rcvd", counts.rnr_received),
                    ("missing_resp", counts.implied_naks),
                    ("dup_req", counts.duplicates),
                    ("oos_drop_count", counts.out_of_sequence),
                    ("rx_out_of_buffer", counts.rnr_sent),
                    ("rx_roce_discards", counts.dropped),
                    ("tx_roce_discards", 0),
                    ("tx_cnp_pkts", counts.cnps_sent),
                    // All that arrive, handled or not.
                    ("rx_cnp_pkts", counts.cnps_handled + counts.cnps_ignored),
                    ("rx_ecn_marked_pkts", counts.marked),
                ]);
                statistics.extend([
                    ("rx_pfc_ena_frames_pri3", counts.pause_received),
                    ("pfc_pri3_rx_duration_us", counts.pause_received_us),
                    ("tx_pfc_ena_frames_pri3", counts.pause_sent),
                    ("pfc_pri3_tx_duration_us", counts.pause_sent_us),
                    ("rx_fcs_err_frames", counts.crc_errors),
                    ("rx_pcs_symbol_err", counts.symbol_errors),
                    ("rx_corrected_bits", counts.corrected_bits),
                    ("link_down_events", counts.link_failures),
                ]);
            }
            Driver::Irdma => {
                add("device/uevent", "DRIVER=ice".into());
                counters.extend([
                    ("ip4OutOctets", counts.sent_bytes),
                    ("ip4InOctets", counts.received_bytes),
                    ("ip4OutPkts", counts.sent_packets & 0xffff_ffff),
                    ("ip4InPkts", counts.received_packets & 0xffff_ffff),
                    ("ip4InDiscards", 0),
                    ("cnpHandled", counts.cnps_handled),
                    ("cnpIgnored", counts.cnps_ignored),
                    ("cnpSent", counts.cnps_sent),
                    ("RxECNMrkd", counts.marked),
                ]);
                statistics.extend([
                    ("rx_priority_3_xoff.nic", counts.pause_received),
                    ("tx_priority_3_xoff.nic", counts.pause_sent),
                    ("rx_dropped.nic", counts.dropped),
                    ("rx_crc_errors.nic", counts.crc_errors),
                ]);
            }
            Driver::Rxe => {
                add("device/uevent", "DRIVER=rdma_rxe".into());
                counters.extend([
                    ("sent_pkts", counts.sent_packets),
                    ("rcvd_pkts", counts.received_packets),
                    ("sent_bytes", counts.sent_bytes),
                    ("rcvd_bytes", counts.received_bytes),
                    ("duplicate_request", counts.duplicates),
                    ("out_of_seq_request", counts.out_of_sequence),
                    ("rcvd_seq_err", counts.sequence_naks),
                    ("rcvd_rnr_err", counts.rnr_received),
                    ("send_rnr_err", counts.rnr_sent),
                    ("retry_exceeded_err", counts.gave_up),
                    (
                        "completer_retry_err",
                        counts.timeouts + counts.sequence_naks + counts.implied_naks + counts.rnr_received,
                    ),
                    ("link_downed", counts.link_failures),
                ]);
                directory = "ports/1/hw_counters";
            }
        }
        for (name, value) in counters {
            add(&format!("{directory}/{name}"), value.to_string());
        }
        let statistics = statistics.iter().map(|(name, value)| format!("     {name}: {value}\n"));
        (files, format!("NIC statistics:\n{}", statistics.collect::<String>()))
    }
}
