//! Captures of interfaces: opened with privileges, run without them.
//!
//! | module | what it does |
//! |---|---|
//! | `plan` | selects how frames are captured, and opens the source |
//! | `watch` | what ends a capture: signals, time, a command, the last interface |
//! | `overload` | whether the capture falls behind its source, so that connections yield |
//! | `xdp` | feeds run records of the kernel to the intake |
//! | `packet` | feeds frames of packet sockets and RDMA devices to a session |
//! | `tap` | a packet socket or an RDMA device |
//! | `report` | the report of a live capture |
//! | `port` | frames that interfaces dropped during the capture |
//! | [`vlan`] | VLAN tags that the NIC strips |
//! | [`check`] | the check of a port |

pub mod check;
mod overload;
mod packet;
mod plan;
mod port;
mod report;
mod tap;
pub mod vlan;
mod watch;
mod xdp;

pub use report::{Cost, LiveReport, VerdictReason};
pub use watch::{Reload, Reloaded};

use crate::drops::Drops;
use crate::error::{Conflict, EngineError, Result};
use crate::intake::{Asked, Outputs, Tap};
use crate::metrics::{self, Measured, Metrics};
use crate::notice::{Notice, Notices};
use crate::origin::Origin;
use crate::outcome::Outcome;
use crate::request::{CaptureRequest, Mode};
use plan::{Plan, Source};
use rocescope_capture::af_packet::Direction;
use rocescope_capture::sniffer::SnifferPort;
use rocescope_host::interface::{Interface, Promiscuous};
use rocescope_host::privileges;
use rocescope_host::xdp_program;
use rocescope_pipeline::Settings;
use rocescope_pipeline::settings::LiveSource;
use rocescope_record::Config;
use rocescope_runtime::resources::{self, Meter};
use rocescope_runtime::signals::Signals;
use std::fmt;
use std::sync::Arc;
use watch::Watch;

/// An opened capture that has not started.
pub struct LiveCapture {
    request: CaptureRequest,
    origin: Origin,
    report: LiveReport,
    interfaces: Vec<Interface>,
    drops: Arc<Drops>,
    source: Source,
    /// Interface settings that are restored when the capture ends.
    restored: (Vec<Promiscuous>, Vec<vlan::Restored>),
    config: Config,
    reload: Reload,
    signals: Signals,
    notices: Notices,
}

impl fmt::Debug for LiveCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveCapture")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

impl LiveCapture {
    /// Opens the source of `request`. On SIGHUP `reload` makes a new request.
    ///
    /// # Errors
    /// An interface or a privilege is missing, or the request contradicts itself.
    pub fn open(request: CaptureRequest, signals: Signals, reload: Reload, notices: Notices) -> Result<Self> {
        // Before the notice that the capture starts: until then SIGHUP ends the process.
        signals.take_reload()?;
        let (interfaces, devices) = find(&request.interfaces)?;
        let config = request.intake.config();
        let is_rdma = !devices.is_empty();
        let plan = match is_rdma {
            true => plan::devices(&request, devices)?,
            false => Plan::make(&request, &interfaces, config)?,
        };
        let direction = if is_rdma { Direction::Both } else { request.direction };
        // A device delivers all frames of its port, whatever its interface accepts.
        let promiscuous = promiscuous(if is_rdma { &[] } else { &interfaces })?;
        let report = LiveReport {
            direction,
            ..plan.report(&interfaces)
        };
        let socket = Arc::clone(&report.socket_dropped_so_far);
        let is_xdp = matches!(plan.source, Source::Xdp(_));
        // What the interface of an RDMA device counts as dropped is traffic of the kernel.
        let counted = if is_rdma { &[][..] } else { &interfaces };
        let drops = Arc::new(Drops::begin(counted, is_xdp, socket));
        if let Some(reason) = &plan.xdp_refused {
            notices.send(Notice::FallsBack(reason.clone()));
        }
        let mut restored = Vec::new();
        for (interface, (name, mode)) in interfaces.iter().zip(&report.interfaces) {
            if is_xdp && request.keeps_vlan_tags {
                restored.extend(vlan::leave_in(interface)?);
            }
            notices.send(Notice::Capturing {
                interface: name.clone(),
                mode,
                direction,
                misses_vlan_tags: is_xdp && vlan::is_stripped(interface),
                takes_frames: is_xdp && report.verdict.as_ref().is_some_and(|verdict| verdict.is_drop),
                needs_socket: request
                    .needs_socket()
                    .filter(|_| request.mode == Mode::Auto && !is_rdma),
            });
            if let Some(program) = xdp_program::on(interface.index).filter(|_| !is_xdp) {
                notices.send(Notice::BesideXdp(name.clone(), program));
            }
        }
        if is_xdp {
            notices.filter(&request.intake);
        } else if request.intake.settings.filter.is_some() {
            notices.send(Notice::UserFilter);
        }
        Ok(Self {
            origin: Origin {
                source: names(&interfaces),
                mode: plan.mode_names(),
                clock_source: plan.clock_source(),
            },
            request,
            report,
            interfaces,
            drops,
            source: plan.source,
            restored: (promiscuous, restored),
            config,
            reload,
            signals,
            notices,
        })
    }

