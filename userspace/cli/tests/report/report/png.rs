//! Pixels of a screenshot: PNG (W3C Recommendation, third edition) with 8 bits per sample, not interlaced, which is
//! what Chromium writes.

use flate2::read::ZlibDecoder;
use std::io::Read;

/// The number of pixels of this colour.
pub(crate) fn pixels_of(png: &[u8], colour: [u8; 3]) -> usize {
    let (mut data, mut width, mut samples) = (Vec::new(), 0, 0);
    let mut rest = &png[8..];
    while rest.len() >= 12 {
        let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        let (kind, body) = (&rest[4..8], &rest[8..8 + length]);
        match kind {
            b"IHDR" => {
                width = u32::from_be_bytes(body[..4].try_into().unwrap()) as usize;
                assert_eq!((body[8], body[12]), (8, 0), "bits a sample, interlace");
                samples = if body[9] == 6 { 4 } else { 3 };
            }
            b"IDAT" => data.extend_from_slice(body),
            _ => {}
        }
        rest = &rest[12 + length..];
    }
    let mut lines = Vec::new();
    ZlibDecoder::new(data.as_slice()).read_to_end(&mut lines).unwrap();
    let mut above = vec![0; width * samples];
    let mut found = 0;
    for line in lines.chunks_exact(1 + width * samples) {
        let mut line = line.to_vec();
        let filter = line.remove(0);
        for at in 0..line.len() {
            let left = if at < samples { 0 } else { line[at - samples] };
            let corner = if at < samples { 0 } else { above[at - samples] };
            let guess = match filter {
                0 => 0,
                1 => left,
                2 => above[at],
                3 => ((u16::from(left) + u16::from(above[at])) / 2) as u8,
                4 => paeth(left, above[at], corner),
                other => panic!("filter {other}"),
            };
            line[at] = line[at].wrapping_add(guess);
        }
        found += line.chunks_exact(samples).filter(|pixel| pixel[..3] == colour).count();
        above = line;
    }
    found
}

/// Section 9.4.
fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let estimate = i16::from(left) + i16::from(above) - i16::from(corner);
    let distance = |of: u8| (estimate - i16::from(of)).abs();
    if distance(left) <= distance(above) && distance(left) <= distance(corner) {
        left
    } else if distance(above) <= distance(corner) {
        above
    } else {
        corner
    }
}
