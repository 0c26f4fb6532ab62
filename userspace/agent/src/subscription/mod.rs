//! The subscription of a capture box: thresholds from the controller, taken as windows end, and rows for the analysis of
//! hosts.
//!
//! | module | what it does |
//! |---|---|
//! | `recordings` | records flows that agents ask for |
//! | `wire` | chooses the rows |

mod recordings;
mod wire;

use crate::error::{AgentError, Result};
use crate::part::Rows;
use crate::relay::{GRACE, spooled};
use recordings::Recordings;
use rocescope_collector::control::Member;
use rocescope_collector::control::message::{Flow, SmallFlows, WireCounts};
use rocescope_collector::{Files, Sender, Spool, sender};
use rocescope_model::{Cells, EventRow, FlowRow, WindowRows};
use rocescope_runtime::clock::now;
use rocescope_runtime::signals::Reloader;
use rocescope_runtime::status;
use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::Wire;

/// Interval between two reports of the rows sent and left out.
const REPORT: Duration = Duration::from_secs(10);

/// Receives the rows of every finished window; a break ends the capture.
pub type Tap = Box<dyn FnMut(&mut WindowRows) -> ControlFlow<()>>;

/// Events that others ask for, such as recordings: called with the rows of each turn, before anyone gets them.
pub type Asked = Box<dyn FnMut(&WindowRows) -> Vec<EventRow>>;

/// What a capture box sends, and where.
#[derive(Clone, Debug)]
pub struct SubscriptionSettings {
    /// The controller.
    pub url: String,
    /// Certificates and key of this capture box.
    pub files: Files,
    /// The directory of the spool, if rows are sent, and its maximum size.
    pub spool: Option<(PathBuf, u64)>,
    /// Rows a window for the analysis of hosts.
    pub wire_rows: u32,
    /// Recordings an hour that agents may request.
    pub recordings: u16,
}

/// A subscription that has not connected: that waits until the capture has dropped its privileges.
pub struct Subscription {
    settings: sender::Settings,
    member: Arc<Member>,
    reloader: Reloader,
    spool: Option<(PathBuf, u64)>,
    wire_rows: u32,
    recordings: u16,
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the subscription of {}", self.settings.agent)
    }
}

/// The connection.
struct Link {
    sender: Option<Sender>,
    /// What waits for the collector, if rows are sent.
    spool: Option<(Arc<Spool>, Rows)>,
    wire: Wire,
    member: Arc<Member>,
    reported: Instant,
}

impl Subscription {
    /// The subscription of this capture box, which the controller configures as `member`. A new configuration is
    /// requested from `reloader`.
    #[must_use]
    pub fn open(settings: SubscriptionSettings, observer: &str, member: Arc<Member>, reloader: Reloader) -> Self {
        let SubscriptionSettings {
            url,
            files,
            spool,
            wire_rows,
            recordings,
        } = settings;
        Self {
            settings: sender::Settings::new(url, files, observer),
            member,
            reloader,
            spool,
            wire_rows,
            recordings,
        }
    }

    /// What records flows that agents ask for, if there is a flight recorder.
    #[must_use]
    pub fn asked(&self) -> Option<Asked> {
        let member = Arc::clone(&self.member);
        let mut recordings = Recordings::new(&self.settings.agent, self.recordings);
        if self.recordings == 0 {
            return None;
        }
        member.has_recorded(recordings.counts);
        Some(Box::new(move |rows: &WindowRows| {
            let events = recordings.turn(member.recording_requests(), rows, now().0);
            member.has_recorded(recordings.counts);
            events
        }))
    }

    /// What the reload reports to.
    #[must_use]
    pub fn member(&self) -> Arc<Member> {
        Arc::clone(&self.member)
    }

    /// Takes part in the capture: receives the rows of every window, and passes them on to `next`.
    ///
    /// # Errors
    /// The URL or the certificates are invalid.
    pub fn tap(self, mut next: Option<Tap>) -> Result<Tap> {
        let files = self.settings.files.clone();
        files.client().map_err(AgentError::Controller)?;
        if self.spool.is_some() {
            files.check_observer(&self.settings.agent)?;
        }
        let mut link: Option<Link> = None;
        let mut reported = None;
        Ok(Box::new(move |rows: &mut WindowRows| {
            if !rows.windows.is_empty() {
                if link.is_none() {
                    link = self.connect();
                }
                name(&self.member, &rows.small_flows);
                if self.member.take().is_some() {
                    self.reloader.request();
                }
                if let Some(sender) = link.as_ref().and_then(|link| link.sender.as_ref()) {
                    report(sender, &mut reported);
                }
            }
            if let Some(link) = &mut link {
                link.rows(rows, false);
            }
            match &mut next {
                Some(next) => next(rows),
                None => ControlFlow::Continue(()),
            }
        }))
    }

