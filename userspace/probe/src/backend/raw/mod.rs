//! Whole Ethernet frames by packet sockets, stamped by the kernel.
//!
//! Between two addresses of one host the kernel would never use the wire, so frames are built whole: to
//! the MAC address of the next hop that the routing table names for the destination *out of this NIC*.
//! The driver stamps a frame as it hands it to the card (2), the network stack as it takes one from it
//! (3), both with the system clock; or the card does both. Packet sockets see frames before any check of source addresses.
//!
//! | module | what it does |
//! |---|---|
//! | `link` | the NICs |
//! | `sender` | sending: all that `pnet` is for |
//! | `socket` | a packet socket that filters and stamps |
//! | `stamping` | who stamps |
//! | `next_hop` | the routing table and the neighbours, over netlink |
//! | `changes` | whether routes or interfaces have changed |
//! | `guard` | keeps the kernel from answering probes |

mod changes;
mod guard;
mod link;
mod next_hop;
mod sender;
mod socket;
mod stamping;

pub use link::{Link, all, find};

use super::system_clock::{self, SystemClock};
use super::{Backend, Error, Waited};
use crate::frame::{self, ReceivedFrame, Way};
use crate::payload::Payload;
use crate::types::{Clock, Event, Nanos, Nic, NicIndex, Outgoing, Refusal};
use changes::Changes;
use guard::Guard;
use next_hop::{NextHops, Resolved};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use sender::Sender;
use socket::{Received, Socket};
use stamping::Stamping;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The next hops of all NICs are looked up again within this time.
const REFRESH: Nanos = Nanos(10_000_000_000);
/// When routes have changed, those of one NIC so soon, and of each other NIC as long after it: all of four in 0.2 s,
/// and where routes never rest the agent spends less than a hundredth of a core on them.
const SOON: Nanos = Nanos(50_000_000);
/// ... and within this while a neighbour has not said where it is.
const RETRY: Nanos = Nanos::SECOND;
/// How often the first look asks whether neighbours have answered, and how often in all: the kernel asks
/// a neighbour three times, once a second.
const FIRST_ANSWER: Duration = Duration::from_millis(20);
const FIRST_LOOKS: usize = 160;
/// A NIC, open.
struct Port {
    link: Link,
    /// Its interface is not there: it can neither send nor be resolved.
    is_gone: bool,
    socket: Socket,
    sender: Sender,
    /// To each NIC: where frames go first.
    hops: Vec<Option<[u8; 6]>>,
}

/// Packet sockets on the NICs of this host.
pub struct Raw {
    nics: Vec<Nic>,
    ports: Vec<Port>,
    udp_dst_port: u16,
    stamping: Stamping,
    clock: Clock,
    system_clock: SystemClock,
    /// What left, where the agent stamps it.
    departed: Vec<Event>,
    next_hops: NextHops,
    routes: Changes,
    interfaces: Changes,
    look: Look,
    guard: Guard,
    /// Tells which sockets have something; the number of a socket is that of its NIC.
    epoll: OwnedFd,
    ready: Vec<epoll::Event>,
    frame: Vec<u8>,
}

/// Looking up next hops again, one NIC after another.
struct Look {
    /// Whose are next.
    nic: usize,
    due: Nanos,
    /// NICs whose routes may have changed since they were looked at.
    stale: usize,
    /// NICs to look at until one round has found no neighbour that is still asked.
    asked: usize,
    /// Interfaces may have changed.
    interfaces: bool,
}

/// What the epoll set calls the sockets that tell of changes; NICs are numbered from 0.
const ROUTES: u64 = u64::MAX;
const INTERFACES: u64 = u64::MAX - 1;

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raw")
            .field("nics", &self.nics)
            .finish_non_exhaustive()
    }
}

