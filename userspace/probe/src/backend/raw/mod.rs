//! Ethernet frames over packet sockets, stamped by the kernel or the NIC.
//!
//! Between two addresses of one host the kernel would never use the wire, so this backend builds complete frames, to
//! the MAC address of the next hop that the routing table names for the destination *out of this NIC*. The driver
//! stamps a frame when it passes it to the NIC (2), the network stack when it receives one (3), both with the system
//! clock; or the NIC stamps both. Packet sockets receive frames before any check of source addresses.
//!
//! | module | what it does |
//! |---|---|
//! | `link` | the NICs |
//! | `select` | which NICs are probed if none are named |
//! | `sender` | sends frames with `pnet` |
//! | `socket` | a packet socket that filters and stamps |
//! | `stamping` | which clock stamps |
//! | `hop` | what is known about a next hop |
//! | `next_hop` | the routing table and the neighbours, over netlink |
//! | `resolving` | when next hops and interfaces are looked up again |
//! | `changes` | whether routes or interfaces have changed |
//! | `guard` | keeps the kernel from answering probes |

mod changes;
mod guard;
mod hop;
mod link;
mod next_hop;
mod resolving;
mod select;
mod sender;
mod socket;
mod stamping;

pub use link::{Link, find};
pub use select::{Selection, all};

use super::system_clock::{self, SystemClock};
use super::verbs::Frames;
use super::{Backend, Error, Waited};
use crate::frame::{self, FrameAddresses, ReceivedFrame};
use crate::payload::Payload;
use crate::types::{Clock, Event, Nanos, Nic, NicIndex, Outgoing, Refusal};
use guard::Guard;
use hop::Hop;
use next_hop::NextHops;
use rocescope_host::netlink::Notifications;
use rocescope_wire::ROCE_UDP_PORT;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use sender::Sender;
use socket::{Received, Socket};
use stamping::Stamping;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The next hops of all NICs are resolved again within this time.
const REFRESH: Nanos = Nanos(10_000_000_000);
/// Next hops to other hosts that are remembered.
const MAX_REMOTES: usize = 1024;

/// An open NIC.
struct Port {
    link: Link,
    /// Its interface is missing: it can neither send nor be resolved.
    is_gone: bool,
    socket: Socket,
    sender: Sender,
    /// The next hop to each NIC.
    hops: Vec<Hop>,
}

/// Packet sockets on the NICs of this host.
pub struct Raw {
    nics: Vec<Nic>,
    ports: Vec<Port>,
    udp_dst_port: u16,
    stamping: Stamping,
    clock: Clock,
    system_clock: SystemClock,
    /// Departures that the agent stamps itself.
    departed: Vec<Event>,
    next_hops: NextHops,
    /// The next hops from a NIC to other hosts, and when each was looked up.
    remotes: BTreeMap<(usize, IpAddr), (Hop, Nanos)>,
    routes: Notifications,
    interfaces: Notifications,
    refresh: Refresh,
    guard: Guard,
    /// The sockets that are ready; the number of a socket is that of its NIC.
    epoll: OwnedFd,
    ready: Vec<epoll::Event>,
    frame: Vec<u8>,
    /// The queue pairs of the NICs, where frames between them go to these.
    queue_pairs: Option<Vec<u32>>,
}

/// The state of repeated resolution of next hops, one NIC after another.
struct Refresh {
    /// The next NIC.
    nic: usize,
    due: Nanos,
    /// NICs whose routes may have changed since they were last resolved.
    stale: usize,
    /// NICs left to resolve until a round finds no neighbour without an answer.
    asked: usize,
    /// Interfaces may have changed.
    interfaces: bool,
}

/// The numbers of the sockets that report changes in the epoll set; NICs are numbered from 0.
const ROUTES: u64 = u64::MAX;
const INTERFACES: u64 = u64::MAX - 1;

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raw").field("nics", &self.nics).finish_non_exhaustive()
    }
}

