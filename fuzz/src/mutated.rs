//! Files of every input format, damaged as disks, editors and attackers do it: flipped bits, cut ends, missing and repeated
//! parts, parts of other files, numbers at their limits, brackets that open a thousand times.
//!
//! The same number makes the same file, so that a failure has a name.

use rocescope_sketches::random::SplitMix64;
use std::collections::BTreeMap;

/// A target: its name, what runs an input, and how many bytes in front of its files select the reader.
type Target = (&'static str, fn(&[u8]), usize);

/// The targets that take files.
pub const TARGETS: [Target; 4] = [
    ("collective", super::collective::run, 1),
    ("hostping", super::hostping::run, 0),
    ("texts", super::texts::run, 1),
    ("trace", super::trace::run, 0),
];

/// Files grow no longer.
const LONGEST: usize = 256 << 10;
/// Most files are a few kilobytes, and most faults are found there.
const USUAL: usize = 32 << 10;

/// The random numbers of a file.
#[derive(Debug)]
struct Random(SplitMix64);

impl Random {
    /// Below `end`; 0 if that is 0.
    fn below(&mut self, end: usize) -> usize {
        (self.0.bits() % (end as u64).max(1)) as usize
    }
}

/// The files of a target by format: the file names of those whose first byte selects a reader; of topologies of hosts, their
/// kind; of captures, what is before the first hyphen.
#[must_use]
pub fn formats(target: &str, files: Vec<(String, Vec<u8>)>) -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut formats: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for (name, file) in files {
        let has = |part: &[u8]| file.windows(part.len()).any(|window| window == part);
        let format = match target {
            "hostping" if has(b"\n=====\n") => "with measurements",
            "hostping" if has(b"<system") => "XML of NCCL",
            "hostping" if has(b"<topology") => "XML of hwloc",
            "hostping" => "text",
            "trace" => name.split('-').next().unwrap_or(&name),
            _ => &name,
        };
        formats.entry(format.to_owned()).or_default().push(file);
    }
    formats
}

/// The file of this number, of these files of one format; its first `kept` bytes stay.
#[must_use]
pub fn file(files: &[Vec<u8>], kept: usize, number: u64) -> Vec<u8> {
    let mut random = Random(SplitMix64::new(number));
    let mut file = files[random.below(files.len())].clone();
    let front: Vec<u8> = file.drain(..kept.min(file.len())).collect();
    let longest = if random.below(50) == 0 { LONGEST } else { USUAL };
    for _ in 0..=random.below(8) {
        damage(&mut file, files, longest, &mut random);
        file.truncate(longest);
    }
    [front, file].concat()
}

fn damage(file: &mut Vec<u8>, files: &[Vec<u8>], longest: usize, random: &mut Random) {
    /// Most ends of parts are near their start.
    const PART: usize = 64;
    const LIMITS: [u64; 10] = [
        0,
        1,
        0x7f,
        0xff,
        0x7fff,
        0xffff,
        0x7fff_ffff,
        0xffff_ffff,
        i64::MAX as u64,
        u64::MAX,
    ];
    let at = random.below(file.len() + 1);
    let length = match random.below(8) {
        0 => random.below(file.len() + 1),
        _ => random.below(PART),
    };
    let end = (at + length).min(file.len());
    match random.below(10) {
        0 => {
            if let Some(byte) = file.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            if let Some(byte) = file.get_mut(at) {
                *byte = random.0.bits() as u8;
            }
        }
        2 => drop(file.drain(at..end)),
        3 => file.truncate(at),
        4 => {
            // A part again and again.
            let part = file[at..end].to_vec();
            let times = match random.below(16) {
                0 => longest / part.len().max(1),
                _ => random.below(16),
            };
            insert(file, at, &part.repeat(times), longest);
        }
        5 => {
            let other = &files[random.below(files.len())];
            let from = random.below(other.len() + 1);
            insert(file, at, &other[from..(from + length).min(other.len())], longest);
        }
        6 => number(file, at, random),
        7 => {
            // A binary number, at its limits, in either order of bytes.
            let value = LIMITS[random.below(LIMITS.len())];
            let width = 1 << random.below(4);
            let bytes = match random.below(2) {
                0 => value.to_le_bytes()[..width].to_vec(),
                _ => value.to_be_bytes()[8 - width..].to_vec(),
            };
            let end = (at + width).min(file.len());
            file.splice(at..end, bytes);
        }
        8 => {
            const SIGNS: [&[u8]; 12] = [
                b"{",
                b"[",
                b"<a>",
                b"<",
                b"(",
                b"\"",
                b"}",
                b"\n",
                b"\t",
                b"- ",
                b"{\"a\":",
                b"\xf0\x9f\x98\x80",
            ];
            let sign = SIGNS[random.below(SIGNS.len())];
            let times = match random.below(16) {
                0 => longest / sign.len(),
                _ => 1 + random.below(4),
            };
            insert(file, at, &sign.repeat(times), longest);
        }
        _ => {
            // Two parts change places.
            let part: Vec<u8> = file.drain(at..end).collect();
            let to = random.below(file.len() + 1);
            insert(file, to, &part, longest);
        }
    }
}

fn insert(file: &mut Vec<u8>, at: usize, part: &[u8], longest: usize) {
    let room = longest.saturating_sub(file.len());
    file.splice(at..at, part[..part.len().min(room)].iter().copied());
}

/// Replaces the next number in digits.
fn number(file: &mut Vec<u8>, at: usize, random: &mut Random) {
    const NUMBERS: [&str; 12] = [
        "0",
        "-1",
        "65536",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "18446744073709551616",
        "1e308",
        "0x",
        "99999999999999999999999999999999999999999",
        "",
        "NaN",
    ];
    let Some(start) = file[at..].iter().position(u8::is_ascii_digit).map(|digits| at + digits) else {
        return;
    };
    let digits = file[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let other = NUMBERS[random.below(NUMBERS.len())];
    file.splice(start..start + digits, other.bytes());
}
