//! Timestamps of completions.

use crate::types::Nanos;
use rocescope_ibverbs::{Stamping, nanos};

/// The name in the rows.
pub(super) const fn source(stamping: Stamping) -> &'static str {
    match stamping {
        Stamping::WallClock | Stamping::Ticks { .. } => "nic hardware",
        Stamping::Processor => "cpu",
    }
}

/// Bound on the error of the difference of two timestamps: one tick each; for the processor, the time that a
/// completion may wait for an interrupt.
pub(super) fn error(stamping: Stamping) -> Nanos {
    match stamping {
        Stamping::WallClock => Nanos(2),
        Stamping::Ticks { kilohertz } => Nanos(nanos(2, kilohertz) + 1),
        Stamping::Processor => Nanos(64_000),
    }
}

/// Returns a flow label whose [`source_port`](rocescope_model::source_port) is `port`. It is never 0, which would make a
/// driver choose a port itself.
pub(super) const fn flow_label(port: u16) -> u32 {
    1 << 14 | (port as u32 & 0x3fff) ^ 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_model::source_port;

    #[test]
    fn every_port_has_a_label() {
        for port in 0xc000..=u16::MAX {
            let label = flow_label(port);
            assert_eq!(source_port(label), port);
            assert!(label != 0 && label < 1 << 20);
        }
    }

    #[test]
    fn ticks_of_a_day_do_not_overflow() {
        // ConnectX-5 counts at 78.125 MHz, later ones at 1 GHz.
        assert_eq!(nanos(78_125_000, 78_125), 1_000_000_000);
        assert_eq!(nanos(86_400 * 1_000_000_000, 1_000_000), 86_400 * 1_000_000_000);
        assert_eq!(error(Stamping::Ticks { kilohertz: 78_125 }), Nanos(26));
        assert_eq!(nanos(u64::MAX, 0), i64::MAX);
    }
}
