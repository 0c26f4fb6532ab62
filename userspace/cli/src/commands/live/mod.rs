//! `rocescope capture -i`: frames of interfaces in, the same summary and dataset out.
//!
//! | module | what it does |
//! |---|---|
//! | `plan` | which way frames are taken, and what that takes |
//! | `watch` | what ends a capture: signals, time, a command, the last interface |
//! | `reload` | the configuration, read again |
//! | `xdp` | run records of the kernel, into the intake |
//! | `port` | what interfaces dropped meanwhile |
//! | `vlan` | VLAN tags that the card takes out |
//! | `check` | whether this is the right port |
//! | `packet` | frames of packet sockets, into a session |

mod check;
mod packet;
mod plan;
mod port;
mod reload;
mod vlan;
mod watch;
mod xdp;

use super::capture::{self, Origin};
use crate::arguments::{
    CaptureArguments, DatasetArguments, LiveArguments, MeasureArguments, Mode, Output,
    RecorderArguments, VlanOffload,
};
use crate::drops::Drops;
use crate::intake::{Outcome, Outlet, Tap};
use crate::metrics::{self, Metrics};
use crate::output::{Live, Source};
use crate::recorder::Recorder;
use crate::say;
use crate::signals::Signals;
use anyhow::{Context, Result, ensure};
use plan::{Plan, Way};
use reload::Standing;
use rocescope_host::interface::{Interface, Promiscuous};
use rocescope_host::privileges;
use rocescope_pipeline::Settings;
use rocescope_pipeline::filter::words;
use rocescope_record::{Config, Counters};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
pub(super) use vlan::restore as restore_vlan_offload;
use watch::Watch;

/// Live captures mark one PSN in sixteen: as many round trips as are needed, few extra runs.
const MARK_MASK: u32 = 15;

pub(super) fn run(arguments: &CaptureArguments) -> Result<ExitCode> {
    let mut arguments = arguments.clone();
    if let Some(seconds) = arguments.check {
        arguments.live.duration = Some(Duration::from_secs(seconds.into()));
        arguments.connections = true;
        // It writes nothing, whatever the configuration file has.
        arguments.dataset.out = None;
        arguments.recorder.keep_frames = None;
    }
    let arguments = &arguments;
    let mut settings = capture::chosen(arguments);
    if arguments.check.is_some() {
        // Directions and tags are told from the flows.
        settings.top = settings.exact_flows;
    }
    let begun = Begun::new(arguments, Signals::install()?, &settings)?;
    let interfaces = begun.interfaces.iter();
    let names = interfaces.map(|interface| (interface.index, interface.name.clone()));
    let recorder = Recorder::create(arguments, names.collect())?;
    let dataset = capture::dataset(&arguments.dataset, &begun.origin, &settings)?;
    let name = begun.origin.source.clone();
    let outlet = Outlet::from(dataset)
        .with_tap(metrics(arguments, &begun)?)
        .with_recorder(recorder);
    let (report, outcome) = begun.drive(arguments, settings, outlet)?;
    if let Some(seconds) = arguments.check {
        return check::conclude(arguments.output, &report, &outcome, seconds);
    }
    finish(arguments, &name, report, &outcome)
}

/// What `capture` would be given to take frames for another command, which does with them what it
/// likes.
pub(super) fn arguments(
    live: &LiveArguments,
    measure: &MeasureArguments,
    udp_ports: &[u16],
    connections: bool,
) -> CaptureArguments {
    CaptureArguments {
        read: None,
        output: Output::Table,
        check: None,
        filter: None,
        anonymize: None,
        connections,
        verify_icrc: false,
        udp_ports: udp_ports.to_vec(),
        quiet: true,
        live: live.clone(),
        dataset: DatasetArguments {
            out: None,
            segment_age: Duration::ZERO,
            segment_bytes: 0,
            keep_age: None,
            keep_bytes: None,
            no_sketches: true,
        },
        recorder: RecorderArguments {
            keep_frames: None,
            keep_frames_dir: None,
            keep_frames_memory: 0,
            keep_frames_disk: 0,
            keep_frames_per_hour: 0,
        },
        measure: measure.clone(),
    }
}

/// A capture with everything open that it needs, which has not taken a frame yet.
pub(super) struct Begun {
    pub(super) origin: Origin,
    pub(super) report: Live,
    pub(super) interfaces: Vec<Interface>,
    pub(super) drops: Arc<Drops>,
    plan: Plan,
    /// What goes back to what it was when the capture ends.
    restored: (Vec<Promiscuous>, Vec<vlan::Restored>),
    config: Config,
    standing: Standing,
    signals: Signals,
}

