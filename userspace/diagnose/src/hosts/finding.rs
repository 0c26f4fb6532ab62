//! What a rule finds in a window: class, place, evidence.

use super::watched::Watched;
use super::window::Signs;
use super::wire::Direction;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use serde::{Serialize, Serializer};

macro_rules! classes {
    ($($(#[doc = $help:literal])+ $variant:ident = $name:literal),+ $(,)?) => {
        /// A class of faults.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Class {$(
            $(#[doc = $help])+
            $variant
        ),+}

        impl Class {
            /// Every class.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in rows, JSON and the documentation.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

classes! {
    /// The application at the receiver is gone, while its host and the network work.
    ReceiverDied = "receiver_died",
    /// A port is congested; the place is the sender that causes most of it, or the receiver if no sender is ahead.
    Congestion = "congestion",
    /// The rate of a big flow jumps.
    Jitter = "jitter",
    /// A receiver has no buffers posted.
    SlowReceiver = "slow_receiver",
    /// A cable, a transceiver or their contacts damage packets, or the link goes up and down.
    SickCable = "sick_cable",
    /// A port that worked is down.
    LinkDown = "link_down",
    /// A NIC is gone from its host.
    NicVanished = "nic_vanished",
    /// The `PCIe` link of a NIC is slower than it could be, and slower than its port needs.
    PcieDegraded = "pcie_degraded",
    /// A NIC pauses the network and is not paused itself: the source of a storm.
    PauseStorm = "pause_storm",
    /// A receiver of marked packets sends no CNPs.
    NoCnps = "no_cnps",
    /// A sender receives CNPs and does not slow down.
    CnpsIgnored = "cnps_ignored",
    /// The network loses packets, and both ends notice.
    NetworkLoss = "network_loss",
    /// The NIC of the receiver drops packets that reached it.
    ReceiverDrops = "receiver_drops",
    /// The tap saw retransmissions that no host made: the mirror repeats packets.
    MirrorRepeats = "mirror_repeats",
    /// A host retransmits, and the tap does not see it: the mirror lacks part of its traffic.
    MirrorLacks = "mirror_lacks",
}

impl Serialize for Class {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Where a fault is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Port(u32),
    /// An address whose port is unknown.
    Address(IpAddr),
    /// From one address to another.
    Pair(IpAddr, IpAddr),
    Connection(Direction),
    /// The mirror that feeds this capture.
    Mirror(String),
    /// An unknown receiver of these ports.
    PeerOf(Vec<u32>),
}

/// A row that a finding rests on, or what several rows add up to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// The port, connection or capture that it belongs to.
    pub of: String,
    /// The metric of the catalogue, or the column of `flows`, `events` or `connections`.
    pub name: String,
    /// Its increase while the fault lasted, or its last value.
    pub value: f64,
    /// Unit of the value.
    pub unit: String,
    /// Whether the values of several windows add up.
    #[serde(skip)]
    pub(crate) is_sum: bool,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Confidence {
    /// One side shows it, and nothing contradicts.
    Possible,
    /// Several rows show it; another cause is unlikely.
    Likely,
    /// The rows leave no other cause.
    Certain,
}

impl Confidence {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

/// What a rule found in a window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) class: Class,
    pub(crate) place: Place,
    /// When it began, if a row has it.
    pub(crate) since_ns: Option<i64>,
    /// What the fault is known by from window to window, if its place may be found out later.
    pub(crate) known_by: Option<Place>,
    /// Windows after which it is a verdict, if not those of the settings.
    pub(crate) begins_after: Option<u32>,
    /// When it certainly was in this window, if a burst of it is no verdict.
    pub(crate) signs: Option<Signs>,
    pub(crate) confidence: Confidence,
    /// Why it is as sure as that.
    pub(crate) reason: String,
    pub(crate) evidence: Vec<Evidence>,
    /// What is unknown, and why.
    pub(crate) unknown: Vec<String>,
    /// What happens there, without the place.
    pub(crate) meaning: String,
    /// What to do.
    pub(crate) action: String,
}

impl Finding {
    pub(crate) const fn new(class: Class, place: Place, confidence: Confidence) -> Self {
        Self {
            class,
            place,
            since_ns: None,
            known_by: None,
            begins_after: None,
            signs: None,
            confidence,
            reason: String::new(),
            evidence: Vec::new(),
            unknown: Vec::new(),
            meaning: String::new(),
            action: String::new(),
        }
    }

    /// Whether both are about the same fault.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let known_by = |finding: &Self| finding.known_by.clone().unwrap_or_else(|| finding.place.clone());
        self.class == other.class && known_by(self) == known_by(other)
    }

    pub(crate) fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    pub(crate) fn means(mut self, meaning: impl Into<String>, action: impl Into<String>) -> Self {
        (self.meaning, self.action) = (meaning.into(), action.into());
        self
    }

    /// Adds the increase of a counter, if it is known.
    pub(crate) fn counted(&mut self, of: &str, watched: Watched, increase: Option<u64>) {
        if let Some(increase) = increase {
            self.sum(of, watched.name(), increase as f64, watched.unit());
        }
    }

    /// Adds what a counter certainly grew by, if it did.
    pub(crate) fn grown(&mut self, of: &str, watched: Watched, count: u64) {
        self.counted(of, watched, Some(count).filter(|count| *count > 0));
    }

    pub(crate) fn sum(&mut self, of: &str, name: &str, value: f64, unit: &str) {
        self.rests_on(of, name, value, unit, true);
    }

    pub(crate) fn value(&mut self, of: &str, name: &str, value: f64, unit: &str) {
        self.rests_on(of, name, value, unit, false);
    }

    fn rests_on(&mut self, of: &str, name: &str, value: f64, unit: &str, is_sum: bool) {
        self.evidence.push(Evidence {
            of: of.into(),
            name: name.into(),
            value,
            unit: unit.into(),
            is_sum,
        });
    }

    pub(crate) fn unknown(&mut self, what: impl Into<String>) {
        self.unknown.push(what.into());
    }
}

impl Direction {
    /// `10.0.0.1>10.0.0.2 QP 17`
    pub(crate) fn text(&self) -> String {
        format!("{}>{} QP {}", self.src, self.dst, self.dst_qpn)
    }
}