    /// The origin of the frames.
    #[must_use]
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Frames dropped before this program sees them, while the capture runs.
    #[must_use]
    pub fn drops(&self) -> Arc<Drops> {
        Arc::clone(&self.drops)
    }

    /// Starts the command, if there is one, and captures until something ends the capture. `tap` receives the
    /// rows of every window too; `asked` adds events that others ask for.
    ///
    /// # Errors
    /// The dataset, the recorder's files or the metrics cannot be opened, or the capture fails.
    pub fn run(mut self, tap: Option<Tap>, asked: Option<Asked>) -> Result<(LiveReport, Outcome)> {
        let mut outputs = self.outputs()?;
        tap.into_iter().for_each(|tap| outputs.tap(tap));
        asked.into_iter().for_each(|asked| outputs.ask(asked));
        let Self {
            request,
            source,
            restored,
            interfaces,
            drops,
            config,
            mut report,
            signals,
            reload,
            notices,
            ..
        } = self;
        let settings = Settings {
            live: Some(LiveSource {
                run_slack_ns: report.boundary_slack_ns,
                drops_frames: matches!(source, Source::Frames(_)),
            }),
            ..request.intake.settings.clone()
        };
        let mut watch = Watch::begin(signals, &interfaces, drops, &request, reload, notices)?;
        // From here on the process has no privileges; everything it needs is open.
        privileges::drop_all().map_err(EngineError::Capabilities)?;
        let mut meter = Meter::default();
        let outcome = match source {
            Source::Xdp(source) => xdp::drive(*source, settings, outputs, &mut watch, &mut report)?,
            Source::Frames(taps) => packet::drive(taps, settings, config, outputs, &mut watch, &mut report)?,
        };
        report.cost.cpu_ratio = meter.share();
        report.cost.resident_bytes = resources::resident_bytes();
        drop(restored);
        watch.end()?;
        report.nic_dropped = watch.port().dropped();
        report.driver_drops = watch.port().grown();
        report.removed = watch.removed();
        report.command = watch.status();
        Ok((report, outcome))
    }

    /// Opens the destinations of rows.
    fn outputs(&mut self) -> Result<Outputs> {
        let interfaces = self.interfaces.iter();
        let names = interfaces.map(|interface| (interface.index, interface.name.clone()));
        let intake = &self.request.intake;
        let mut outputs = Outputs::open(intake, &self.origin, names.collect(), &self.notices)?;
        let Some(wanted) = &self.request.metrics else {
            return Ok(outputs);
        };
        let settings = &intake.settings;
        let measured = Measured {
            connections: settings.connections.is_some(),
            icrc: settings.verify_icrc,
        };
        let metrics = Metrics::new(wanted.flows, Some(Arc::clone(&self.drops)), measured);
        let metrics = metrics
            .with_dataset(outputs.not_stored())
            .with_incidents(wanted.incidents.clone());
        let (shown, observer) = (metrics.clone(), intake.settings.observer.clone());
        let page = Arc::new(move || metrics::text::page(&shown, &observer));
        let bound = rocescope_runtime::metrics::serve(wanted.address, page)?;
        self.notices.send(Notice::Metrics(bound));
        outputs.tap(Box::new(move |rows| {
            metrics.add(rows);
            std::ops::ControlFlow::Continue(())
        }));
        Ok(outputs)
    }
}

/// The interfaces of these names; those of RDMA devices with their ports.
fn find(names: &[String]) -> Result<(Vec<Interface>, Vec<SnifferPort>)> {
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut devices = Vec::new();
    for name in names {
        let interface = match Interface::find(name) {
            Ok(interface) => interface,
            Err(_) if name == "any" => return Err(EngineError::AnyInterface),
            Err(error) => {
                let device = SnifferPort::find(name)?;
                let device = device.ok_or_else(|| EngineError::NoInterface(name.clone(), error))?;
                let interface = Interface::all().map_err(|error| EngineError::NoInterface(name.clone(), error))?;
                let interface = interface
                    .into_iter()
                    .find(|interface| interface.index == device.interface);
                devices.push(device);
                interface.ok_or_else(|| EngineError::NoInterface(name.clone(), rustix::io::Errno::NODEV.into()))?
            }
        };
        if interfaces.contains(&interface) {
            return Err(EngineError::RepeatedInterface(name.clone()));
        }
        interfaces.push(interface);
    }
    if !devices.is_empty() && devices.len() < interfaces.len() {
        return Err(Conflict::DevicesAndInterfaces.into());
    }
    Ok((interfaces, devices))
}

fn promiscuous(interfaces: &[Interface]) -> Result<Vec<Promiscuous>> {
    let interfaces = interfaces.iter();
    interfaces
        .map(|interface| {
            let entered = interface.promiscuous();
            entered.map_err(|error| EngineError::Promiscuous(interface.name.clone(), error))
        })
        .collect()
}

fn names(interfaces: &[Interface]) -> String {
    let names: Vec<&str> = interfaces.iter().map(|interface| interface.name.as_str()).collect();
    names.join(",")
}
