use crate::{InputError, open, text};
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

const TEXT: &str = "rail0 rail1\n";
/// Of `xz -9`.
const XZ: &[u8] = &[
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x1c, 0x00, 0x00,
    0x00, 0x10, 0xcf, 0x58, 0xcc, 0x01, 0x00, 0x0b, 0x72, 0x61, 0x69, 0x6c, 0x30, 0x20, 0x72, 0x61, 0x69, 0x6c, 0x31,
    0x0a, 0x00, 0xc4, 0x3c, 0xdd, 0x41, 0xa6, 0x67, 0xe5, 0x34, 0x00, 0x01, 0x24, 0x0c, 0xa6, 0x18, 0xd8, 0xd8, 0x1f,
    0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
];
/// The same with a dictionary of 1 GiB.
const XZ_OF_MUCH_MEMORY: &[u8] = &[
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x24, 0x00, 0x00,
    0x00, 0x5e, 0x1f, 0xc7, 0xf9, 0x01, 0x00, 0x0b, 0x72, 0x61, 0x69, 0x6c, 0x30, 0x20, 0x72, 0x61, 0x69, 0x6c, 0x31,
    0x0a, 0x00, 0xc4, 0x3c, 0xdd, 0x41, 0xa6, 0x67, 0xe5, 0x34, 0x00, 0x01, 0x24, 0x0c, 0xa6, 0x18, 0xd8, 0xd8, 0x1f,
    0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
];

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(text: &str) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn lz4(text: &str) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
}

fn all(encode: fn(&str) -> Vec<u8>) -> Vec<u8> {
    let (first, rest) = TEXT.split_at(5);
    [encode(first), encode(rest)].concat()
}

fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("any.name");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn each_compression_is_recognized_by_its_first_bytes_also_in_parts() {
    let skipped = [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 0xaa, 0xaa];
    for (name, bytes) in [
        ("plain", TEXT.into()),
        ("gzip", all(gzip)),
        ("zstd", [&skipped[..], &all(zstd)].concat()),
        ("bzip2", all(bzip2)),
        ("lz4", all(lz4)),
        ("xz", XZ.to_vec()),
    ] {
        let (_folder, path) = file(&bytes);
        assert_eq!(text(&path).unwrap(), TEXT, "{name}");
        assert_eq!(open(&path).unwrap().length.is_some(), name == "plain");
    }
    let (_folder, twice) = file(&[XZ, XZ].concat());
    assert_eq!(text(&twice).unwrap(), TEXT.repeat(2));
}

#[test]
fn what_ends_early_or_is_damaged_is_an_error() {
    for (name, bytes) in [
        ("gzip", gzip(TEXT)),
        ("zstd", zstd(TEXT)),
        ("bzip2", bzip2(TEXT)),
        ("lz4", lz4(TEXT)),
        ("xz", XZ.to_vec()),
    ] {
        // From where the compression is recognized.
        for length in 6..bytes.len() {
            let (_folder, path) = file(&bytes[..length]);
            let error = text(&path).expect_err(name).to_string();
            let expected = "the compressed data is damaged or ends early";
            assert!(error.starts_with(expected), "{name}, {length}: {error}");
        }
    }
}

#[test]
fn a_file_cannot_ask_for_any_memory() {
    let (_folder, path) = file(XZ_OF_MUCH_MEMORY);
    let error = text(&path).unwrap_err().to_string();
    assert!(error.contains("memory"), "{error}");
}

#[test]
fn text_is_text_whatever_its_bytes() {
    let (_folder, path) = file(b"\xef\xbb\xbfr\xe4il\n");
    assert_eq!(text(&path).unwrap(), "r\u{fffd}il\n");
    let (_folder, path) = file(b"");
    assert_eq!(text(&path).unwrap(), "");
    assert!(matches!(open(&path), Err(InputError::Empty)));
    for short in [&b"a"[..], b"BZh", b"\x1f\x8b"] {
        let (_folder, path) = file(short);
        let mut bytes = Vec::new();
        let read = open(&path).unwrap().read_to_end(&mut bytes);
        assert!(short[0] != b'a' || (read.is_ok() && bytes == short));
    }
}

#[test]
fn what_is_no_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(open(folder.path()), Err(InputError::Io(_))));
    assert!(matches!(open(&folder.path().join("none")), Err(InputError::Io(_))));
}
