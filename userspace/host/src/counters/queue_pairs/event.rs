//! What the kernel reports of queue pairs as it happens.

use crate::counters::Moment;
use crate::counters::rdma::QueuePair;
use rocescope_model::{QueuePairRow, source_port};
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

/// Something happened to a queue pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, with the clock of [`Moment::now`].
    pub moment: Moment,
    /// Name of its device.
    pub device: String,
    /// Its number.
    pub number: u32,
    /// What happened.
    pub what: What,
}

/// What happened to a queue pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It was created.
    Created(Identity, Owner),
    /// Attributes were set.
    Modified(Identity, Owner, Attributes),
    /// CM sent its number to connect it.
    ByCm,
    /// It ended.
    Ended(Identity),
}

/// Of the queue pairs that exist, one has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity(pub u64);

/// Whose it is, and what does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Type, such as `RC`.
    pub kind: &'static str,
    /// Process that created it; `None` for the kernel.
    pub pid: Option<u32>,
    /// Name of that process, or of the kernel module.
    pub process: String,
}

/// Attributes of a queue pair; `None` are not known, or not set by a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// State, such as `RTS`.
    pub state: Option<&'static str>,
    /// Port of the device.
    pub port: Option<u32>,
    /// Number of the queue pair that it is connected to.
    pub remote_qpn: Option<u32>,
    /// Address from which it sends.
    pub local_address: Option<IpAddr>,
    /// Address of the queue pair that it is connected to.
    pub remote_address: Option<IpAddr>,
    /// From what its UDP source port follows.
    pub flow: Option<Flow>,
    /// UDP source port of what it sends.
    pub udp_src_port: Option<u16>,
    /// Traffic class of what it sends.
    pub traffic_class: Option<u8>,
    /// Path MTU in bytes.
    pub path_mtu_bytes: Option<u32>,
    /// Timeout for acknowledgements: 4.096 us times two to the power of this.
    pub timeout: Option<u8>,
    /// Retries after a timeout or a NAK.
    pub retries: Option<u8>,
    /// Retries after an RNR NAK.
    pub rnr_retries: Option<u8>,
    /// PSN of its first packet.
    pub send_psn: Option<u32>,
    /// PSN of the first packet that it expects.
    pub receive_psn: Option<u32>,
}

/// From what the UDP source port of a queue pair follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The flow label of its address vector. A driver of the kernel computes the port from it.
    Label(u32),
    /// The device, by its own rule.
    Device,
}

impl Flow {
    /// The source port of a connected queue pair, by `rdma_get_udp_sport` of the kernel (`include/rdma/ib_verbs.h`): the
    /// numbers of both queue pairs replace a flow label of 0.
    fn port(self, local: u32, remote: u32) -> Option<u16> {
        let numbers = || {
            let product = u64::from(local) * u64::from(remote);
            let folded = product ^ product >> 20;
            (folded ^ folded >> 40) as u32 & 0xf_ffff
        };
        match self {
            Self::Label(0) => Some(source_port(numbers())),
            Self::Label(label) => Some(source_port(label)),
            Self::Device => None,
        }
    }
}

impl Attributes {
    /// Takes what a change sets.
    pub(super) fn take(&mut self, change: &Self, pair: &mut QueuePair) {
        /// What a field has from now on.
        fn set<T: Clone>(field: &mut Option<T>, change: &Option<T>) {
            if change.is_some() {
                field.clone_from(change);
            }
        }
        if let Some(state) = change.state {
            pair.state = state;
            if state == "RESET" {
                // As it was when it was created.
                *self = Self::default();
                pair.remote_qpn = None;
            }
        }
        set(&mut pair.port, &change.port);
        set(&mut pair.remote_qpn, &change.remote_qpn);
        set(&mut self.local_address, &change.local_address);
        set(&mut self.remote_address, &change.remote_address);
        set(&mut self.traffic_class, &change.traffic_class);
        set(&mut self.path_mtu_bytes, &change.path_mtu_bytes);
        set(&mut self.timeout, &change.timeout);
        set(&mut self.retries, &change.retries);
        set(&mut self.rnr_retries, &change.rnr_retries);
        set(&mut self.send_psn, &change.send_psn);
        set(&mut self.receive_psn, &change.receive_psn);
        if let (Some(flow), Some(remote)) = (change.flow, pair.remote_qpn) {
            self.udp_src_port = flow.port(pair.local_qpn, remote);
        }
    }

    /// Fills the columns of a row.
    pub(super) const fn fill(&self, row: &mut QueuePairRow) {
        row.local_address = self.local_address;
        row.remote_address = self.remote_address;
        row.udp_src_port = self.udp_src_port;
        row.traffic_class = self.traffic_class;
        row.path_mtu_bytes = self.path_mtu_bytes;
        row.timeout = self.timeout;
        row.retries = self.retries;
        row.rnr_retries = self.rnr_retries;
        row.send_psn = self.send_psn;
        row.receive_psn = self.receive_psn;
    }
}

/// Lost events, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// The reader was too slow.
    pub full: u64,
    /// The kernel did not report the end of a change.
    pub unfinished: u64,
    /// The kernel could not read what it should report.
    pub unreadable: u64,
}

impl Lost {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.full + self.unfinished + self.unreadable
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} events of queue pairs lost", self.total())?;
        for (count, why) in [
            (self.full, "because the reader was too slow"),
            (self.unfinished, "whose end the kernel did not report"),
            (self.unreadable, "that the kernel could not read"),
        ] {
            if count > 0 {
                write!(f, "; {count} {why}")?;
            }
        }
        Ok(())
    }
}

/// What reports events.
pub trait Events: Send {
    /// Waits until there are events, for at most this time.
    fn wait(&mut self, limit: Duration);

    /// The events since the last call, in the order in which they happened.
    fn take(&mut self) -> Vec<Event>;

    /// Events that were lost so far.
    fn lost(&self) -> Lost;

    /// Whether queue pairs that CM connects are reported as such.
    fn sees_cm(&self) -> bool;
}
