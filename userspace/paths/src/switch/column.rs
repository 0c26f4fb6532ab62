//! The columns that a mapping can name: of metrics (Prometheus) or of paths (gNMI).

use super::{Counter, Gauges};

/// What a value fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Counter(Counter),
    Gauge(Gauge),
}

impl Column {
    /// The column with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        COLUMNS.iter().find(|known| known.0 == name).map(|known| known.1)
    }
}

/// What is known of the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gauge {
    Up,
    Speed,
    QueueBytes,
    QueueMaxBytes,
    BitErrorRatio,
    RxPower,
    TxPower,
    Celsius,
}

impl Gauge {
    /// Sets it; of several lanes, the weakest light and the highest temperature.
    pub(crate) fn set(self, gauges: &mut Gauges, value: f64) {
        let weakest = |known: Option<f64>| Some(known.map_or(value, |known| known.min(value)));
        let highest = |known: Option<f64>| Some(known.map_or(value, |known| known.max(value)));
        match self {
            Self::Up => gauges.is_up = Some(value == 1.0),
            Self::Speed => gauges.speed_bps = Some(value),
            Self::QueueBytes => gauges.queue_bytes = whole(value),
            Self::QueueMaxBytes => gauges.queue_max_bytes = gauges.queue_max_bytes.max(whole(value)),
            Self::BitErrorRatio => gauges.bit_error_ratio = highest(gauges.bit_error_ratio),
            Self::RxPower => gauges.rx_power_dbm = weakest(gauges.rx_power_dbm),
            Self::TxPower => gauges.tx_power_dbm = weakest(gauges.tx_power_dbm),
            Self::Celsius => gauges.module_celsius = highest(gauges.module_celsius),
        }
    }
}

/// A value as a whole number; `None` for what is none, such as a negative one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is not negative, and larger numbers saturate"
)]
pub(crate) fn whole(value: f64) -> Option<u64> {
    (value.is_finite() && value >= 0.0).then_some(value.round() as u64)
}

/// The names that a mapping can use. Those of frames by kind add up to `in_frames` and `out_frames`.
pub(crate) const COLUMNS: [(&str, Column); 33] = [
    ("in_bytes", Column::Counter(Counter::InBytes)),
    ("in_frames", Column::Counter(Counter::InFrames)),
    ("in_unicast_frames", Column::Counter(Counter::InUnicast)),
    ("in_multicast_frames", Column::Counter(Counter::InMulticast)),
    ("in_broadcast_frames", Column::Counter(Counter::InBroadcast)),
    ("out_bytes", Column::Counter(Counter::OutBytes)),
    ("out_frames", Column::Counter(Counter::OutFrames)),
    ("out_unicast_frames", Column::Counter(Counter::OutUnicast)),
    ("out_multicast_frames", Column::Counter(Counter::OutMulticast)),
    ("out_broadcast_frames", Column::Counter(Counter::OutBroadcast)),
    ("in_dropped_frames", Column::Counter(Counter::InDropped)),
    ("out_dropped_frames", Column::Counter(Counter::OutDropped)),
    ("ecn_marked_frames", Column::Counter(Counter::EcnMarked)),
    ("sent_pause_frames", Column::Counter(Counter::SentPauses)),
    ("received_pause_frames", Column::Counter(Counter::ReceivedPauses)),
    ("pausing_ns", Column::Counter(Counter::PausingNs)),
    ("paused_ns", Column::Counter(Counter::PausedNs)),
    ("watchdog_storms", Column::Counter(Counter::WatchdogStorms)),
    ("watchdog_restores", Column::Counter(Counter::WatchdogRestores)),
    ("in_errors", Column::Counter(Counter::InErrors)),
    ("out_errors", Column::Counter(Counter::OutErrors)),
    ("fcs_errors", Column::Counter(Counter::FcsErrors)),
    ("symbol_errors", Column::Counter(Counter::SymbolErrors)),
    ("fec_corrected", Column::Counter(Counter::FecCorrected)),
    ("fec_uncorrected", Column::Counter(Counter::FecUncorrected)),
    ("up", Column::Gauge(Gauge::Up)),
    ("speed_bps", Column::Gauge(Gauge::Speed)),
    ("queue_bytes", Column::Gauge(Gauge::QueueBytes)),
    ("queue_max_bytes", Column::Gauge(Gauge::QueueMaxBytes)),
    ("bit_error_ratio", Column::Gauge(Gauge::BitErrorRatio)),
    ("rx_power_dbm", Column::Gauge(Gauge::RxPower)),
    ("tx_power_dbm", Column::Gauge(Gauge::TxPower)),
    ("module_celsius", Column::Gauge(Gauge::Celsius)),
];

#[cfg(test)]
mod tests {
    use super::COLUMNS;
    use rocescope_model::{Row, SwitchPortRow};

    #[test]
    fn names_are_those_of_the_table() {
        let by_kind =
            ["in_", "out_"].map(|way| ["unicast", "multicast", "broadcast"].map(|kind| format!("{way}{kind}_frames")));
        for (name, _) in COLUMNS {
            let is_column = SwitchPortRow::TABLE.columns.iter().any(|column| column.name == name);
            assert!(is_column || by_kind.as_flattened().contains(&name.to_owned()), "{name}");
        }
    }
}
