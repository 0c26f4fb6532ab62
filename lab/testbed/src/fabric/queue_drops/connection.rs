//! Reliable connections over raw sockets, as RDMA NICs have them: a sender that repeats everything from a NAK on, and a
//! receiver that acknowledges the last packet of a message and refuses what comes after a gap.
//!
//! Soft-RoCE takes a guest; this takes a thread. Packets have no valid ICRC, as no one verifies it here.

use anyhow::{Context, Result};
use rocescope_capture::inject::pin;
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_ip_tos, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, bind, ipproto, recv, sendto, socket};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

const ROCE_PORT: u16 = 4791;
/// DSCP 26, and ECN-capable.
const TOS: u8 = 26 << 2 | 2;
/// SEND FIRST, MIDDLE and LAST.
const OPCODES: [u8; 3] = [0, 1, 2];
const ACKNOWLEDGE: u8 = 0x11;
/// A message has as many packets.
const MESSAGE: u32 = 8;
const WINDOW: u32 = 32;
const PAYLOAD: usize = 1_024;
const ICRC: [u8; 4] = [0; 4];
const ACK: u8 = 0x1f;
const NAK_SEQUENCE: u8 = 0x60;
/// The queue pair of the sender, above that of the receiver.
const OWN_QPN: u32 = 0x1000;
/// How long a sender waits for an acknowledgement before it repeats everything.
const TIMEOUT: Duration = Duration::from_millis(100);
/// How long it computes after each message.
const COMPUTES: Duration = Duration::from_millis(30);

/// A queue pair that sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    pub(super) src: Ipv4Addr,
    pub(super) dst: Ipv4Addr,
    pub(super) src_port: u16,
    pub(super) dst_qpn: u32,
}

/// What a sender has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    pub(super) packets: u64,
    pub(super) repeated: u64,
}

/// Sends messages until a time.
pub(super) fn request(connection: &Connection, until: Instant) -> Result<Sent> {
    // The kernel may swap packets of a thread that it moves; a NIC does not.
    pin(0)?;
    let socket = open(connection.src, Duration::from_millis(20))?;
    let mut sent = Sent::default();
    // PSNs stay far below 2^24 in the minutes of a run.
    let (mut unacknowledged, mut next, mut highest) = (0, 0, 0);
    let mut heard = Instant::now();
    while Instant::now() < until {
        while next - unacknowledged < WINDOW {
            let is_last = next % MESSAGE == MESSAGE - 1;
            let opcode = match next % MESSAGE {
                0 => OPCODES[0],
                _ if is_last => OPCODES[2],
                _ => OPCODES[1],
            };
            let packet = packet(
                connection.src_port,
                opcode,
                connection.dst_qpn,
                next,
                is_last,
                &[0; PAYLOAD],
            );
            send(&socket, &packet, connection.dst)?;
            sent.packets += 1;
            sent.repeated += u64::from(next < highest);
            next += 1;
            highest = highest.max(next);
        }
        let Some(answer) = receive(&socket)?.filter(|answer| answer.opcode == ACKNOWLEDGE) else {
            if heard.elapsed() > TIMEOUT {
                next = unacknowledged;
                heard = Instant::now();
            }
            continue;
        };
        if answer.qpn != connection.dst_qpn + OWN_QPN {
            continue;
        }
        heard = Instant::now();
        if answer.syndrome == NAK_SEQUENCE {
            unacknowledged = answer.psn;
            next = answer.psn;
        } else {
            unacknowledged = unacknowledged.max(answer.psn + 1);
            next = next.max(unacknowledged);
            std::thread::sleep(COMPUTES);
        }
    }
    Ok(sent)
}

