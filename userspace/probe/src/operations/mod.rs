//! The latency of RDMA operations: SEND, WRITE and READ of a few bytes between RC queue pairs, as an application sees
//! it.
//!
//! Each NIC has a queue pair for each peer: another agent, whose NIC of the same index answers, or this process itself,
//! where the next NIC does. Queue pairs need each other's numbers, so the ends exchange two [`Message`]s, which the
//! caller carries: the asking end sends an offer, the other one an answer with its memory. An end that fails or stays
//! silent gets another offer at the next interval.
//!
//! | module | contents |
//! |---|---|
//! | `message` | what ends tell each other |
//! | `requester` | the end that measures |
//! | `responder` | the end that answers |

mod message;
mod requester;
mod responder;

pub use message::Message;
pub use requester::{Latency, Verb};

use crate::rc::{Device, Error, Memory, Options, Region};
use crate::types::Nic;
use fastrand::Rng;
use requester::Requester;
use responder::Responder;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// The memory of an end.
const BYTES: usize = 4096;
/// Ends that this process answers; offers beyond them are refused.
const MAX_RESPONDERS: usize = 1024;

/// A port and its memory.
#[derive(Debug)]
struct End {
    nic: Nic,
    device: Device,
}

impl End {
    fn region(&self) -> Result<Region, Error> {
        Region::register(&self.device, Memory::new(BYTES)?)
    }
}

/// What was measured of one operation, or why it failed.
#[derive(Debug)]
pub struct Measured {
    /// Name of the NIC.
    pub nic: String,
    /// Name of its RDMA device.
    pub device: String,
    /// Port of the device.
    pub port: u8,
    /// Name of the agent at the other end.
    pub peer: String,
    /// Address of the NIC at the other end.
    pub address: IpAddr,
    /// The operation.
    pub verb: Verb,
    /// The latency; `None` if it failed.
    pub latency: Option<Latency>,
}

/// What a turn has brought.
#[derive(Debug, Default)]
pub struct Turn {
    /// Messages to other agents.
    pub messages: Vec<(String, Message)>,
    /// What was measured.
    pub measured: Vec<Measured>,
    /// What does not work, by NIC and agent; nothing of those that work.
    pub problems: Vec<(String, String, String)>,
}

/// The ends of this process.
#[derive(Debug)]
pub struct Operations {
    observer: String,
    ends: Vec<Option<End>>,
    peers: Vec<String>,
    interval: Duration,
    due: Instant,
    random: Rng,
    requesters: BTreeMap<(u16, String), Requester>,
    /// By agent, its NIC, and ours.
    responders: BTreeMap<(String, u16, u16), Responder>,
}

impl Operations {
    /// Opens the RDMA devices of NICs, each with its interface index. Without `peers` the NICs of this process are peers
    /// of each other. Returns why NICs are left out, too.
    #[must_use]
    pub fn open(
        observer: &str,
        nics: &[(Nic, u32)],
        peers: &[String],
        interval: Duration,
        seed: u64,
    ) -> (Self, Vec<Error>) {
        let mut left_out = Vec::new();
        let mut open = |(nic, interface): &(Nic, u32)| match Device::of_nic(nic, *interface) {
            Ok(device) => Some(End {
                nic: nic.clone(),
                device,
            }),
            Err(error) => {
                left_out.push(error);
                None
            }
        };
        let ends = nics.iter().map(&mut open).collect();
        let own = [observer.to_owned()];
        let operations = Self {
            observer: observer.to_owned(),
            ends,
            peers: if peers.is_empty() { &own[..] } else { peers }.to_vec(),
            interval,
            due: Instant::now(),
            random: Rng::with_seed(seed),
            requesters: BTreeMap::new(),
            responders: BTreeMap::new(),
        };
        (operations, left_out)
    }

    /// Whether a NIC has a device.
    #[must_use]
    pub fn has_devices(&self) -> bool {
        self.ends.iter().any(Option::is_some)
    }

