//! Frames around headers that are written by hand, byte by byte.
#![expect(clippy::unwrap_used, reason = "it is a test")]

/// Bytes from hexadecimal digits, with comments behind `;`.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: String = text
        .lines()
        .filter_map(|line| line.split(';').next())
        .flat_map(str::split_whitespace)
        .collect();
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// Ethernet and IPv6 of this protocol before `payload`: DSCP 4, ECT(1), 16 bits of entropy in the flow label.
pub(crate) fn on_ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = hex("
        02 00 00 00 00 02  02 00 00 00 00 01  86dd  ; Ethernet
        6 11 2beef                                  ; version 6, DSCP 4, ECT(1); flow label: entropy 0xbeef in 16 bits
        0000 00 40                                  ; payload length and protocol (below), hop limit 64
        fd00 0000 0000 0000 0000 0000 0000 0001     ; source
        fd00 0000 0000 0000 0000 0000 0000 0002     ; destination
    ");
    let bytes = (payload.len() as u16).to_be_bytes();
    frame[18..20].copy_from_slice(&bytes);
    frame[20] = protocol;
    frame.extend(payload);
    frame
}

/// The same with UDP from port 0xc0de, 16 more bits of entropy.
pub(crate) fn on_udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let bytes = (8 + payload.len() as u16).to_be_bytes();
    let udp = [&[0xc0, 0xde][..], &port.to_be_bytes(), &bytes, &[0, 0], payload].concat();
    on_ip(17, &udp)
}
