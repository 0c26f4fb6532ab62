//! The metrics that rules read, as small numbers.

use rocescope_model::catalogue::Metric;

/// `present` of a device that vanished.
pub(crate) const ABSENT: f64 = 0.0;

/// The state of a port that works.
pub(crate) const ACTIVE: f64 = 4.0;

macro_rules! watched {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        /// A metric that a rule reads; its name is that of the catalogue.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Watched { $($variant),+ }

        impl Watched {
            const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in the catalogue and in rows.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

watched! {
    Present = "present",
    State = "state",
    PhysState = "phys_state",
    Rate = "rate",
    PcieSpeed = "pcie_link_speed",
    PcieMaxSpeed = "pcie_max_link_speed",
    PcieWidth = "pcie_link_width",
    PcieMaxWidth = "pcie_max_link_width",
    QueuePairs = "queue_pairs",
    SymbolError = "symbol_error",
    LinkRecovery = "link_error_recovery",
    LinkDowned = "link_downed",
    LinkDownPhy = "link_down_events_phy",
    LinkIntegrity = "local_link_integrity_errors",
    RcvErrors = "port_rcv_errors",
    Icrc = "rx_icrc_encapsulated",
    CrcPhy = "rx_crc_errors_phy",
    SymbolPhy = "rx_symbol_err_phy",
    PcsSymbol = "rx_pcs_symbol_err_phy",
    XmitDiscards = "port_xmit_discards",
    RcvDiscards = "port_rcv_discards",
    RcvDiscardsPhy = "rx_discards_phy",
    RcvDiscardsPriority = "rx_prio_discards",
    PcieOverflow = "outbound_pci_buffer_overflow",
    PcieStalledRead = "outbound_pci_stalled_rd_events",
    PcieStalledWrite = "outbound_pci_stalled_wr_events",
    AckTimeout = "local_ack_timeout_err",
    RetriesExceeded = "req_transport_retries_exceeded",
    RequesterError = "req_cqe_error",
    RequesterFlush = "req_cqe_flush_error",
    SequenceNak = "packet_seq_err",
    ImpliedNak = "implied_nak_seq_err",
    OutOfSequence = "out_of_sequence",
    DuplicateRequest = "duplicate_request",
    AdaptiveRetransmission = "roce_adp_retrans",
    Retransmitted = "retransmitted_packets",
    CompleterRetry = "completer_retry_err",
    RnrReceived = "rnr_nak_retry_err",
    RnrSent = "rnr_naks_sent",
    OutOfBuffer = "out_of_buffer",
    RcvData = "port_rcv_data",
    XmitData = "port_xmit_data",
    RcvPackets = "port_rcv_packets",
    XmitPackets = "port_xmit_packets",
    EcnMarked = "np_ecn_marked_roce_packets",
    CnpSent = "np_cnp_sent",
    CnpHandled = "rp_cnp_handled",
    CnpIgnored = "rp_cnp_ignored",
    RcvPauseFrames = "rx_pause_frames",
    RcvGlobalPause = "rx_global_pause_frames",
    RcvPauseTime = "rx_pause_duration",
    XmitPauseFrames = "tx_pause_frames",
    XmitGlobalPause = "tx_global_pause_frames",
    XmitPauseTime = "tx_pause_duration",
    StormWarning = "tx_pause_storm_warning_events",
    StormError = "tx_pause_storm_error_events",
}

impl Watched {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|watched| watched.name() == name).copied()
    }

    /// Its bit in a [`Set`].
    const fn bit(self) -> u64 {
        1 << self as u64
    }

    /// The unit of its values and increases.
    pub(crate) fn unit(self) -> &'static str {
        Metric::named(self.name()).map_or("", |metric| metric.unit.name())
    }
}

/// A set of metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Set(u64);

impl Set {
    pub(crate) const fn insert(&mut self, watched: Watched) {
        self.0 |= watched.bit();
    }

    pub(crate) const fn subtract(&mut self, other: Self) {
        self.0 &= !other.0;
    }

    pub(crate) const fn has(self, watched: Watched) -> bool {
        self.0 & watched.bit() != 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Watched> {
        Watched::ALL.iter().copied().filter(move |watched| self.has(*watched))
    }

    pub(crate) const fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::Watched;
    use rocescope_model::catalogue::Metric;

    #[test]
    fn every_watched_metric_is_in_the_catalogue_and_fits_into_a_set() {
        assert!(Watched::ALL.len() <= 64);
        for watched in Watched::ALL {
            assert!(Metric::named(watched.name()).is_some(), "{}", watched.name());
            assert_eq!(Watched::named(watched.name()), Some(*watched));
        }
    }
}
