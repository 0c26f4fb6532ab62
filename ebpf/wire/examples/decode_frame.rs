//! Decodes one Ethernet frame: an RDMA WRITE of 4 bytes from 10.77.0.1 to 10.77.0.2.
//!
//! `cargo run -p rocescope-wire --example decode_frame`

use rocescope_wire::extension::Reth;
use rocescope_wire::{Bth, Class, FrameLengths, LinkType, Opcode, Psn, Qpn, ROCE_UDP_PORT, decode};
use std::error::Error;
use std::net::Ipv6Addr;

fn main() -> Result<(), Box<dyn Error>> {
    let frame = frame();

    // A capture may keep less of a frame than was on the wire; here both lengths are equal.
    let lengths = FrameLengths::whole(frame.len().try_into()?);
    // Up to four UDP ports carry RoCEv2; 0 marks an unused entry.
    let ports = [ROCE_UDP_PORT, 0, 0, 0];

    // Every frame belongs to exactly one class. No frame is an error, and none panics.
    let packet = match decode(frame.as_slice(), LinkType::Ethernet, lengths, ports) {
        Class::Roce(packet) => packet,
        Class::NotRoce(reason, _) => return Err(format!("not RoCEv2: {}", reason.name()).into()),
        Class::Malformed(reason, _) => return Err(format!("malformed: {}", reason.name()).into()),
        Class::Fragment(_) => return Err("an IP fragment".into()),
        Class::Snapped(_) => return Err("truncated by the capture".into()),
    };

    // IPv4 addresses are stored as IPv4-mapped IPv6 addresses: one key type for both families.
    let address = |bytes| Ipv6Addr::from(bytes).to_canonical();
    println!(
        "{} to {}, UDP source port {}",
        address(packet.flow.src),
        address(packet.flow.dst),
        packet.flow.udp_src_port
    );
    println!("opcode  {}", packet.opcode().name().unwrap_or("unknown"));
    println!("QP      {}", packet.bth.dst_qpn().get());
    println!("PSN     {}", packet.psn().get());
    println!("payload {} bytes", packet.payload_bytes);
    assert_eq!(packet.opcode().name(), Some("RC_RDMA_WRITE_ONLY"));
    assert_eq!(packet.payload_bytes, 4);
    Ok(())
}

/// Ethernet, IPv4 and UDP by hand; BTH and RETH from the library, which also encodes.
fn frame() -> Vec<u8> {
    let bth = Bth::new(Opcode(0x0a), Qpn::new(217), Psn::new(0x00_1234)); // RDMA WRITE Only
    let reth = Reth {
        virtual_address: 0x7f00_0000_1000,
        remote_key: 42,
        dma_length: 4,
    };
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00]; // MAC addresses, IPv4
    frame.extend([0x45, 0, 0, 64, 0, 0, 0x40, 0, 64, 17, 0, 0]); // 64 bytes, TTL 64, UDP
    frame.extend([10, 77, 0, 1, 10, 77, 0, 2]);
    frame.extend([0xc0, 0x00, 0x12, 0xb7, 0, 44, 0, 0]); // port 49152 to 4791, 44 bytes
    frame.extend(bth.write());
    frame.extend(reth.write());
    frame.extend(*b"ping");
    frame.extend([0; 4]); // the ICRC; `decode` does not verify it, feature `icrc` does
    frame
}
