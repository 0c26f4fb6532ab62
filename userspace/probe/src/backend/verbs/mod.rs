//! UD queue pairs of RDMA devices, as Hostmesh's own agent has them (its section 4).
//!
//! **It has run on no hardware yet**: there was no RDMA device where it was written. What does not take one is
//! tested (`stamp`); the rest is what the manual pages of rdma-core say.
//!
//! A device stamps the completion of a send, which for UD comes when the datagram has left (2), and that of
//! a receive (3). The source port is chosen by the flow label. Paths cannot be traced by a queue pair, for it has
//! no TTL a datagram of which the driver tells the answers: a trace is [`Refusal::Other`] here.
//!
//! | module | what it holds |
//! |---|---|
//! | `device` | one NIC: its context, queues, address handles |
//! | `stamp` | times of completions |

mod device;
mod stamp;

use super::raw::Link;
use super::{Backend, Error, Waited};
use crate::payload::Payload;
use crate::types::{Clock, Event, Kind, Nanos, Nic, NicIndex, Outgoing, Refusal};
use device::{Completion, Device};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

/// The RDMA devices of this host's NICs.
#[derive(Debug)]
pub struct Verbs {
    nics: Vec<Nic>,
    devices: Vec<Device>,
    clock: Clock,
}

impl Verbs {
    /// Opens a queue pair on the RDMA device of each NIC.
    ///
    /// # Errors
    /// A NIC has no RDMA device, or the device refuses.
    pub fn open(links: &[Link]) -> Result<Self, Error> {
        let devices: Vec<Device> = links.iter().map(Device::open).collect::<Result<_, _>>()?;
        // The worst of all holds for all.
        let stampings = devices.iter().map(Device::stamping);
        let worst = stampings.max_by_key(|stamping| stamping.error());
        let worst = worst.unwrap_or(stamp::Stamping::Processor);
        Ok(Self {
            nics: links.iter().map(Link::nic).collect(),
            clock: Clock {
                source: worst.source(),
                error: worst.error(),
                own: worst != stamp::Stamping::Processor,
            },
            devices,
        })
    }

    fn take(&mut self, events: &mut Vec<Event>) -> Result<(), Error> {
        let mut arrivals = Vec::new();
        for (nic, device) in self.devices.iter_mut().enumerate() {
            device.completions(|completion| match completion {
                Completion::Sent { payload, stamp } => events.push(Event::Sent {
                    payload,
                    nic_sent: stamp.unwrap_or_else(now),
                }),
                Completion::Received { payload, stamp } => arrivals.push(Event::Arrived {
                    nic: NicIndex(nic as u16),
                    payload,
                    // A device drops what has a wrong ICRC.
                    intact: true,
                    nic_received: Some(stamp.unwrap_or_else(now)),
                    received: now(),
                }),
                Completion::Stranger => arrivals.push(Event::Stranger),
            })?;
        }
        events.append(&mut arrivals);
        Ok(())
    }
}

fn now() -> Nanos {
    let time = clock_gettime(ClockId::Realtime);
    Nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

impl Backend for Verbs {
    fn nics(&self) -> &[Nic] {
        &self.nics
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn now(&self) -> Nanos {
        now()
    }

    fn send(&mut self, outgoing: &Outgoing) -> Result<(), Refusal> {
        if outgoing.kind != Kind::Probe {
            return Err(Refusal::Other);
        }
        let to = self.devices.get(outgoing.dst.at()).ok_or(Refusal::Other)?;
        let to = (to.gid(), to.queue_pair());
        let device = self
            .devices
            .get_mut(outgoing.src.at())
            .ok_or(Refusal::Other)?;
        device.send(to, outgoing.port, Payload::from(outgoing))
    }

    fn wait(&mut self, until: Nanos, events: &mut Vec<Event>) -> Result<Waited, Error> {
        let left = (until - now()).0.max(0);
        let timeout = Timespec {
            tv_sec: left / 1_000_000_000,
            tv_nsec: left % 1_000_000_000,
        };
        let channels = self.devices.iter().map(Device::channel);
        let mut fds: Vec<PollFd<'_>> = channels
            .map(|channel| PollFd::from_borrowed_fd(channel, PollFlags::IN))
            .collect();
        let woken = match poll(&mut fds, Some(&timeout)) {
            Ok(_) => false,
            Err(Errno::INTR) => true,
            Err(error) => return Err(Error::at("waiting for completions")(error.into())),
        };
        let seen = now();
        self.take(events)?;
        Ok(Waited { seen, woken })
    }
}
