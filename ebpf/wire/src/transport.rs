//! UDP, BTH, and the recorded fields of the headers after it.

use crate::bth::Bth;
use crate::class::{Malformed, NotRoce};
use crate::decode::{Inner, Other};
use crate::extension::{Aeth, Deth, Reth, Syndrome};
use crate::ip::{Ip, PROTOCOL_UDP};
use crate::meaning::{Operation, Position, Stream};
use crate::mrc;
use crate::number::Qpn;
use crate::octets::Octets;
use crate::opcode::Opcode;
use crate::packet::{FrameLengths, Packet};
use crate::traffic_class::TrafficClass;
use core::sync::atomic::{Ordering, compiler_fence};

/// Bytes of the invariant CRC after every payload.
pub const ICRC_BYTES: u32 = 4;

/// Bytes of a UDP header.
pub(crate) const UDP_BYTES: u32 = 8;
const BTH_BYTES: u32 = Bth::LEN as u32;

/// Reads UDP and what follows.
///
/// Each field is stored in `packet` as soon as it is read: fields kept longer use the kernel's stack,
/// where every word may cost a speculation barrier.
#[inline(always)]
pub(crate) fn read<O: Octets + ?Sized>(
    frame: &O,
    ports: &[u16; 4],
    packet: &mut Packet,
    inner: &Inner,
) -> Result<(), Other> {
    let Inner {
        frame_at,
        lengths,
        network,
        ip,
        outer,
        ..
    } = inner;
    let wrong = |reason| Err(Other::Malformed(reason));
    if ip.protocol != PROTOCOL_UDP {
        return Err(Other::NotRoce(NotRoce::NotUdp));
    }
    if ip.fragment {
        return Err(Other::Fragment);
    }
    let bth_at = ip.payload_at + UDP_BYTES as usize;
    packet.ttl = outer.ttl;
    packet.traffic_class = TrafficClass::of(outer.traffic_class);
    // A switch may have marked either.
    packet.congestion_experienced = (outer.traffic_class & 3 == 3) | (ip.traffic_class & 3 == 3);
    packet.network_at = network.at;
    packet.bth_at = bth_at;
    let udp_short = || lengths.short(Malformed::UdpShort);
    // In pieces, for the same reason; the second read checks the whole length.
    let [l1, l0, _, _] = frame.read::<4>(ip.payload_at + 4).ok_or_else(udp_short)?;
    let [s1, s0, d1, d0] = frame.read::<4>(ip.payload_at).ok_or_else(udp_short)?;
    if !is_roce_port(u16::from_be_bytes([d1, d0]), ports) {
        return Err(Other::NotRoce(NotRoce::OtherPort));
    }
    let words = packet.flow.words_mut();
    words[5] =
        (u64::from(u16::from_be_bytes([s1, s0])) | u64::from(network.vlan) << 16 | u64::from(network.inner_vlan) << 32)
            .to_le();
    let udp_bytes = u32::from(u16::from_be_bytes([l1, l0]));
    // The end of the IP packet by its header, against the end of the frame.
    let missing = ip.payload_at as u64 + u64::from(udp_bytes) > u64::from(lengths.original);
    // A switch that trims a packet leaves the length of its UDP header, and may leave that of its IP header.
    let is_trimmed = (udp_bytes > ip.payload_bytes || missing && !packet.encapsulation.is_mirror())
        && mrc::is_write_at(frame, bth_at);
    if !is_trimmed {
        if udp_bytes > ip.payload_bytes {
            return wrong(Malformed::UdpLength);
        }
        // A mirror that cuts frames leaves both lengths as they were.
        if missing && !packet.encapsulation.is_mirror() && udp_bytes != ip.payload_bytes {
            return wrong(Malformed::IpLength);
        }
    }
    if udp_bytes < UDP_BYTES + BTH_BYTES + ICRC_BYTES {
        return wrong(Malformed::Bth);
    }
    // Missing only if a capture or a mirror truncated the frame. Stored word by word, so that the kernel
    // needs one register at a time.
    packet.bth.third = frame.be32(bth_at + 8).ok_or(Other::Snapped)?;
    packet.bth.second = frame.be32(bth_at + 4).ok_or(Other::Snapped)?;
    packet.bth.first = frame.be32(bth_at).ok_or(Other::Snapped)?;
    packet.truncated |= missing & !is_trimmed;
    packet.frame_bytes = if packet.encapsulation.is_mirror() || packet.truncated {
        inner_frame_bytes(*lengths, *frame_at, ip)
    } else {
        lengths.original
    };
    packet.meaning = packet.opcode().meaning();
    // Read again: the compiler replaces a question to the table by a range of its index, on which the kernel's verifier
    // then refuses the arithmetic.
    compiler_fence(Ordering::SeqCst);
    let meaning = packet.meaning;
    let timestamp_bytes = mrc::timestamp_bytes(meaning, packet.bth);
    let headers = UDP_BYTES + BTH_BYTES + u32::from(meaning.extension_bytes) + timestamp_bytes;
    let trailer = u32::from(packet.bth.pad_bytes()) + ICRC_BYTES;
    if udp_bytes < headers + trailer {
        return wrong(Malformed::Extension);
    }
    packet.payload_bytes = udp_bytes - headers - trailer;
    let [a, b, c, d] = network
        .address_words(frame)
        .ok_or_else(|| lengths.short(Malformed::IpShort))?;
    let dst_qpn = packet.bth.dst_qpn().get();
    let words = packet.flow.words_mut();
    words[0] = a.to_le();
    words[1] = b.to_le();
    words[2] = c.to_le();
    words[3] = d.to_le();
    words[4] = (u64::from(inner.vni) | u64::from(dst_qpn) << 32).to_le();
    let captured = extension::<true, O>(frame, bth_at + Bth::LEN, packet);
    packet.snapped = captured.is_none() && !is_trimmed || lengths.captured < lengths.original;
    if is_trimmed {
        packet.meaning.stream = Stream::Trimmed;
        packet.payload_bytes = 0;
    }
    Ok(())
}