impl Raw {
    /// Opens packet sockets on these NICs, which takes `CAP_NET_RAW`; after that, nothing does.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn open(links: Vec<Link>, udp_dst_port: u16) -> Result<Self, Error> {
        let stamping = Stamping::of_all(&links);
        let clock = stamping.clock(&links);
        let count = links.len();
        let open = |link: Link| {
            let socket = Socket::open(udp_dst_port, stamping)?;
            let sender = Sender::new(&link, &socket)?;
            Ok(Port {
                link,
                is_gone: false,
                socket,
                sender,
                hops: vec![None; count],
            })
        };
        let ports = links
            .into_iter()
            .map(open)
            .collect::<Result<Vec<_>, Error>>()?;
        let now = system_clock::now();
        let mut raw = Self {
            nics: ports.iter().map(|port| port.link.nic()).collect(),
            next_hops: NextHops::open(ports.iter().map(|port| &port.link))?,
            ports,
            udp_dst_port,
            stamping,
            clock,
            system_clock: SystemClock::new(),
            departed: Vec::new(),
            routes: Changes::open(changes::ROUTES)?,
            interfaces: Changes::open(changes::INTERFACES)?,
            look: Look {
                nic: 0,
                due: now,
                stale: 0,
                asked: 0,
                interfaces: false,
            },
            guard: Guard::open(udp_dst_port)?,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)
                .map_err(|error| Error::at("epoll")(error.into()))?,
            ready: Vec::with_capacity(count + 2),
            frame: Vec::new(),
        };
        let sockets = (0..).zip(raw.ports.iter().map(|port| port.socket.fd()));
        let told = [(ROUTES, raw.routes.fd()), (INTERFACES, raw.interfaces.fd())];
        for (number, fd) in sockets.chain(told) {
            let number = epoll::EventData::new_u64(number);
            epoll::add(&raw.epoll, fd, number, epoll::EventFlags::IN)
                .map_err(|error| Error::at("epoll")(error.into()))?;
        }
        raw.first_look()?;
        Ok(raw)
    }

    /// Another process takes datagrams of the port: probes reach it too.
    #[must_use]
    pub const fn port_is_taken(&self) -> bool {
        self.guard.is_taken()
    }

    /// NICs without a next hop to another, and the first such other.
    pub fn unreachable(&self) -> impl Iterator<Item = (&Nic, &Nic)> {
        self.ports
            .iter()
            .zip(&self.nics)
            .enumerate()
            .filter_map(|(src, (port, nic))| {
                let mut others = port.hops.iter().zip(&self.nics).enumerate();
                let (_, (_, dst)) = others.find(|(dst, (hop, _))| *dst != src && hop.is_none())?;
                Some((nic, dst))
            })
    }

    /// Looks up all next hops, and gives neighbours time to say where they are.
    fn first_look(&mut self) -> Result<(), Error> {
        for _ in 0..FIRST_LOOKS {
            for nic in 0..self.ports.len() {
                self.look_at(nic)?;
            }
            if self.unreachable().next().is_none() {
                return Ok(());
            }
            std::thread::sleep(FIRST_ANSWER);
        }
        Ok(())
    }

    /// Whether all neighbours have said where they are.
    fn look_at(&mut self, src: usize) -> Result<bool, Error> {
        let mut is_known = true;
        let Some(port) = self.ports.get_mut(src).filter(|port| !port.is_gone) else {
            return Ok(is_known);
        };
        for (dst, (nic, hop)) in self.nics.iter().zip(&mut port.hops).enumerate() {
            if dst == src {
                continue;
            }
            match self.next_hops.resolve(&port.link, src, nic.address)? {
                Resolved::At(mac) => *hop = Some(mac),
                // It was there before: only sending there will tell.
                Resolved::Asked => is_known = false,
                Resolved::NoRoute => *hop = None,
            }
        }
        Ok(is_known)
    }

    /// Looks at the next NIC, where its turn has come.
    fn look_again(&mut self, now: Nanos, events: &mut Vec<Event>) -> Result<(), Error> {
        let told = |number| self.ready.iter().any(|ready| ready.data.u64() == number);
        let interfaces = told(INTERFACES) && self.interfaces.take();
        self.look.interfaces |= interfaces;
        if interfaces || (told(ROUTES) && self.routes.take()) {
            self.look.stale = self.ports.len();
            self.look.due = self.look.due.min(now + SOON);
        }
        if now < self.look.due {
            return Ok(());
        }
        if std::mem::take(&mut self.look.interfaces) {
            self.look_at_interfaces(events);
        }
        let is_known = self.look_at(self.look.nic)?;
        let count = self.ports.len().max(1);
        self.look.nic = (self.look.nic + 1) % count;
        self.look.stale = self.look.stale.saturating_sub(1);
        self.look.asked = match is_known {
            true => self.look.asked.saturating_sub(1),
            false => count,
        };
        let pause = match (self.look.stale, self.look.asked) {
            (0, 0) => Nanos(REFRESH.0 / count as i64),
            (0, _) => Nanos(RETRY.0 / count as i64),
            _ => SOON,
        };
        self.look.due = now + pause;
        Ok(())
    }

    /// Looks which interfaces have gone, come, or changed.
    fn look_at_interfaces(&mut self, events: &mut Vec<Event>) {
        // Where they cannot be listed now, the next change tells.
        let Ok(interfaces) = link::interfaces() else {
            return;
        };
        let nics = self.nics.iter_mut().zip(&mut self.ports);
        for (index, (nic, port)) in nics.enumerate() {
            let number = NicIndex(index as u16);
            match port.link.among(&interfaces) {
                Some(now) if port.is_gone || now.differs(&port.link) => {
                    // Where it goes again meanwhile, the kernel will say so.
                    if self.next_hops.replace(index, &now).is_ok() && port.replace(now).is_ok() {
                        port.is_gone = false;
                        nic.address = port.link.address();
                        events.push(Event::Back {
                            nic: number,
                            address: nic.address,
                        });
                    }
                }
                Some(_) => {}
                None if port.is_gone => {}
                None => {
                    port.is_gone = true;
                    events.push(Event::Gone { nic: number });
                }
            }
        }
    }

    /// Waits until a socket has something to say, at most for `timeout`; whether a signal came.
    fn poll(&mut self, timeout: Nanos) -> Result<bool, Error> {
        let timeout = Timespec {
            tv_sec: timeout.0.max(0) / 1_000_000_000,
            tv_nsec: timeout.0.max(0) % 1_000_000_000,
        };
        self.ready.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.ready), Some(&timeout)) {
            Ok(_) => Ok(false),
            Err(Errno::INTR) => Ok(true),
            Err(error) => Err(Error::at("waiting for frames")(error.into())),
        }
    }

    /// Takes what the sockets have: all departures first.
    fn take(&mut self, events: &mut Vec<Event>) {
        let (udp_dst_port, stamping) = (self.udp_dst_port, self.stamping);
        events.append(&mut self.departed);
        for ready in &mut self.ready {
            let flags = ready.flags;
            let port = self.ports.get_mut(ready.data.u64() as usize);
            if let Some(port) = port.filter(|_| flags.contains(epoll::EventFlags::ERR)) {
                let had = port.socket.departure(|frame, stamps| {
                    let own = frame::own(frame).filter(|(_, port)| *port == udp_dst_port);
                    if let (Some((payload, _)), Some(nic_sent)) = (own, stamping.choose(stamps)) {
                        events.push(Event::Sent { payload, nic_sent });
                    }
                });
                if had {
                    ready.flags = flags.difference(epoll::EventFlags::ERR);
                }
            }
        }
        // An error that was no departure is taken off the socket like a frame.
        let some = self.ready.iter().map(|ready| (ready.flags, ready.data));
        for (_, nic) in some.filter(|(flags, _)| !flags.is_empty()) {
            let nic = nic.u64();
            if let Some(port) = self.ports.get_mut(nic as usize) {
                port.socket.arrivals(|received: &Received<'_>| {
                    let nic = NicIndex(nic as u16);
                    events.extend(event(received, nic, stamping, udp_dst_port));
                });
            }
        }
    }
}

