//! Requests to the engine, from the arguments of a command.

use crate::arguments::{
    CaptureArguments, ConnectionsArguments, DatasetArguments, Direction, FlowKey, LiveArguments, MeasureArguments,
    Mode, RecorderArguments, TopArguments, Verdict, VlanOffload,
};
use anyhow::Result;
use rocescope_capture::af_packet;
use rocescope_engine::request::{self, FileSet, MetricsRequest, VerdictPolicy, udp_ports};
use rocescope_engine::{CaptureRequest, DatasetRequest, IntakeRequest, RecorderRequest};
use rocescope_pipeline::Settings;
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_pipeline::filter::RunFilter;
use rocescope_pipeline::settings::Jitter;
use rocescope_pipeline::spray::FlowKeyMode;
use rocescope_runtime::metrics::OpenIncidents;
use std::time::Duration;

/// Minimum event time between two reports of a connection in `top`: half the interval of the check for due
/// connections, so each is reported at every check.
const TOP_REPORT_NS: u64 = 500_000_000;

/// `rocescope capture`.
pub(crate) fn capture(arguments: &CaptureArguments) -> Result<CaptureRequest> {
    let settings = Settings {
        connections: (!arguments.no_connections).then(|| ConnectionSettings {
            steps: arguments.collectives,
            ..tracked(&arguments.measure)
        }),
        filter: arguments.filter.clone(),
        addresses: arguments.anonymize.clone(),
        sketches: !arguments.dataset.no_sketches,
        verify_icrc: arguments.verify_icrc,
        small_flows: match &arguments.subscription.collector {
            Some(_) => arguments.subscription.small_flows.into(),
            None => 0,
        },
        ..measured(&arguments.measure)
    };
    let mut request = live(&arguments.live, settings, &arguments.udp_ports)?;
    if let Some(seconds) = arguments.check {
        // A check writes nothing, even if the configuration file sets a dataset. Flows show directions and tags.
        request.duration = Some(Duration::from_secs(seconds.into()));
        let settings = &mut request.intake.settings;
        settings.connections = Some(tracked(&arguments.measure));
        settings.top = settings.exact_flows;
    } else {
        request.intake.dataset = dataset(&arguments.dataset, arguments.measure.flow_rows);
        request.intake.count = arguments.count;
        request.intake.write = arguments.write.clone();
        request.intake.write_set = FileSet {
            bytes: arguments.write_bytes,
            age: arguments.write_age,
            files: arguments.write_files,
        };
        request.intake.recorder = recorder(&arguments.recorder, arguments.dataset.retention.keep_age);
    }
    Ok(request)
}

/// `rocescope connections`, of a file or interfaces.
pub(crate) fn connections(arguments: &ConnectionsArguments) -> Result<CaptureRequest> {
    let settings = Settings {
        connections: Some(tracked(&arguments.measure)),
        ..measured(&arguments.measure)
    };
    let mut request = live(&arguments.live, settings, &arguments.udp_ports)?;
    request.intake.keeps_connections = true;
    Ok(request)
}

/// `rocescope top`, of a file or interfaces; connections are reported while they live.
pub(crate) fn top(arguments: &TopArguments, connections: bool) -> Result<CaptureRequest> {
    let connections = connections.then(|| ConnectionSettings {
        report_ns: TOP_REPORT_NS,
        ..tracked(&arguments.measure)
    });
    let settings = Settings {
        connections,
        filter: arguments.filter.as_ref().map(RunFilter::new).transpose()?,
        ..measured(&arguments.measure)
    };
    live(&arguments.live, settings, &arguments.udp_ports)
}

fn tracked(measure: &MeasureArguments) -> ConnectionSettings {
    ConnectionSettings {
        max_bytes: usize::try_from(measure.connection_memory).unwrap_or(usize::MAX),
        ..ConnectionSettings::default()
    }
}

fn measured(measure: &MeasureArguments) -> Settings {
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Settings {
        observer: measure.observer.clone().into(),
        window_ns: nanoseconds(measure.window),
        lateness_ns: nanoseconds(measure.lateness),
        exact_flows: measure.exact_flows,
        top: measure.top,
        flow_rows: measure.flow_rows,
        spread_rows: measure.spread_rows,
        flow_key: match measure.flow_key {
            FlowKey::Auto => FlowKeyMode::Auto,
            FlowKey::Port => FlowKeyMode::Port,
            FlowKey::Direction => FlowKeyMode::Direction,
        },
        mirror_sampling: measure.mirror_sampling,
        elephant_bps: measure.elephant,
        jitter: Jitter {
            relative: Some(measure.jitter_relative),
            absolute_bps: Some(measure.jitter_absolute),
        },
        ..Settings::default()
    }
}

/// A capture that writes nothing.
fn live(live: &LiveArguments, settings: Settings, ports: &[u16]) -> Result<CaptureRequest> {
    Ok(CaptureRequest {
        interfaces: live.interfaces.clone(),
        mode: match live.mode {
            Mode::Auto => request::Mode::Auto,
            Mode::Native => request::Mode::Native,
            Mode::Generic => request::Mode::Generic,
            Mode::AfPacket => request::Mode::AfPacket,
        },
        direction: match live.direction {
            Direction::In => af_packet::Direction::In,
            Direction::Out => af_packet::Direction::Out,
            Direction::Both => af_packet::Direction::Both,
        },
        verdict: match live.verdict {
            Verdict::Auto => VerdictPolicy::Auto,
            Verdict::Pass => VerdictPolicy::Pass,
            Verdict::Drop => VerdictPolicy::Drop,
        },
        keeps_vlan_tags: live.vlan_offload == VlanOffload::Off,
        duration: live.duration,
        ring_bytes: live.ring_bytes,
        metrics: live.metrics.map(|address| MetricsRequest {
            address,
            flows: live.metrics_flows,
            incidents: OpenIncidents::default(),
        }),
        command: live.command.clone(),
        intake: IntakeRequest {
            settings,
            udp_ports: udp_ports(ports)?,
            dataset: None,
            recorder: None,
            count: None,
            write: None,
            write_set: FileSet::default(),
            keeps_connections: false,
        },
    })
}

fn dataset(arguments: &DatasetArguments, flow_rows: usize) -> Option<DatasetRequest> {
    Some(DatasetRequest {
        root: arguments.out.clone()?,
        segment_age: arguments.retention.segment_age,
        segment_bytes: arguments.segment_bytes,
        keep_age: arguments.retention.keep_age,
        keep_bytes: arguments.retention.keep_bytes,
        keep_rollups: arguments.retention.rollups(flow_rows),
        keep_free: arguments.retention.keep_free,
    })
}

fn recorder(arguments: &RecorderArguments, keep_age: Option<Duration>) -> Option<RecorderRequest> {
    Some(RecorderRequest {
        before: arguments.keep_frames?,
        folder: arguments.keep_frames_dir.clone(),
        memory_bytes: arguments.keep_frames_memory,
        disk_bytes: arguments.keep_frames_disk,
        files_per_hour: arguments.keep_frames_per_hour,
        keep_age,
    })
}
