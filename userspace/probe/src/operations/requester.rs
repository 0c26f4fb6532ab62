//! The end that measures.

use crate::rc::{Address, Device, Error, Operation, Options, QueuePair, Region, Window};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// Bytes of an operation.
const BYTES: usize = 8;
/// How often each operation is run; the median counts.
const RUNS: usize = 5;
/// How long an operation may take.
const LIMIT: Duration = Duration::from_secs(1);

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// SEND to a receive of the peer.
    Send,
    /// WRITE to the memory of the peer.
    Write,
    /// READ of the memory of the peer.
    Read,
}

impl Verb {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Send, Self::Write, Self::Read];

    /// The name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Write => "write",
            Self::Read => "read",
        }
    }
}

/// The median of some runs of an operation: from the call that posts it to its completion.
pub type Latency = Duration;

/// A queue pair that asks, and what is known of the other one.
#[derive(Debug)]
pub(super) struct Requester {
    id: u32,
    pair: QueuePair,
    region: Region,
    peer: Peer,
}

#[derive(Debug)]
enum Peer {
    /// It was asked.
    Silent,
    Connected {
        address: IpAddr,
        window: Window,
    },
    Failed(String),
}

impl Requester {
    pub(super) fn new(
        device: &Device,
        region: Result<Region, Error>,
        options: &Options,
        id: u32,
    ) -> Result<Self, Error> {
        Ok(Self {
            id,
            region: region?,
            pair: QueuePair::new(device, options)?,
            peer: Peer::Silent,
        })
    }

    pub(super) fn address(&self) -> Address {
        self.pair.address()
    }

    /// The answer to an offer; one to an older offer is left out.
    pub(super) fn connect(&mut self, id: u32, peer: &Address, window: Window) {
        if id != self.id || !matches!(self.peer, Peer::Silent) {
            return;
        }
        self.peer = match self.pair.connect(peer) {
            Ok(()) => Peer::Connected {
                address: Ipv6Addr::from(peer.gid).to_canonical(),
                window,
            },
            Err(error) => Peer::Failed(error.to_string()),
        };
    }

    pub(super) fn refused(&mut self, id: u32, reason: String) {
        if id == self.id {
            self.peer = Peer::Failed(reason);
        }
    }

    /// Why it does not measure, if it does not.
    pub(super) fn problem(&self, peer: &str) -> Option<String> {
        match &self.peer {
            Peer::Connected { .. } => None,
            Peer::Silent => Some(format!("{peer} does not answer")),
            Peer::Failed(why) => Some(why.clone()),
        }
    }

    /// Measures every operation; nothing if the peer has not answered. An operation that fails ends it.
    pub(super) fn measure(&mut self) -> Vec<(Verb, IpAddr, Option<Latency>)> {
        let Peer::Connected { address, window } = self.peer else {
            return Vec::new();
        };
        let mut measured = Vec::new();
        for verb in Verb::ALL {
            let operation = match verb {
                Verb::Send => Operation::Send,
                Verb::Write => Operation::Write(window),
                Verb::Read => Operation::Read(window),
            };
            match self.median(operation) {
                Ok(latency) => measured.push((verb, address, Some(latency))),
                Err(error) => {
                    measured.push((verb, address, None));
                    self.peer = Peer::Failed(format!("{} to {address}: {error}", verb.name()));
                    break;
                }
            }
        }
        measured
    }

    fn median(&mut self, operation: Operation) -> Result<Latency, Error> {
        let mut runs = [Duration::ZERO; RUNS];
        for run in &mut runs {
            *run = self.pair.run(operation, &self.region, 0..BYTES, LIMIT)?;
        }
        runs.sort_unstable();
        Ok(runs[RUNS / 2])
    }
}
