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
        ("vxlan", udp(4789, &[0x08, 0, 0, 0, 0, 0, 42, 0], frame)),
        ("vxlan8472", udp(8472, &[0x08, 0, 0, 0, 0, 0, 42, 0], frame)),
        ("geneve", udp(6081, &[1, 0, 0x65, 0x58, 0, 0, 42, 0, 1, 1, 1, 1], frame)),
        ("spectrum", gre(&[&[0, 0, 0x89, 0x49][..], &[0; 22]].concat(), frame)),
        ("mpls", tagged(&[0x88, 0x47, 0, 1, 0, 9, 0, 2, 1, 9, 0, 0, 0, 0], frame)),
        ("vntag", tagged(&[0x89, 0x26, 0, 1, 0, 2], &frame[12..])),
        ("etag", tagged(&[0x89, 0x3f, 0, 1, 0, 2, 0, 3], &frame[12..])),
        ("metadata", tagged(&[0x89, 0x09, 1, 1, 0, 1, 0, 7], &frame[12..])),
        (
            "arista48",
            tagged(&[0xd2, 0x8b, 0, 1, 1, 0x20, 1, 2, 3, 4, 5, 6], &frame[12..]),
        ),
        (
            "arista64",
            tagged(&[0xd2, 0x8b, 0, 1, 0, 0x10, 1, 2, 3, 4, 5, 6, 7, 8], &frame[12..]),
        ),
    ];
    if frame.get(12..14) == Some(&[0x08, 0x00]) {
        frames.push(("ipip", ipv4(4, &frame[14..])));
        frames.push(("gre_ip", gre(&[0, 0, 0x08, 0x00], &frame[14..])));
    }
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

fn udp(port: u16, header: &[u8], frame: &[u8]) -> Vec<u8> {
    let [high, low] = (8 + header.len() as u16 + frame.len() as u16).to_be_bytes();
    let [p1, p0] = port.to_be_bytes();
    let udp = [0xc0, 0x00, p1, p0, high, low, 0, 0];
    ipv4(17, &[&udp, header, frame].concat())
}

/// A tag, or labels, between the addresses of a frame and what `rest` begins with.
fn tagged(tag: &[u8], rest: &[u8]) -> Vec<u8> {
    [&[2; 12][..], tag, rest].concat()
}

fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + payload.len() as u16).to_be_bytes();
    let ethernet = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00];
    let header = [
        0x45, 0, high, low, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ];
    [&ethernet, header.as_slice(), payload].concat()
}
