//! Frames of transports that no capture has: MRC and UET.

/// Frames, by name.
pub(super) fn all() -> Vec<(String, Vec<u8>)> {
    let writes_and_answers =
        (0xc6..=0xdeu8).map(|opcode| (format!("mrc-{opcode:02x}"), on_udp(4791, &mrc(opcode, 0x30))));
    let marked = on_udp(4791, &mrc(0xc7, 0x00));
    let trimmed = on_udp(4791, &mrc(0xc7, 0x20)).into_iter().take(110).collect();
    let uet = (1..15u8).flat_map(|kind| {
        // Type 5, next header 4, flags 7; a trimmed packet's code; PSN; both PDCs; a semantic header.
        let pds = [
            &[kind << 3 | 1, 0xb0, 1, 0, 0, 0, 0, 9, 0, 7, 0, 9, 5, 3, 0, 1][..],
            &[0; 40],
        ]
        .concat();
        let on_ip = frame(253, &[&[0xbe, 0xef, 0, 0][..], &pds].concat());
        [
            (format!("uet-udp-{kind}"), on_udp(4793, &pds)),
            (format!("uet-ip-{kind}"), on_ip),
        ]
    });
    let others = [("mrc-plain".to_owned(), marked), ("mrc-trimmed".to_owned(), trimmed)];
    writes_and_answers.chain(others).chain(uet).collect()
}

/// A BTH with these flags, and bytes for the headers after it.
fn mrc(opcode: u8, flags: u8) -> Vec<u8> {
    let bth = [opcode, 0, 0xff, 0xff, 0, 0, 1, 0x2a, flags, 0, 0, 10];
    [&bth[..], &[0, 0, 1, 7], &[0; 80]].concat()
}

fn on_udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let ([p1, p0], [l1, l0]) = (port.to_be_bytes(), (8 + payload.len() as u16).to_be_bytes());
    frame(17, &[&[0xc0, 0xde, p1, p0, l1, l0, 0, 0][..], payload].concat())
}

/// Ethernet and IPv6.
fn frame(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (payload.len() as u16).to_be_bytes();
    let ethernet = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd];
    let header = [0x61, 0x12, 0xbe, 0xef, high, low, protocol, 64];
    [&ethernet[..], &header, &[0xfd; 32], payload].concat()
}
