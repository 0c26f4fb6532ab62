//! Who stamps the frames of a NIC: the card, its driver, or only the agent.
//!
//! The card does where somebody has switched that on for every frame (`hwstamp_ctl -i NIC -t 1 -r 1`; what
//! synchronises clocks by PTP does so only for its own frames). The agent looks and switches nothing: it would change the NIC for
//! all programs, and takes a capability that probing does not.

use super::link::Link;
use crate::types::{Clock, Nanos};

/// The stamps of a virtual interface are taken where the frame passes from one end to the other.
const VIRTUAL_ERROR: Nanos = Nanos(1_000);
/// A card waits up to so long with an interrupt, to raise one for several frames.
const INTERRUPT_ERROR: Nanos = Nanos(64_000);
/// Cards count in steps of up to 16 ns each way, and lie by the length of their own pipelines, some tens.
const CARD_ERROR: Nanos = Nanos(100);
/// Between the agent's look at the clock and the driver other programs may have their turn: a tick of the scheduler.
const AGENT_ERROR: Nanos = Nanos(4_000_000);

/// When a frame came or left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamps {
    /// By the system clock.
    pub(super) software: Option<Nanos>,
    /// By the clock of the card.
    pub(super) hardware: Option<Nanos>,
}

/// Who stamps, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stamping {
    /// The card, both ways, with a clock of its own.
    Card,
    /// The driver what leaves, the network stack what comes, with the system clock.
    Kernel,
    /// The network stack what comes; the driver does not stamp what leaves, so the agent does.
    Agent,
}

impl Stamping {
    /// The best that all have: stamps of a card mean nothing beside those of another clock.
    pub(super) fn of_all(links: &[Link]) -> Self {
        links.iter().map(Self::of).max().unwrap_or(Self::Kernel)
    }

    /// A driver that cannot be asked stamps nothing.
    fn of(link: &Link) -> Self {
        let interface = link.interface();
        if interface.stamps_in_hardware().unwrap_or(false) {
            Self::Card
        } else if interface.stamps_sent_frames().unwrap_or(false) {
            Self::Kernel
        } else {
            Self::Agent
        }
    }

    /// What to ask of the kernel (`SO_TIMESTAMPING`). What answers routers give is timed by the system clock in any case.
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

    /// The stamp that is (2) or (3).
    pub(super) const fn choose(self, stamps: Stamps) -> Option<Nanos> {
        match self {
            Self::Card => stamps.hardware,
            Self::Kernel | Self::Agent => stamps.software,
        }
    }

    /// As rows state it.
    pub(super) fn clock(self, links: &[Link]) -> Clock {
        let (source, error) = match self {
            Self::Card => ("nic hardware", CARD_ERROR),
            Self::Kernel if links.iter().all(Link::is_virtual) => {
                ("kernel software", VIRTUAL_ERROR)
            }
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
        assert!(Stamping::Card.clock(&[]).own && !Stamping::Kernel.clock(&[]).own);
    }
}