/// Receives on an address until a time.
pub(super) fn respond(address: Ipv4Addr, until: Instant) -> Result<()> {
    struct Receiver {
        expected: u32,
        has_refused: bool,
        messages: u32,
    }
    let socket = open(address, Duration::from_millis(200))?;
    let mut receivers: BTreeMap<(Ipv4Addr, u32), Receiver> = BTreeMap::new();
    while Instant::now() < until {
        let Some(packet) = receive(&socket)?.filter(|packet| OPCODES.contains(&packet.opcode)) else {
            continue;
        };
        let receiver = receivers.entry((packet.src, packet.qpn)).or_insert(Receiver {
            expected: packet.psn,
            has_refused: false,
            messages: 0,
        });
        let is_expected = packet.psn == receiver.expected;
        let is_early = packet.psn > receiver.expected;
        if is_expected {
            receiver.expected += 1;
            receiver.has_refused = false;
            receiver.messages += u32::from(packet.opcode == OPCODES[2]);
        }
        let answer = match (is_early, packet.wants_answer) {
            (true, _) if receiver.has_refused => None,
            (true, _) => Some((NAK_SEQUENCE, receiver.expected)),
            (false, true) => Some((ACK, receiver.expected.saturating_sub(1))),
            (false, false) => None,
        };
        receiver.has_refused |= is_early;
        if let Some((syndrome, psn)) = answer {
            let extension = u32::from(syndrome) << 24 | receiver.messages;
            let source = 50_000 + (packet.qpn & 0xff) as u16;
            let qpn = packet.qpn + OWN_QPN;
            let answer = self::packet(source, ACKNOWLEDGE, qpn, psn, false, &extension.to_be_bytes());
            send(&socket, &answer, packet.src)?;
        }
    }
    Ok(())
}

/// A packet that arrived.
struct Arrived {
    src: Ipv4Addr,
    opcode: u8,
    qpn: u32,
    psn: u32,
    wants_answer: bool,
    /// Of an acknowledgement.
    syndrome: u8,
}

fn open(address: Ipv4Addr, timeout: Duration) -> Result<OwnedFd> {
    let socket = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::UDP)).context("a raw socket")?;
    bind(&socket, &SocketAddrV4::new(address, 0)).with_context(|| address.to_string())?;
    set_ip_tos(&socket, TOS)?;
    set_socket_timeout(&socket, Timeout::Recv, Some(timeout))?;
    Ok(socket)
}

fn send(socket: &OwnedFd, packet: &[u8], to: Ipv4Addr) -> Result<()> {
    sendto(socket, packet, SendFlags::empty(), &SocketAddrV4::new(to, 0)).context("sending")?;
    Ok(())
}

/// UDP header, BTH, what follows, and the place of the ICRC.
fn packet(src_port: u16, opcode: u8, qpn: u32, psn: u32, wants_answer: bool, rest: &[u8]) -> Vec<u8> {
    let bytes = (8 + 12 + rest.len() + ICRC.len()) as u16;
    let mut packet = Vec::with_capacity(usize::from(bytes));
    for word in [src_port, ROCE_PORT, bytes, 0] {
        packet.extend(word.to_be_bytes());
    }
    packet.extend([opcode, 0x40, 0xff, 0xff]);
    packet.extend(qpn.to_be_bytes());
    packet.extend((u32::from(wants_answer) << 31 | psn).to_be_bytes());
    packet.extend(rest);
    packet.extend(ICRC);
    packet
}

/// The next packet; `None` after a while, or if it is not one of these.
fn receive(socket: &OwnedFd) -> Result<Option<Arrived>> {
    let mut frame = [0; 2_048];
    let bytes = match recv(socket, &mut frame, RecvFlags::empty()) {
        Ok((bytes, _)) => bytes,
        Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
        Err(error) => return Err(error).context("receiving"),
    };
    Ok(read(frame.get(..bytes).unwrap_or_default()))
}

/// Reads an IPv4 packet.
fn read(packet: &[u8]) -> Option<Arrived> {
    let word = |bytes: &[u8], at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk::<4>()?));
    let src = Ipv4Addr::from(word(packet, 12)?);
    let udp = packet.get(usize::from(packet.first()? & 15) * 4..)?;
    if word(udp, 0)? & 0xffff != u32::from(ROCE_PORT) {
        return None;
    }
    let bth = udp.get(8..)?;
    let last = word(bth, 8)?;
    Some(Arrived {
        src,
        opcode: *bth.first()?,
        qpn: word(bth, 4)? & 0xff_ffff,
        psn: last & 0xff_ffff,
        wants_answer: last >> 31 == 1,
        syndrome: *bth.get(12)?,
    })
}
