//! Timestamps of completions.

use crate::types::Nanos;

/// The clock that stamps completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stamping {
    /// The device, in nanoseconds since 1970.
    WallClock,
    /// The device, in ticks of its clock.
    Ticks {
        /// The frequency of that clock.
        kilohertz: u64,
    },
    /// No timestamps (`EOPNOTSUPP`): the processor stamps when it has posted a send and when it reads a receive.
    Processor,
}

impl Stamping {
    /// The name in the rows.
    pub(super) const fn source(self) -> &'static str {
        match self {
            Self::WallClock | Self::Ticks { .. } => "nic hardware",
            Self::Processor => "cpu",
        }
    }

    /// Bound on the error of the difference of two timestamps: one tick each; for the processor, the time that a
    /// completion may wait for an interrupt.
    pub(super) fn error(self) -> Nanos {
        match self {
            Self::WallClock => Nanos(2),
            Self::Ticks { kilohertz } => Nanos(nanos(2, kilohertz).0 + 1),
            Self::Processor => Nanos(64_000),
        }
    }
}

/// Converts ticks to nanoseconds.
pub(super) fn nanos(ticks: u64, kilohertz: u64) -> Nanos {
    let nanos = u128::from(ticks) * 1_000_000 / u128::from(kilohertz.max(1));
    Nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
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
        assert_eq!(nanos(78_125_000, 78_125), Nanos(1_000_000_000));
        assert_eq!(nanos(86_400 * 1_000_000_000, 1_000_000), Nanos(86_400 * 1_000_000_000));
        assert_eq!(Stamping::Ticks { kilohertz: 78_125 }.error(), Nanos(26));
        assert_eq!(nanos(u64::MAX, 0), Nanos(i64::MAX));
    }
}