impl Begun {
    /// Opens and attaches what the arguments ask for.
    pub(super) fn new(
        arguments: &CaptureArguments,
        signals: Signals,
        settings: &Settings,
    ) -> Result<Self> {
        // Before anybody hears that frames are taken: until then SIGHUP ends the process.
        signals.take_reload()?;
        let standing = Standing::now()?;
        let interfaces = find(&arguments.live.interfaces)?;
        let config = capture::config(arguments, settings)?;
        let plan = Plan::make(arguments, &interfaces, config)?;
        let promiscuous = promiscuous(&interfaces)?;
        let report = plan.report(&interfaces);
        let socket = Arc::clone(&report.socket_dropped_so_far);
        let drops = Arc::new(Drops::begin(&interfaces, socket));
        let mut restored = Vec::new();
        for (interface, (name, mode)) in interfaces.iter().zip(&report.interfaces) {
            let is_xdp = matches!(plan.way, Way::Xdp(_));
            if is_xdp && arguments.live.vlan_offload == VlanOffload::Off {
                restored.extend(vlan::leave_in(interface)?);
            }
            let tags = if is_xdp && vlan::is_stripped(interface) {
                ", which misses VLAN tags that the card takes out (--vlan-offload off)"
            } else {
                ""
            };
            let why =
                if arguments.recorder.keep_frames.is_some() && arguments.live.mode == Mode::Auto {
                    ": --keep-frames takes frames, which XDP does not hand over"
                } else {
                    ""
                };
            say!("capturing on {name} by {mode}{tags}{why}");
        }
        match plan.way {
            Way::Xdp(_) => filtered(settings, &config),
            Way::Packet(_) if settings.filter.is_some() => say!(
                "filter: nothing of it in the kernel: packet sockets take every frame, all of it is applied behind them"
            ),
            Way::Packet(_) => {}
        }
        Ok(Self {
            origin: Origin {
                source: names(&interfaces),
                mode: plan.mode_names(),
                clock_source: plan.clock_source(),
            },
            signals,
            report,
            interfaces,
            drops,
            plan,
            restored: (promiscuous, restored),
            config,
            standing,
        })
    }

    /// Starts the command, where there is one, and takes frames until something ends the capture.
    pub(super) fn drive(
        self,
        arguments: &CaptureArguments,
        settings: Settings,
        outlet: Outlet,
    ) -> Result<(Live, Outcome)> {
        let Self {
            plan,
            restored,
            interfaces,
            drops,
            config,
            standing,
            mut report,
            signals,
            ..
        } = self;
        let mut watch = Watch::begin(signals, &interfaces, drops, arguments, standing)?;
        // From here on this process can do no more than any other; what it needs it holds open.
        privileges::drop_all().context("capabilities")?;
        let outcome = match plan.way {
            Way::Xdp(source) => xdp::drive(*source, settings, outlet, &mut watch, &mut report)?,
            Way::Packet(sockets) => {
                packet::drive(sockets, settings, config, outlet, &mut watch, &mut report)?
            }
        };
        drop(restored);
        watch.end()?;
        report.nic_dropped = watch.port().dropped();
        report.driver_drops = watch.port().grown();
        Ok((report, outcome))
    }
}

/// Says which part of a filter is applied in the kernel.
fn filtered(settings: &Settings, config: &Config) {
    if settings.filter.is_none() {
        return;
    }
    match words(&config.filter) {
        Some(words) => say!("filter: `{words}` in the kernel, all of it behind it"),
        None => say!("filter: nothing of it in the kernel, all of it behind it"),
    }
}

/// What frames were classed as, what else is known of them, and what mirrors numbered, where they did.
fn tell(counters: &Counters, rest: &str) {
    say!(
        "{} frames = {} RoCEv2 + {} other + {} malformed + {} fragments + {} filtered + {} snapped; {rest}",
        counters.frames,
        counters.roce_packets,
        counters.not_roce(),
        counters.malformed(),
        counters.fragments,
        counters.filtered,
        counters.snapped,
    );
    let (seen, lost) = (counters.mirrored_frames, counters.mirror_lost);
    if seen > 0 {
        say!(
            "{} mirrored frames = {seen} seen + {lost} lost on the way here",
            seen + lost
        );
    }
}

/// Begins to show figures, where that is asked for.
pub(super) fn metrics(arguments: &CaptureArguments, begun: &Begun) -> Result<Option<Tap>> {
    let Some(address) = arguments.live.metrics else {
        return Ok(None);
    };
    let metrics = Metrics::new(arguments.live.metrics_flows, Some(Arc::clone(&begun.drops)));
    let (shown, observer) = (metrics.clone(), arguments.measure.observer.clone());
    let page = Arc::new(move || metrics::text::page(&shown, &observer));
    let bound = metrics::serve(address, page)?;
    say!("figures at http://{bound}/metrics");
    Ok(Some(Box::new(move |rows| {
        metrics.add(rows);
        Ok(())
    })))
}

fn finish(
    arguments: &CaptureArguments,
    name: &str,
    report: Live,
    outcome: &Outcome,
) -> Result<ExitCode> {
    let source = Source {
        name: name.into(),
        out: arguments.dataset.out.as_deref(),
        window: arguments.measure.window,
        verify_icrc: arguments.verify_icrc,
        input_error: None,
        live: Some(report),
    };
    capture::print(arguments.output, &source, outcome)?;
    capture::verdict(outcome)?;
    Ok(ExitCode::SUCCESS)
}

fn find(names: &[String]) -> Result<Vec<Interface>> {
    let mut found: Vec<Interface> = Vec::new();
    for name in names {
        let interface = Interface::find(name)
            .with_context(|| format!("{name}: no such interface (`ip link` lists them)"))?;
        ensure!(!found.contains(&interface), "{name} is given twice");
        found.push(interface);
    }
    Ok(found)
}

fn promiscuous(interfaces: &[Interface]) -> Result<Vec<Promiscuous>> {
    interfaces
        .iter()
        .map(|interface| {
            interface
                .promiscuous()
                .with_context(|| format!("{}: promiscuous mode", interface.name))
        })
        .collect()
}

fn names(interfaces: &[Interface]) -> String {
    let names: Vec<&str> = interfaces
        .iter()
        .map(|interface| interface.name.as_str())
        .collect();
    names.join(",")
}
