//! `rocescope capture`: frames in, sketches and a dataset out.

use crate::arguments::{CaptureArguments, DatasetArguments, MeasureArguments, Output};
use crate::dataset::{Dataset, Retention};
use crate::intake::{Outcome, Outlet};
use crate::output::{Source, json, text};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::session::Session;
use crate::signals::Signals;
use anyhow::{Context, Result, bail, ensure};
use rocescope_capture::file::{self, FileError, FrameReader, Input};
use rocescope_model::footer;
use rocescope_pipeline::Settings;
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_pipeline::filter::RunFilter;
use rocescope_pipeline::flow_table::FLOW_HASH_SEED;
use rocescope_pipeline::overflow::{COUNT_MIN_DEPTH, COUNT_MIN_WIDTH};
use rocescope_pipeline::settings::Jitter;
use rocescope_record::{Config, PacketFilter};
use rocescope_store::{Options, Writer};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

/// Frames between two looks at the progress bar and at the signals: about a millisecond.
const STRIDE: u32 = 4_096;

pub(super) fn run(arguments: &CaptureArguments) -> Result<ExitCode> {
    let Some(path) = &arguments.read else {
        return super::live::run(arguments);
    };
    let signals = Signals::install()?;
    let input = open(path, &signals).with_context(|| path.display().to_string())?;
    let length = input.length;
    let mut reader = FrameReader::new(input).with_context(|| path.display().to_string())?;
    let settings = chosen(arguments);
    let config = config(arguments, &settings)?;
    let recorder = Recorder::create(arguments, Vec::new())?;
    let dataset = dataset(&arguments.dataset, &Origin::file(path), &settings)?;
    let outlet = Outlet::from(dataset).with_recorder(recorder);
    let mut session = Session::new(settings, config, outlet)?;
    let progress = Progress::new(length, arguments.quiet);
    let ended = drive(&mut reader, &mut session, &progress, &signals);
    progress.done();
    // What was counted before the input broke is worth as much as ever.
    let input_error = match ended {
        Ok(()) => None,
        Err(error) => match error.downcast::<FileError>() {
            Ok(error) => Some(error),
            Err(error) => return Err(error),
        },
    };
    let outcome = session.finish()?;
    let source = Source {
        name: path.display().to_string(),
        out: arguments.dataset.out.as_deref(),
        window: arguments.measure.window,
        verify_icrc: arguments.verify_icrc,
        input_error: input_error.as_ref().map(ToString::to_string),
        live: None,
    };
    print(arguments.output, &source, &outcome)?;
    verdict(&outcome)?;
    match input_error {
        Some(error) => Err(error).with_context(|| path.display().to_string()),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// What the pipeline of a capture is made with.
pub(super) fn chosen(arguments: &CaptureArguments) -> Settings {
    Settings {
        connections: arguments.connections.then(ConnectionSettings::default),
        filter: arguments.filter.clone(),
        addresses: arguments.anonymize.clone(),
        sketches: !arguments.dataset.no_sketches,
        ..settings(&arguments.measure, arguments.verify_icrc)
    }
}

/// What the runs of a capture are made by.
pub(super) fn config(arguments: &CaptureArguments, settings: &Settings) -> Result<Config> {
    let filter = settings.filter.as_ref();
    Ok(Config {
        udp_ports: ports(&arguments.udp_ports)?,
        filter: filter.map_or(PacketFilter::NONE, RunFilter::packet_filter),
        ..Config::exact(settings.window_ns)
    })
}

/// Prints the summary.
pub(super) fn print(output: Output, source: &Source<'_>, outcome: &Outcome) -> Result<()> {
    super::print(&match output {
        Output::Json => json::summary(source, outcome),
        Output::Table => text::summary(source, outcome),
    })
}

/// Whether all went well: after the results, for nothing of them is lost.
pub(super) fn verdict(outcome: &Outcome) -> Result<()> {
    let counters = &outcome.counters;
    ensure!(
        counters.frames == counters.frames_accounted()
            && counters.roce_packets == counters.published_packets,
        "the loss identity does not hold: this is a defect, please report it with the capture"
    );
    // What the windows add up to, opcode by opcode, against what was counted frame by frame.
    let totals = &outcome.summary.totals;
    ensure!(
        totals.all().packets + totals.filtered_packets == counters.delivered_packets()
            && (counters.lost_runs > 0
                || totals.filtered_packets > 0
                || totals.opcodes[..] == counters.opcodes[..]),
        "the windows do not add up to the counters: this is a defect, please report it with the capture"
    );
    if let Some(error) = &outcome.store_error {
        bail!("the dataset: {error}");
    }
    if let Some((store, _)) = &outcome.store
        && store.refused_windows > 0
    {
        bail!(
            "the disk is full: {} windows were not written; the segments sealed before are whole",
            store.refused_windows
        );
    }
    if let Some(recorder) = &outcome.recorder
        && let Some(error) = &recorder.error
    {
        bail!("no more frames were kept: {error}");
    }
    Ok(())
}

pub(super) fn open(path: &Path, signals: &Signals) -> Result<Input> {
    Ok(if path == Path::new("-") {
        Input::new(Box::new(signals.stdin()?))?
    } else {
        file::open(path)?
    })
}

/// Takes every frame of `reader`, until a signal asks to end.
pub(super) fn drive<R: Read>(
    reader: &mut FrameReader<R>,
    session: &mut Session,
    progress: &Progress,
    signals: &Signals,
) -> Result<()> {
    while !signals.ended() {
        for _ in 0..STRIDE {
            match reader.next_frame() {
                Ok(Some(frame)) => session.frame(&frame)?,
                Ok(None) => return Ok(()),
                // It ended where we stopped reading.
                Err(_) if signals.ended() => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        progress.at(reader.consumed_bytes());
    }
    Ok(())
}

pub(super) fn settings(measure: &MeasureArguments, verify_icrc: bool) -> Settings {
    let nanoseconds =
        |duration: std::time::Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Settings {
        observer: measure.observer.clone().into(),
        window_ns: nanoseconds(measure.window),
        lateness_ns: nanoseconds(measure.lateness),
        exact_flows: measure.exact_flows,
        top: measure.top,
        flow_rows: measure.flow_rows,
        elephant_bps: measure.elephant,
        jitter: Jitter {
            relative: Some(measure.jitter_relative),
            absolute_bps: Some(measure.jitter_absolute),
        },
        verify_icrc,
        ..Settings::default()
    }
}

pub(super) fn ports(given: &[u16]) -> Result<[u16; 4]> {
    let mut ports = [0; 4];
    ensure!(
        given.len() <= ports.len(),
        "at most four UDP ports can carry RoCEv2"
    );
    ensure!(!given.contains(&0), "0 is no UDP port");
    for (port, given) in ports.iter_mut().zip(given) {
        *port = *given;
    }
    Ok(ports)
}

/// Where the frames of a dataset come from: part of every segment.
pub(super) struct Origin {
    pub(super) source: String,
    pub(super) mode: String,
    pub(super) clock_source: &'static str,
}

impl Origin {
    pub(super) fn file(path: &Path) -> Self {
        let is_pipe = path == Path::new("-");
        Self {
            source: path.display().to_string(),
            mode: if is_pipe { "stdin" } else { "file" }.into(),
            clock_source: "file",
        }
    }
}

/// The dataset that is asked for, if one is.
pub(super) fn dataset(
    arguments: &DatasetArguments,
    origin: &Origin,
    settings: &Settings,
) -> Result<Option<Dataset>> {
    let Some(root) = &arguments.out else {
        return Ok(None);
    };
    let options = Options {
        max_age: arguments.segment_age,
        max_bytes: arguments.segment_bytes,
        ..options(origin, settings)
    };
    let retention = Retention {
        root: root.clone(),
        age: arguments.keep_age,
        bytes: arguments.keep_bytes,
        ..Retention::default()
    };
    let writer = Writer::create(root, options)?;
    Ok(Some(Dataset::new(writer, retention)))
}

/// What every segment says of itself.
pub(super) fn options(origin: &Origin, settings: &Settings) -> Options {
    let pair = |key: &str, value: String| (key.to_owned(), value);
    Options {
        metadata: vec![
            pair(footer::SOURCE, origin.source.clone()),
            pair(footer::MODE, origin.mode.clone()),
            pair(footer::CLOCK_SOURCE, origin.clock_source.into()),
            pair(footer::WINDOW_NS, settings.window_ns.to_string()),
            pair(footer::ELEPHANT_BPS, settings.elephant_bps.to_string()),
            pair(footer::FLOW_HASH_SEED, FLOW_HASH_SEED.to_string()),
            pair(
                footer::LINEAR_COUNTING_BITS,
                rocescope_pipeline::LINEAR_COUNTING_BITS.to_string(),
            ),
            pair(footer::COUNT_MIN_DEPTH, COUNT_MIN_DEPTH.to_string()),
            pair(footer::COUNT_MIN_WIDTH, COUNT_MIN_WIDTH.to_string()),
            pair(footer::COUNT_MIN_CONSERVATIVE, "false".into()),
        ],
        ..Options::new(&*settings.observer)
    }
}