#[inline(always)]
pub(crate) const fn is_roce_port(port: u16, ports: &[u16; 4]) -> bool {
    let [a, b, c, d] = *ports;
    // Nearly always the first.
    if port == a {
        return port != 0;
    }
    port != 0 && (port == b || port == c || port == d)
}

/// Length on the wire of a frame that a mirror has copied. If it was truncated, its IP header has the true length.
#[inline(always)]
pub(crate) fn inner_frame_bytes(lengths: FrameLengths, frame_at: usize, ip: &Ip) -> u32 {
    let header_bytes = ip.payload_at.saturating_sub(frame_at) as u32;
    let left = lengths.original.saturating_sub(frame_at as u32);
    left.max(header_bytes.saturating_add(ip.payload_bytes))
}

/// The syndrome of an AETH that was not captured: it must not count as an acknowledgement.
const RESERVED_SYNDROME: Syndrome = Syndrome(0xff);

/// Whether a header precedes the extension headers that a record keeps: the XRCETH of XRC requests, the
/// FETH of a FLUSH, those of MRC.
#[inline(always)]
pub(crate) fn has_shifted_extension(opcode: Opcode) -> bool {
    matches!(opcode.0 >> 5, 5 | 6) || opcode.operation() == Operation::Flush
}

/// Reads the header at `at` into `packet`; `None` if it was not captured. `SHIFTED`: the opcode may be one of
/// [`has_shifted_extension`].
#[inline(always)]
pub(crate) fn extension<const SHIFTED: bool, O: Octets + ?Sized>(
    frame: &O,
    at: usize,
    packet: &mut Packet,
) -> Option<()> {
    packet.src_qpn = Qpn::new(0);
    packet.msn_or_dma_length = 0;
    packet.syndrome = RESERVED_SYNDROME;
    if SHIFTED && packet.opcode().0 >> 5 == 6 {
        return mrc::extension(frame, at, packet);
    }
    let meaning = packet.meaning;
    let shift = if SHIFTED && packet.opcode().0 >> 5 == 5 { 4 } else { 0 };
    match (meaning.operation, meaning.position()) {
        (Operation::Send, _) if meaning.stream == Stream::Datagram => {
            let deth = Deth::read(frame.read::<{ Deth::LEN }>(at)?);
            packet.src_qpn = deth.src_qpn;
        }
        (Operation::Acknowledge | Operation::AtomicAcknowledge, _)
        | (Operation::RdmaReadResponse, Position::First | Position::Last | Position::Only) => {
            let aeth = Aeth::read(frame.read::<{ Aeth::LEN }>(at)?);
            packet.msn_or_dma_length = aeth.msn;
            packet.syndrome = aeth.syndrome;
            return Some(());
        }
        (Operation::RdmaWrite, Position::First | Position::Only)
        | (Operation::RdmaReadRequest | Operation::AtomicWrite, _) => {
            let reth = Reth::read(frame.read::<{ Reth::LEN }>(at + shift)?);
            packet.msn_or_dma_length = reth.dma_length;
        }
        (Operation::Flush, _) if SHIFTED => {
            let reth = Reth::read(frame.read::<{ Reth::LEN }>(at + shift + 4)?);
            packet.msn_or_dma_length = reth.dma_length;
        }
        _ => {}
    }
    packet.syndrome = Syndrome(0);
    Some(())
}
