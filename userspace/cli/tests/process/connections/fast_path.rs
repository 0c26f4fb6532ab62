//! In-order runs take a fast path through the state of a connection. It must not change any result.

use super::collection;
use super::generated::scenario;
use rocescope_capture::file::{FrameReader, open};
use rocescope_engine::session::Session;
use rocescope_generate as generate;
use rocescope_model::{ConnectionRow, EventRow};
use rocescope_pipeline::Settings;
use rocescope_record::Config;
use std::io::Read;
use std::path::Path;

fn follow(capture: impl Read, fast_path: bool) -> (Vec<ConnectionRow>, Vec<EventRow>) {
    let mut settings = Settings {
        sketches: false,
        ..Settings::default()
    };
    settings.connections.as_mut().unwrap().fast_path = fast_path;
    let config = Config::exact(settings.window_ns);
    let mut session = Session::new(settings, config, None).unwrap();
    session.keep_connections();
    let mut reader = FrameReader::new(capture).unwrap();
    while let Some(frame) = reader.next_frame().unwrap() {
        session.frame(&frame).unwrap();
    }
    let kept = session.finish().unwrap().kept.unwrap();
    (kept.connections, kept.events)
}

fn compare<R: Read>(name: &str, capture: impl Fn() -> R) {
    let (rows, events) = follow(capture(), true);
    let (full_rows, full_events) = follow(capture(), false);
    assert!(!rows.is_empty(), "{name}: no connection");
    assert_eq!(rows.len(), full_rows.len(), "{name}");
    for (fast, full) in rows.iter().zip(&full_rows) {
        assert_eq!(fast, full, "{name}");
    }
    assert_eq!(events, full_events, "{name}");
}

#[test]
fn generated_traffic_gives_the_same_rows_on_both_paths() {
    let names = [
        "loss",
        "reorder",
        "mirror-loss",
        "first-psn-zero",
        "incast-ecn",
        "round-trips",
    ];
    for name in names {
        for seed in 1..=8 {
            let mut capture = Vec::new();
            generate::write(&scenario(name), seed, &mut capture).unwrap();
            compare(&format!("{name}, seed {seed}"), || &capture[..]);
        }
    }
}

fn compare_all(folder: &Path) -> usize {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let captures = files
        .map(|file| file.path())
        .filter(|path| path.to_string_lossy().contains(".pcap"));
    let mut compared = 0;
    for path in captures {
        compare(&path.display().to_string(), || open(&path).unwrap());
        compared += 1;
    }
    compared
}

#[test]
fn recorded_traffic_gives_the_same_rows_on_both_paths() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    assert!(compare_all(&kept) > 15);
    if let Some(collection) = collection() {
        assert!(compare_all(&collection) > 30);
    }
}