impl Raw {
    /// Opens packet sockets on these NICs. This needs `CAP_NET_RAW`; no later call does.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn open(links: Vec<Link>, udp_dst_port: u16) -> Result<Self, Error> {
        let stamping = Stamping::for_all(&links);
        let clock = stamping.clock();
        let count = links.len();
        let open = |link: Link| {
            let socket = Socket::open(udp_dst_port, stamping)?;
            let sender = Sender::new(&link, &socket)?;
            Ok(Port {
                link,
                is_gone: false,
                socket,
                sender,
                hops: vec![Hop::Unknown; count],
            })
        };
        let ports = links.into_iter().map(open).collect::<Result<Vec<_>, Error>>()?;
        let now = system_clock::now();
        let mut raw = Self {
            nics: ports.iter().map(|port| port.link.nic()).collect(),
            next_hops: NextHops::open(ports.iter().map(|port| &port.link))?,
            ports,
            remotes: BTreeMap::new(),
            udp_dst_port,
            stamping,
            clock,
            system_clock: SystemClock::new(),
            departed: Vec::new(),
            routes: changes::subscribe(changes::ROUTES)?,
            interfaces: changes::subscribe(changes::INTERFACES)?,
            refresh: Refresh {
                nic: 0,
                due: now,
                stale: 0,
                asked: 0,
                interfaces: false,
            },
            guard: Guard::open(udp_dst_port)?,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|error| Error::at("epoll")(error.into()))?,
            ready: Vec::with_capacity(count + 2),
            frame: Vec::new(),
            queue_pairs: None,
        };
        let sockets = (0..).zip(raw.ports.iter().map(|port| port.socket.fd()));
        let changes = [(ROUTES, raw.routes.as_fd()), (INTERFACES, raw.interfaces.as_fd())];
        for (number, fd) in sockets.chain(changes) {
            let number = epoll::EventData::new_u64(number);
            epoll::add(&raw.epoll, fd, number, epoll::EventFlags::IN)
                .map_err(|error| Error::at("epoll")(error.into()))?;
        }
        raw.resolve_all()?;
        Ok(raw)
    }

    /// Whether another process is bound to the port: it receives the probes too.
    #[must_use]
    pub const fn port_is_taken(&self) -> bool {
        self.guard.is_taken()
    }

    /// NICs without a next hop to another NIC, and the first such NIC.
    pub fn unreachable(&self) -> impl Iterator<Item = (&Nic, &Nic)> {
        self.ports
            .iter()
            .zip(&self.nics)
            .enumerate()
            .filter_map(|(src, (port, nic))| {
                let mut others = port.hops.iter().zip(&self.nics).enumerate();
                let (_, (_, dst)) = others.find(|(dst, (hop, _))| *dst != src && hop.mac().is_err())?;
                Some((nic, dst))
            })
    }

    /// Sends a datagram to another host. Its next hop is looked up when it is first needed, and again after a while.
    fn send_to(&mut self, remote: IpAddr, outgoing: &Outgoing) -> Result<(), Refusal> {
        let src = outgoing.src.at();
        let port = self.ports.get(src).filter(|port| !port.is_gone).ok_or(Refusal::Down)?;
        if self.remotes.len() >= MAX_REMOTES {
            self.remotes.clear();
        }
        let now = system_clock::now();
        let (hop, at) = self
            .remotes
            .entry((src, remote))
            .or_insert((Hop::Unknown, Nanos(i64::MIN)));
        let lasts = match hop {
            Hop::At(_) => REFRESH,
            _ => Nanos(0),
        };
        if now - *at > lasts || now < *at {
            let found = self
                .next_hops
                .resolve(&port.link, src, remote)
                .map_err(|_| Refusal::Other)?;
            (*hop, *at) = (hop.after(found, now), now);
        }
        let hop = hop.mac()?;
        self.send_by(hop, remote, outgoing)
    }

    /// Sends a datagram to an address by a next hop.
    fn send_by(&mut self, dst_mac: [u8; 6], dst: IpAddr, outgoing: &Outgoing) -> Result<(), Refusal> {
        let port = self.ports.get_mut(outgoing.src.at()).ok_or(Refusal::Other)?;
        // RDMA devices take their own port for themselves: only queue pairs receive there.
        let of_device = self.queue_pairs.as_ref().filter(|_| outgoing.remote.is_none());
        let qpn = |nic: NicIndex| {
            let qpn = of_device.and_then(|queue_pairs| queue_pairs.get(nic.at()));
            qpn.copied().unwrap_or_else(|| frame::made_up_qpn(nic))
        };
        let addresses = FrameAddresses {
            src_mac: port.link.mac(),
            dst_mac,
            src: port.link.address(),
            dst,
            udp_dst_port: of_device.map_or(self.udp_dst_port, |_| ROCE_UDP_PORT),
            src_qpn: qpn(outgoing.src),
            dst_qpn: qpn(outgoing.dst),
        };
        frame::write(&mut self.frame, &addresses, outgoing);
        let nic_sent = (self.stamping == Stamping::Agent).then(system_clock::now);
        port.sender.send(&self.frame)?;
        self.departed.extend(nic_sent.map(|nic_sent| Event::Sent {
            payload: Payload::from(outgoing),
            nic_sent,
        }));
        Ok(())
    }

    /// Waits until a socket is ready, at most for `timeout`; returns whether a signal interrupted it.
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

    /// Reads the sockets: all departures first.
    fn ingest(&mut self, events: &mut Vec<Event>) {
        let (udp_dst_port, stamping) = (self.udp_dst_port, self.stamping);
        events.append(&mut self.departed);
        for ready in &mut self.ready {
            let flags = ready.flags;
            let port = self.ports.get_mut(ready.data.u64() as usize);
            if let Some(port) = port.filter(|_| flags.contains(epoll::EventFlags::ERR)) {
                let had = port.socket.departures(|frame, stamps| {
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
        // An error that is not a departure is read from the socket like a frame.
        let some = self.ready.iter().map(|ready| (ready.flags, ready.data));
        for (_, nic) in some.filter(|(flags, _)| !flags.is_empty()) {
            let nic = nic.u64();
            if let Some(port) = self.ports.get_mut(nic as usize) {
                let own = port.link.address();
                port.socket.arrivals(|received: &Received<'_>| {
                    let nic = NicIndex(nic as u16);
                    events.extend(event(received, (nic, own), stamping, udp_dst_port));
                });
            }
        }
    }
}

impl Port {
    /// Sends and receives over another interface. It keeps the socket: a new one would need the privilege that the
    /// process has dropped.
    fn replace(&mut self, link: Link) -> Result<(), Error> {
        self.sender = Sender::new(&link, &self.socket)?;
        self.link = link;
        self.hops.fill(Hop::Unknown);
        Ok(())
    }
}

impl Frames for Raw {
    fn ready(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    fn next_due(&self) -> Nanos {
        self.refresh.due
    }

    fn reach(&mut self, queue_pairs: Vec<u32>) {
        self.queue_pairs = Some(queue_pairs);
    }
}

fn event(
    received: &Received<'_>,
    (nic, own): (NicIndex, IpAddr),
    stamping: Stamping,
    udp_dst_port: u16,
) -> Option<Event> {
    let now = system_clock::now();
    Some(match frame::read(received.frame, udp_dst_port) {
        // A switch that floods brings what is for other hosts, which answer themselves.
        ReceivedFrame::Datagram(payload, _, Some((_, to))) if payload.kind.is_answered() && to != own => {
            return None;
        }
        ReceivedFrame::Datagram(payload, intact, ends) => Event::Arrived {
            nic,
            payload,
            from: ends.map(|(from, _)| from),
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
        if let Some(remote) = outgoing.remote {
            return self.send_to(remote, outgoing);
        }
        let dst = self.nics.get(outgoing.dst.at()).ok_or(Refusal::Other)?.address;
        let port = self.ports.get(outgoing.src.at()).ok_or(Refusal::Other)?;
        if port.is_gone {
            return Err(Refusal::Down);
        }
        let hop = port.hops.get(outgoing.dst.at()).ok_or(Refusal::Other)?.mac()?;
        self.send_by(hop, dst, outgoing)
    }

    fn dropped(&mut self) -> u64 {
        let sockets = self.ports.iter_mut().map(|port| &mut port.socket);
        sockets.map(socket::Socket::dropped).sum()
    }

    fn wait(&mut self, until: Nanos, events: &mut Vec<Event>) -> Result<Waited, Error> {
        let mut woken = false;
        self.ready.clear();
        // After a clock step the time to wait is meaningless.
        if !self.system_clock.is_set() {
            woken = self.poll(until.min(self.refresh.due) - system_clock::now())?;
        }
        let seen = system_clock::now();
        // A signal may have ended the wait, and this process may not have run since: what came until now is there.
        woken |= self.poll(Nanos(0))?;
        if let Some(by) = self.system_clock.step() {
            self.refresh.due = self.refresh.due + by;
            events.push(Event::Stepped { by });
        }
        self.ingest(events);
        self.resolve_next(seen, events)?;
        Ok(Waited { seen, woken })
    }
}
