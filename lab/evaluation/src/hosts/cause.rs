//! What is wrong in a run, and the class of its verdict.

use super::nic::Driver::{self, Bnxt, Irdma, Mlx5, Rxe};
use rocescope_diagnose::hosts::Class;

/// What is wrong in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    Quiet,
    Busy,
    ReceiverDied,
    OneSender,
    Incast,
    Jitter,
    SlowReceiver,
    DamagedCable,
    FlappingCable,
    LinkDown,
    Pcie,
    PauseStorm,
    NoCnps,
    CnpsIgnored,
    Loss,
    ReceiverDrops,
    MirrorRepeats,
    MirrorLacks,
    NicVanished,
    ReadLoss,
}

impl Cause {
    pub(super) const ALL: [Self; 20] = [
        Self::Quiet,
        Self::Busy,
        Self::ReceiverDied,
        Self::OneSender,
        Self::Incast,
        Self::Jitter,
        Self::SlowReceiver,
        Self::DamagedCable,
        Self::FlappingCable,
        Self::LinkDown,
        Self::Pcie,
        Self::PauseStorm,
        Self::NoCnps,
        Self::CnpsIgnored,
        Self::Loss,
        Self::ReceiverDrops,
        Self::MirrorRepeats,
        Self::MirrorLacks,
        Self::NicVanished,
        Self::ReadLoss,
    ];

    /// The verdict that it must get.
    pub(super) const fn class(self) -> Option<Class> {
        Some(match self {
            Self::Quiet | Self::Busy => return None,
            Self::ReceiverDied => Class::ReceiverDied,
            Self::OneSender | Self::Incast => Class::Congestion,
            Self::Jitter => Class::Jitter,
            Self::SlowReceiver => Class::SlowReceiver,
            Self::DamagedCable | Self::FlappingCable => Class::SickCable,
            Self::LinkDown => Class::LinkDown,
            Self::NicVanished => Class::NicVanished,
            Self::Pcie => Class::PcieDegraded,
            Self::PauseStorm => Class::PauseStorm,
            Self::NoCnps => Class::NoCnps,
            Self::CnpsIgnored => Class::CnpsIgnored,
            Self::Loss | Self::ReadLoss => Class::NetworkLoss,
            Self::ReceiverDrops => Class::ReceiverDrops,
            Self::MirrorRepeats => Class::MirrorRepeats,
            Self::MirrorLacks => Class::MirrorLacks,
        })
    }

    /// Drivers of the host at fault: those that count what shows it, or any if the wire does.
    pub(super) const fn drivers(self) -> &'static [Driver] {
        match self {
            Self::DamagedCable | Self::PauseStorm | Self::ReceiverDrops => &[Mlx5, Bnxt, Irdma],
            Self::Pcie | Self::CnpsIgnored => &[Mlx5, Bnxt, Irdma],
            Self::FlappingCable => &[Mlx5, Bnxt, Rxe],
            Self::MirrorLacks | Self::MirrorRepeats => &[Mlx5, Bnxt, Rxe],
            _ => &[Mlx5, Bnxt, Irdma, Rxe],
        }
    }
}
