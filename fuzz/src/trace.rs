//! Reads a capture file, plain or compressed, and passes its frames through windows and connections, as `capture -r` does.

use super::connections::Intake;
use rocescope_capture::file::{FrameReader, Input};
use rocescope_pipeline::Settings;
use rocescope_record::Config;
use std::io::{Cursor, Read as _};

/// A limit, because a few kilobytes of gzip may expand to gigabytes.
const MAX_BYTES: u64 = 4 << 20;

/// Input: the file.
pub fn run(input: &[u8]) {
    let Ok(input) = Input::new(Box::new(Cursor::new(input.to_vec()))) else {
        return;
    };
    let Ok(mut reader) = FrameReader::new(input.take(MAX_BYTES)) else {
        return;
    };
    let settings = Settings {
        sketches: false,
        // Otherwise the tables of each run would take longer than its frames.
        exact_flows: 1_024,
        ..Settings::default()
    };
    let Some(mut intake) = Intake::new(Config::exact(settings.window_ns), 16, settings) else {
        return;
    };
    // An error ends the file; what was before it counts.
    while let Ok(Some(frame)) = reader.next_frame() {
        if let Some(link) = frame.link {
            intake.frame(frame.bytes, link, frame.lengths, frame.interface, frame.time_ns);
        }
    }
    intake.finish();
}
