//! `rocescope extract`: the frames that match a filter.

use super::input;
use crate::arguments::ExtractArguments;
use crate::progress::Progress;
use anyhow::{Context, Result};
use rocescope_capture::file::{FrameSource, PcapNgWriter};
use rocescope_engine::document::files::notes;
use rocescope_engine::request::udp_ports;
use rocescope_runtime::Signals;
use rocescope_runtime::status;
use rocescope_wire::{Class, decode};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

/// Frames between two updates of the progress bar and checks of signals.
const STRIDE: u64 = 4_096;

pub(super) fn run(arguments: &ExtractArguments) -> Result<ExitCode> {
    let to = &arguments.write;
    let ports = udp_ports(&arguments.udp_ports)?;
    let signals = Signals::install()?;
    let mut reader = input::open(&arguments.read, &signals)?;
    let progress = Progress::new(reader.length(), arguments.quiet);
    input::ensure_not_written(&reader, Some(to))?;
    let out: Box<dyn Write> = if to == Path::new("-") {
        Box::new(std::io::stdout().lock())
    } else {
        Box::new(File::create(to).with_context(|| format!("cannot write {}", to.display()))?)
    };
    let written = || to.display().to_string();
    let mut writer = PcapNgWriter::new(BufWriter::new(out)).with_context(written)?;

    let (mut frames, mut wanted) = (0, 0);
    // Results from before the input error are still valid.
    let ended = loop {
        if frames % STRIDE == 0 {
            if signals.ended() {
                break Ok(());
            }
            progress.at(reader.consumed_bytes());
        }
        let frame = match reader.next_frame() {
            Ok(Some(frame)) => frame,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        frames += 1;
        let Some(link) = frame.link else { continue };
        let class = decode(frame.bytes, link, frame.lengths, ports);
        if let Class::Roce(packet) = class
            && arguments
                .filter
                .as_ref()
                .is_none_or(|filter| filter.wants_packet(&packet))
        {
            wanted += 1;
            writer.frame(&frame, "").with_context(written)?;
        }
    };
    progress.done();
    writer.finish().with_context(written)?;
    for note in notes(reader.files()) {
        status!("rocescope: {note}");
    }
    status!("wrote {wanted} of {frames} frames to {}", to.display());
    ended?;
    Ok(ExitCode::SUCCESS)
}
