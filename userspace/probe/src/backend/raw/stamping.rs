//! Which clock stamps the frames of a NIC: the NIC, its driver, or only the agent.
//!
//! The NIC does if hardware timestamps are enabled for every frame (`hwstamp_ctl -i NIC -t 1 -r 1`; PTP daemons enable
//! them only for their own frames). The agent only reads this setting: a change would affect all programs, and needs a
//! capability that probing does not.

use super::link::Link;
use crate::types::{Clock, Nanos};

/// The maximum delay of an interrupt that a NIC raises for several frames. Between virtual interfaces, the work of the network
/// stack after the first time stamp takes as long where caches are cold.
const INTERRUPT_ERROR: Nanos = Nanos(64_000);
/// NIC clocks have steps of up to 16 ns in each direction, and the pipeline of the NIC adds some tens of nanoseconds.
const CARD_ERROR: Nanos = Nanos(100);
/// Other programs may run between the agent's reading of the clock and the driver: a tick of the scheduler.
const AGENT_ERROR: Nanos = Nanos(4_000_000);

/// The time at which a frame arrived or left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamps {
    /// By the system clock.
    pub(super) software: Option<Nanos>,
    /// By the clock of the NIC.
    pub(super) hardware: Option<Nanos>,
}

/// Which clock stamps, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stamping {
    /// The NIC, in both directions, with its own clock.
    Card,
    /// The driver stamps departures, the network stack arrivals, with the system clock.
    Kernel,
    /// The network stack stamps arrivals; the driver does not stamp departures, so the agent does.
    Agent,
}

impl Stamping {
    /// Returns the best that all NICs support: timestamps of different clocks are not comparable.
    pub(super) fn for_all(links: &[Link]) -> Self {
        links.iter().map(Self::for_link).max().unwrap_or(Self::Kernel)
    }

    /// A driver without this query is assumed to stamp nothing.
    fn for_link(link: &Link) -> Self {
        let interface = link.interface();
        if interface.stamps_in_hardware().unwrap_or(false) {
            Self::Card
        } else if interface.stamps_sent_frames().unwrap_or(false) {
            Self::Kernel
        } else {
            Self::Agent
        }
    }

    /// The flags for `SO_TIMESTAMPING`. The system clock times the answers of routers in any case.
    pub(super) const fn flags(self) -> libc::c_uint {
        let arrivals = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
        arrivals
            | match self {
                Self::Card => {
                    libc::SOF_TIMESTAMPING_TX_HARDWARE
                        | libc::SOF_TIMESTAMPING_RX_HARDWARE
                        | libc::SOF_TIMESTAMPING_RAW_HARDWARE
                }
                Self::Kernel => libc::SOF_TIMESTAMPING_TX_SOFTWARE,
                Self::Agent => 0,
            }
    }

    /// Returns the timestamp to use as (2) or (3).
    pub(super) const fn choose(self, stamps: Stamps) -> Option<Nanos> {
        match self {
            Self::Card => stamps.hardware,
            Self::Kernel | Self::Agent => stamps.software,
        }
    }

    /// The clock as stated in the rows.
    pub(super) fn clock(self) -> Clock {
        let (source, error) = match self {
            Self::Card => ("nic hardware", CARD_ERROR),
            Self::Kernel => ("kernel software", INTERRUPT_ERROR),
            Self::Agent => ("cpu", AGENT_ERROR),
        };
        Clock {
            source,
            error,
            own: self == Self::Card,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_s_stamps_are_never_mixed_with_the_system_s() {
        let (software, hardware) = (Some(Nanos(1)), Some(Nanos(2)));
        let stamps = |software, hardware| Stamps { software, hardware };
        let both = stamps(software, hardware);
        assert_eq!(Stamping::Card.choose(both), hardware);
        assert_eq!(Stamping::Card.choose(stamps(software, None)), None);
        assert_eq!(Stamping::Kernel.choose(both), software);
        assert_eq!(Stamping::Agent.choose(stamps(None, hardware)), None);
        assert!(Stamping::Card.clock().own && !Stamping::Kernel.clock().own);
    }
}