impl Port {
    /// Sends and receives by another interface. The socket is the one that there was: to open another would
    /// take a privilege that was given up.
    fn replace(&mut self, link: Link) -> Result<(), Error> {
        self.sender = Sender::new(&link, &self.socket)?;
        self.link = link;
        self.hops.fill(None);
        Ok(())
    }
}

fn event(
    received: &Received<'_>,
    nic: NicIndex,
    stamping: Stamping,
    udp_dst_port: u16,
) -> Option<Event> {
    let now = system_clock::now();
    Some(match frame::read(received.frame, udp_dst_port) {
        ReceivedFrame::Datagram(payload, intact) => Event::Arrived {
            nic,
            payload,
            intact,
            nic_received: stamping.choose(received.stamps),
            received: now,
        },
        ReceivedFrame::Answer(answer) => Event::Answered {
            answer,
            at: received.stamps.software.unwrap_or(now),
        },
        ReceivedFrame::Unreadable => Event::Unreadable,
        ReceivedFrame::Stranger => Event::Stranger,
        ReceivedFrame::Other => return None,
    })
}

impl Backend for Raw {
    fn nics(&self) -> &[Nic] {
        &self.nics
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn now(&self) -> Nanos {
        system_clock::now()
    }

    fn send(&mut self, outgoing: &Outgoing) -> Result<(), Refusal> {
        let dst = self
            .nics
            .get(outgoing.dst.at())
            .ok_or(Refusal::Other)?
            .address;
        let port = self
            .ports
            .get_mut(outgoing.src.at())
            .ok_or(Refusal::Other)?;
        if port.is_gone {
            return Err(Refusal::Down);
        }
        let hop = port.hops.get(outgoing.dst.at()).copied().flatten();
        let way = Way {
            src_mac: port.link.mac(),
            dst_mac: hop.ok_or(Refusal::Unreachable)?,
            src: port.link.address(),
            dst,
            udp_dst_port: self.udp_dst_port,
        };
        frame::write(&mut self.frame, &way, outgoing);
        let nic_sent = (self.stamping == Stamping::Agent).then(system_clock::now);
        port.sender.send(&self.frame)?;
        self.departed.extend(nic_sent.map(|nic_sent| Event::Sent {
            payload: Payload::from(outgoing),
            nic_sent,
        }));
        Ok(())
    }

    fn dropped(&mut self) -> u64 {
        let sockets = self.ports.iter_mut().map(|port| &mut port.socket);
        sockets.map(socket::Socket::dropped).sum()
    }

    fn wait(&mut self, until: Nanos, events: &mut Vec<Event>) -> Result<Waited, Error> {
        let mut woken = false;
        self.ready.clear();
        // A clock that was set makes nonsense of the time to wait.
        if !self.system_clock.is_set() {
            woken = self.poll(until.min(self.look.due) - system_clock::now())?;
        }
        let seen = system_clock::now();
        if let Some(by) = self.system_clock.step() {
            self.look.due = self.look.due + by;
            events.push(Event::Stepped { by });
        }
        self.take(events);
        self.look_again(seen, events)?;
        Ok(Waited { seen, woken })
    }
}
