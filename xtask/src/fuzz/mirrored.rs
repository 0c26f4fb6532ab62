//! A frame as a mirror port or an SRv6 fabric delivers it: the captures have none.

/// The frame in every kind of tunnel, without IPv4 checksums, which the decoder does not verify.
pub(super) fn all(frame: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let erspan_2 = [0x10, 0x00, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 0, 0, 7, 0, 0, 0, 0];
    let erspan_3 = [
        0x10, 0x00, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    let mut frames = vec![
        ("gre", gre(&[0, 0, 0x65, 0x58], frame)),
        ("erspan1", gre(&[0, 0, 0x88, 0xbe], frame)),
        ("erspan2", gre(&erspan_2, frame)),
        ("erspan3", gre(&erspan_3, frame)),
        ("vxlan", vxlan(frame)),
    ];
    if frame.get(12..14) == Some(&[0x86, 0xdd]) {
        let inside = &frame[14..];
        let segment_routing = [&[41, 2, 4, 0, 0, 0, 0, 0][..], &[0xfc; 16], inside].concat();
        frames.push(("ipv6", ipv6(41, inside)));
        frames.push(("srv6", ipv6(43, &segment_routing)));
    }
    frames
}

fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (payload.len() as u16).to_be_bytes();
    let ethernet = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd];
    let header = [0x60, 0, 0, 0, high, low, next, 64];
    [&ethernet[..], &header, &[0xfd; 32], payload].concat()
}

fn gre(header: &[u8], frame: &[u8]) -> Vec<u8> {
    ipv4(47, &[header, frame].concat())
}

fn vxlan(frame: &[u8]) -> Vec<u8> {
    let [high, low] = (8 + 8 + frame.len() as u16).to_be_bytes();
    let udp = [0xc0, 0x00, 0x12, 0xb5, high, low, 0, 0];
    let vxlan = [0x08, 0, 0, 0, 0, 0, 42, 0];
    ipv4(17, &[&udp, &vxlan, frame].concat())
}

fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + payload.len() as u16).to_be_bytes();
    let ethernet = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00];
    let header = [
        0x45, 0, high, low, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ];
    [&ethernet, header.as_slice(), payload].concat()
}
