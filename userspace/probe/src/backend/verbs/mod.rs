//! UD queue pairs of RDMA devices, as Hostmesh's own agent has them (its section 4).
//!
//! **Not yet tested on hardware**: no RDMA device was available. The tests run it against a test double of libibverbs
//! that follows its manual pages.
//!
//! All queue pairs are in one process, so each knows the number and the GID of every other. A device stamps the
//! completion of a send, which for UD means that the datagram has left (2), and that of a receive (3). The flow label
//! selects the source port.
//!
//! A queue pair has no TTL per datagram, the driver reports no ICMP answers, and the queue pairs of other hosts are not
//! known. So [`Frames`] send what these would take: packets of traces with the source port of the probes, which those
//! that arrive deliver to the queue pair of the other NIC, and all that goes to other hosts, over a UDP port that RDMA devices
//! leave to the kernel. Without them both are [`Refusal::Remote`].
//!
//! | module | contents |
//! |---|---|
//! | `port` | the device behind a NIC, and its GID |
//! | `device` | one NIC: its queue pair, sends, receives |
//! | `handles` | address handles of the other NICs |
//! | `stamp` | timestamps of completions |
//! | `frames` | what queue pairs cannot send |

mod device;
mod frames;
mod handles;
pub(crate) mod port;
mod stamp;

pub use frames::Frames;

use super::system_clock::{SystemClock, now};
use super::{Backend, Error, Waited};
use crate::types::{Clock, DatagramKind, Event, Nanos, Nic, NicIndex, Outgoing, Refusal};
use device::{COMPLETIONS, Device};
use port::Port;
use rocescope_ibverbs::{Queue, Stamping};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The RDMA devices of this host's NICs.
#[derive(Debug)]
pub struct Verbs {
    nics: Vec<Nic>,
    devices: Vec<Device>,
    clock: Clock,
    system_clock: SystemClock,
    frames: Option<Box<dyn Frames>>,
}

impl Verbs {
    /// Opens a queue pair on the RDMA device of each NIC; each NIC comes with its interface index. This needs
    /// permission to open `/dev/infiniband/uverbs*`, but no capability.
    ///
    /// # Errors
    /// libibverbs does not load, a NIC has no RDMA device, or the device reports an error.
    pub fn open(nics: &[(Nic, u32)]) -> Result<Self, Error> {
        let ports = port::ports(nics)?;
        let queues = queues(&ports)?;
        let stampings = queues.iter().map(Queue::stamping);
        let worst = stampings.max_by_key(|stamping| stamp::error(*stamping));
        let worst = worst.unwrap_or(Stamping::Processor);
        let devices = ports.iter().zip(queues).map(|(port, queue)| Device::open(port, queue));
        Ok(Self {
            devices: devices.collect::<Result<_, _>>()?,
            nics: nics.iter().map(|(nic, _)| nic.clone()).collect(),
            clock: Clock {
                source: stamp::source(worst),
                error: stamp::error(worst),
                own: worst != Stamping::Processor,
            },
            system_clock: SystemClock::new(),
            frames: None,
        })
    }

    /// Sends over these frames what queue pairs cannot. They are of the same NICs, in the same order.
    #[must_use]
    pub fn with_frames(mut self, mut frames: Box<dyn Frames>) -> Self {
        let targets = self.devices.iter().map(Device::target);
        frames.reach(targets.map(|target| target.queue_pair).collect());
        self.frames = Some(frames);
        self
    }

    /// Waits for completions and frames, at most for `timeout`; returns which devices have some, and whether a signal
    /// interrupted it.
    fn poll(&self, timeout: Nanos) -> Result<(Vec<bool>, bool), Error> {
        let timeout = Timespec {
            tv_sec: timeout.0.max(0) / 1_000_000_000,
            tv_nsec: timeout.0.max(0) % 1_000_000_000,
        };
        let channels = self.devices.iter().map(|device| device.queue().channel());
        let mut fds: Vec<PollFd<'_>> = channels
            .chain(self.frames.iter().map(|frames| frames.ready()))
            .map(|channel| PollFd::from_borrowed_fd(channel, PollFlags::IN))
            .collect();
        let woken = match poll(&mut fds, Some(&timeout)) {
            Ok(_) => false,
            Err(Errno::INTR) => true,
            Err(error) => return Err(Error::at("waiting for completions")(error.into())),
        };
        let ready = fds.iter().map(|fd| !woken && !fd.revents().is_empty());
        Ok((ready.collect(), woken))
    }

    /// Reads all ready completions: departures first.
    fn take(&mut self, ready: &[bool], events: &mut Vec<Event>) -> Result<(), Error> {
        let mut arrivals = Vec::new();
        for (nic, (device, is_ready)) in self.devices.iter_mut().zip(ready).enumerate() {
            if *is_ready {
                device.take(NicIndex(nic as u16), events, &mut arrivals)?;
            }
        }
        events.append(&mut arrivals);
        Ok(())
    }
}

/// Creates one queue per port, with timestamps of the devices only if all support them: timestamps of different clocks
/// are not comparable.
fn queues(ports: &[Port]) -> Result<Vec<Queue>, rocescope_ibverbs::Error> {
    let stamped = ports.iter().map(|port| Queue::stamped(port.context, COMPLETIONS));
    let stamped = stamped.collect::<Result<Vec<Option<Queue>>, _>>()?;
    if stamped.iter().all(Option::is_some) {
        return Ok(stamped.into_iter().flatten().collect());
    }
    stamped.into_iter().flatten().try_for_each(Queue::close)?;
    let plain = ports.iter().map(|port| Queue::plain(port.context, COMPLETIONS));
    plain.collect()
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
        if outgoing.kind != DatagramKind::Probe || outgoing.remote.is_some() {
            let frames = self.frames.as_mut().ok_or(Refusal::Remote)?;
            return frames.send(outgoing);
        }
        let to = self.devices.get(outgoing.dst.at()).ok_or(Refusal::Other)?;
        let to = to.target();
        let from = self.devices.get_mut(outgoing.src.at());
        from.ok_or(Refusal::Other)?.send(to, outgoing)
    }

    fn wait(&mut self, until: Nanos, events: &mut Vec<Event>) -> Result<Waited, Error> {
        let mut woken = false;
        // After a clock step the time to wait is meaningless.
        if !self.system_clock.is_set() {
            let due = self.frames.as_ref().map(|frames| frames.next_due());
            woken = self.poll(due.map_or(until, |due| due.min(until)) - now())?.1;
        }
        let seen = now();
        // A signal may have ended the wait, and this process may not have run since: what came until now is there.
        let (ready, again) = self.poll(Nanos(0))?;
        woken |= again;
        if let Some(by) = self.system_clock.step() {
            events.push(Event::Stepped { by });
        }
        self.take(&ready, events)?;
        if let Some(frames) = &mut self.frames {
            let mut of_frames = Vec::new();
            frames.wait(seen, &mut of_frames)?;
            // One clock, whose steps were noticed above.
            of_frames.retain(|event| !matches!(event, Event::Stepped { .. }));
            events.append(&mut of_frames);
        }
        Ok(Waited { seen, woken })
    }

    fn dropped(&mut self) -> u64 {
        self.frames.as_mut().map_or(0, |frames| frames.dropped())
    }
}