    fn connect(&self) -> Option<Link> {
        let open = || {
            let spool = self
                .spool
                .as_ref()
                .map(|(directory, bytes)| Spool::open(directory, *bytes));
            let spool = spool.transpose()?.map(Arc::new);
            let member = Some(Arc::clone(&self.member));
            let sender = Sender::start_with(spool.clone(), member, self.settings.clone())?;
            Ok(Link {
                sender: Some(sender),
                spool: spool.map(|spool| (Arc::clone(&spool), spooled(spool))),
                wire: Wire::new(self.wire_rows),
                member: Arc::clone(&self.member),
                reported: Instant::now(),
            })
        };
        open()
            .inspect_err(|error: &rocescope_collector::Error| status!("{error}"))
            .ok()
    }
}

impl Link {
    /// Sends the rows of a window when it has ended.
    fn rows(&mut self, rows: &WindowRows, is_end: bool) {
        let Some((spool, sink)) = &self.spool else {
            return;
        };
        if let Some(chosen) = self.wire.take(rows, is_end) {
            let tables: [&dyn Cells; 3] = [&chosen.flows, &chosen.events, &chosen.connections];
            for cells in tables {
                // Rows that could not be written are counted by the spool.
                sink.append(cells);
            }
            self.wire.sent(&chosen);
        }
        if is_end || self.reported.elapsed() >= REPORT {
            self.reported = Instant::now();
            let counts = spool.counts();
            self.member.has_sent(WireCounts {
                dropped: counts.dropped_full_rows
                    + counts.dropped_disk_rows
                    + counts.dropped_damaged_rows
                    + counts.refused_rows,
                ..self.wire.counts
            });
        }
    }
}

/// The capture has ended: the rest is sent if the collector is there, or stays in the spool.
impl Drop for Link {
    fn drop(&mut self) {
        self.rows(&WindowRows::default(), true);
        let Some(sender) = self.sender.take().filter(|_| self.spool.is_some()) else {
            return;
        };
        let status = sender.status();
        if status.connected {
            sender.finish(GRACE);
        }
        let WireCounts {
            sent,
            over_budget,
            quiet,
            unread,
            ..
        } = self.wire.counts;
        status!(
            "rows for the analysis of hosts: {sent} sent; left out: {over_budget} with trouble and {quiet} without beyond \
             --wire-rows, {unread} events that no rule reads"
        );
        if let Some(why) = status.last_refusal {
            status!("collector refused rows: {why}");
        }
    }
}

/// Names the small flows of the last window to the controller.
fn name(member: &Member, flows: &[FlowRow]) {
    let Some(last) = flows.last() else {
        return;
    };
    let of_last = flows.iter().filter(|flow| flow.window_start_ns == last.window_start_ns);
    let flow = |row: &FlowRow| {
        Some(Flow {
            src: row.src,
            dst: row.dst,
            udp_src_port: row.udp_src_port?,
            dst_qpn: row.dst_qpn,
            flow_hash: row.flow_hash,
            packets: row.packets,
            frame_bytes: row.frame_bytes,
        })
    };
    member.name_flows(SmallFlows {
        window_start_ns: last.window_start_ns,
        window_ns: last.window_ns,
        flows: of_last.filter_map(flow).collect(),
    });
}

/// Reports a change of the connection.
fn report(sender: &Sender, reported: &mut Option<(bool, Option<bool>)>) {
    let status = sender.status();
    let now = (status.connected, status.is_controlled);
    if *reported == Some(now) {
        return;
    }
    match (now, status.last_error) {
        ((true, Some(false)), _) => status!("the collector is no controller: the capture keeps its own configuration"),
        ((true, _), _) => status!("controller connected"),
        ((false, _), Some(why)) => {
            let what = match status.was_reached {
                true => "the connection to the controller ended",
                false => "controller unreachable",
            };
            status!("{what}; the capture goes on as it is: {why}");
        }
        ((false, _), None) => return,
    }
    *reported = Some(now);
}