    /// A message of an agent arrived; returns the reply to it.
    pub fn receive(&mut self, from: &str, message: Message) -> Option<Message> {
        match message {
            Message::Offer { nic, to, id, address } => {
                let answered = self.answer(from, nic, to, &address);
                Some(match answered {
                    Ok(responder) => Message::Answer {
                        nic,
                        id,
                        address: responder.address(),
                        window: responder.window(),
                    },
                    Err(reason) => Message::Refusal { nic, id, reason },
                })
            }
            Message::Answer {
                nic,
                id,
                address,
                window,
            } => {
                if let Some(requester) = self.requesters.get_mut(&(nic, from.to_owned())) {
                    requester.connect(id, &address, window);
                }
                None
            }
            Message::Refusal { nic, id, reason } => {
                if let Some(requester) = self.requesters.get_mut(&(nic, from.to_owned())) {
                    requester.refused(id, reason);
                }
                None
            }
        }
    }

    /// Makes the end that answers an offer; it replaces an earlier one.
    fn answer(&mut self, from: &str, nic: u16, to: u16, peer: &crate::rc::Address) -> Result<&Responder, String> {
        let options = self.options();
        let end = self.ends.get(usize::from(to)).and_then(Option::as_ref);
        let end = end.ok_or_else(|| format!("{} has no RDMA device for NIC {to}", self.observer))?;
        let key = (from.to_owned(), nic, to);
        self.responders.remove(&key);
        if self.responders.len() >= MAX_RESPONDERS {
            return Err(format!(
                "{} answers {MAX_RESPONDERS} queue pairs already",
                self.observer
            ));
        }
        let responder = Responder::new(&end.device, end.region(), &options, peer);
        let responder = responder.map_err(|error| format!("{}: {error}", self.observer))?;
        Ok(self.responders.entry(key).or_insert(responder))
    }

    fn options(&mut self) -> Options {
        Options {
            first_psn: self.random.u32(..1 << 24),
            retries: 3,
            ..Options::default()
        }
    }

    /// Serves the peers, and measures if the interval has passed. Call it a few times in a second. It blocks while it
    /// measures: about a second for each end that stopped answering.
    pub fn turn(&mut self, now: Instant) -> Turn {
        let mut turn = Turn::default();
        // A requester that ended, or failed: it sends another offer.
        self.responders.retain(|_, responder| responder.serve());
        if now < self.due {
            return turn;
        }
        self.due = now.max(self.due + self.interval);
        let count = self.ends.len();
        let mut offers = VecDeque::new();
        for at in 0..count {
            for peer in self.peers.clone() {
                let is_own = peer == self.observer;
                let to = if is_own { (at + 1) % count } else { at };
                if is_own && to == at {
                    continue;
                }
                if let Some(offer) = self.ask(at, &peer, to, &mut turn) {
                    offers.push_back((peer, offer));
                }
            }
        }
        self.send(offers, &mut turn);
        turn
    }

    /// Measures to a peer that is connected, or returns an offer to it.
    fn ask(&mut self, at: usize, peer: &str, to: usize, turn: &mut Turn) -> Option<Message> {
        let options = self.options();
        let end = self.ends.get(at)?.as_ref()?;
        let key = (at as u16, peer.to_owned());
        let problem = match self.requesters.get_mut(&key) {
            None => None,
            Some(requester) => {
                let measured = requester.measure();
                for (verb, address, latency) in measured {
                    turn.measured.push(Measured {
                        nic: end.nic.name.clone(),
                        device: end.device.name().to_owned(),
                        port: end.device.port(),
                        peer: peer.to_owned(),
                        address,
                        verb,
                        latency,
                    });
                }
                match requester.problem(peer) {
                    None => return None,
                    problem => problem,
                }
            }
        };
        let mut report = |why: String| turn.problems.push((end.nic.name.clone(), peer.to_owned(), why));
        if let Some(why) = problem {
            report(why);
        }
        let id = self.random.u32(..);
        match Requester::new(&end.device, end.region(), &options, id) {
            Ok(requester) => {
                let address = requester.address();
                self.requesters.insert(key, requester);
                Some(Message::Offer {
                    nic: at as u16,
                    to: to as u16,
                    id,
                    address,
                })
            }
            Err(error) => {
                self.requesters.remove(&key);
                report(error.to_string());
                None
            }
        }
    }

    /// Passes messages to this process itself on, and returns those to others.
    fn send(&mut self, mut messages: VecDeque<(String, Message)>, turn: &mut Turn) {
        while let Some((to, message)) = messages.pop_front() {
            if to == self.observer {
                let reply = self.receive(&to, message);
                messages.extend(reply.map(|reply| (to, reply)));
            } else {
                turn.messages.push((to, message));
            }
        }
    }
}
