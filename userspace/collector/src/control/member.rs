//! A member's end: checks what the controller sends, takes it at the edge of a window, and keeps it on disk, so that it
//! goes on with it across restarts, with and without a controller.

use super::durable;
use super::message::{
    AgentMessage, DroppedRows, FlowCounts, FlowRequest, FromMember, MemberState, RecordingCounts, RecordingRequest,
    Refused, Role, SmallFlows, ToMember, WireCounts,
};
use crate::server::StatusSink;
use rocescope_diagnose::pinglist::Pinglist;
use rocescope_model::human::visible;
use std::collections::VecDeque;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Requests that wait for the member; the oldest beyond them are dropped.
const MAX_REQUESTS: usize = 256;
/// Messages of and to other agents that wait; the oldest beyond them are dropped.
const MAX_MESSAGES: usize = 1024;
/// Maximum characters of a reason.
const MAX_REASON: usize = 1000;

/// Checks a configuration as the member checks its own; the error names in one line what is invalid.
pub type Check = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// A version that the controller sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    /// Its number.
    pub version: u64,
    /// The settings, as a configuration file.
    pub text: String,
}

impl Held {
    /// Reads the file that a member keeps; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is another file.
    pub fn read(path: &Path) -> Result<Option<Self>, String> {
        let content = match std::fs::read_to_string(path) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let parsed = content.split_once('\n').and_then(|(header, text)| {
            let version = header.strip_prefix(HEADER)?.parse().ok()?;
            Some(Self {
                version,
                text: text.to_owned(),
            })
        });
        let held = parsed.ok_or_else(|| {
            format!(
                "{}: not a file that the controller's configuration is kept in",
                path.display()
            )
        })?;
        Ok(Some(held))
    }

    fn write(&self, path: &Path) -> std::io::Result<()> {
        let content = format!("{HEADER}{}\n{}", self.version, self.text);
        durable::replace(path, content.as_bytes())
    }
}

/// The file of the pinglist, beside that of the configuration.
const PINGLIST: &str = "pinglist.json";

const HEADER: &str = "# from the controller, version ";

/// An agent or a capture box that takes its configuration from a controller.
pub struct Member {
    file: PathBuf,
    check: Check,
    status: StatusSink,
    inside: Mutex<Inside>,
    /// There is something to send.
    pub(crate) changed: Notify,
}

#[derive(Debug, Default)]
struct Inside {
    state: MemberState,
    is_unsent: bool,
    held: Held,
    waiting: Option<Held>,
    requests: VecDeque<FlowRequest>,
    small_flows: VecDeque<SmallFlows>,
    from_agents: VecDeque<AgentMessage>,
    to_agents: VecDeque<AgentMessage>,
    /// Of an agent those to send, of a capture box those that came.
    recordings: VecDeque<RecordingRequest>,
    /// One that came, or that was kept on disk.
    pinglist: Option<Pinglist>,
}

/// Appends to a queue that is bounded.
fn push<T>(queue: &mut VecDeque<T>, message: T) {
    queue.push_back(message);
    let excess = queue.len().saturating_sub(MAX_MESSAGES);
    queue.drain(..excess);
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl Member {
    /// A member that keeps what it takes in `file`, and runs `held`. It reports to `status` what it refuses.
    #[must_use]
    pub fn new(role: Role, file: &Path, held: Option<Held>, check: Check, status: StatusSink) -> Self {
        let held = held.unwrap_or_default();
        // Without it the controller's next one counts.
        let pinglist = std::fs::read(file.with_file_name(PINGLIST)).ok();
        let pinglist = pinglist.and_then(|json| serde_json::from_slice(&json).ok());
        Self {
            file: file.to_owned(),
            check,
            status,
            inside: Mutex::new(Inside {
                state: MemberState {
                    role,
                    running: held.version,
                    ..MemberState::default()
                },
                held,
                pinglist,
                ..Inside::default()
            }),
            changed: Notify::new(),
        }
    }

    /// What it runs.
    #[must_use]
    pub fn state(&self) -> MemberState {
        self.inside().state.clone()
    }

    /// Takes the configuration that waits, if one does: call it at the edge of a window, and apply what it returns.
    ///
    /// It is checked again, because the host's own file may have changed since it came; then the file is replaced. A
    /// version that is invalid by now, or that cannot be written, is refused: what ran before runs on.
    pub fn take(&self) -> Option<Held> {
        let taken = self.take_as(|held| (self.check)(&held.text));
        taken.map(|(held, ())| held)
    }

    /// Takes the configuration that waits as [`take`](Self::take) does, in the form that `prepare` gives it. A version
    /// that cannot be prepared is refused.
    pub fn take_as<T>(&self, prepare: impl FnOnce(&Held) -> Result<T, String>) -> Option<(Held, T)> {
        let next = self.inside().waiting.take()?;
        // Without the lock: it may take milliseconds.
        let prepared = prepare(&next);
        let mut inside = self.inside();
        // Another one may have arrived.
        inside.state.waiting = inside.waiting.as_ref().map(|held| held.version);
        let written = prepared.and_then(|prepared| {
            let written = next.write(&self.file);
            written.map_err(|error| format!("cannot write {}: {error}", self.file.display()))?;
            Ok(prepared)
        });
        let taken = match written {
            Ok(prepared) => {
                inside.state.running = next.version;
                inside.held = next.clone();
                Some((next, prepared))
            }
            Err(reason) => {
                self.refuse(&mut inside, next.version, &reason);
                None
            }
        };
        self.report(inside);
        taken
    }

    /// Reports settings that wait for a restart.
    pub fn needs_restart(&self, settings: Vec<String>) {
        self.update(|state| state.restart = settings);
    }

    /// Reports the addresses of the NICs.
    pub fn has_addresses(&self, addresses: Vec<IpAddr>) {
        self.update(|state| state.addresses = addresses);
    }

    /// Reports the probes of small flows.
    pub fn has_probed(&self, flows: FlowCounts) {
        self.update(|state| state.flows = flows);
    }

    /// Reports the rows for the analysis of hosts.
    pub fn has_sent(&self, wire: WireCounts) {
        self.update(|state| state.wire = wire);
    }

    /// Reports rows that left the spool in another way than to the collector.
    pub fn has_dropped(&self, dropped: DroppedRows) {
        self.update(|state| state.dropped = dropped);
    }

    /// Reports that this capture box records on request, and what it recorded.
    pub fn has_recorded(&self, recordings: RecordingCounts) {
        self.update(|state| (state.records, state.recordings) = (true, recordings));
    }

    fn update(&self, change: impl FnOnce(&mut MemberState)) {
        let mut inside = self.inside();
        let before = inside.state.clone();
        change(&mut inside.state);
        if inside.state != before {
            self.report(inside);
        }
    }

    /// Names the smallest flows of a window to the controller.
    pub fn name_flows(&self, flows: SmallFlows) {
        let mut inside = self.inside();
        // Without a connection they are soon of no use.
        inside.small_flows.clear();
        inside.small_flows.push_back(flows);
        drop(inside);
        self.changed.notify_one();
    }

    /// The pinglist that came since the last call; at the start the one of before, so that an agent goes on with it while
    /// the controller is away.
    pub fn pinglist(&self) -> Option<Pinglist> {
        self.inside().pinglist.take()
    }

    fn keep_pinglist(&self, pinglist: Pinglist) {
        let path = self.file.with_file_name(PINGLIST);
        let json = serde_json::to_vec(&pinglist).unwrap_or_default();
        if let Err(error) = durable::replace(&path, &json) {
            (self.status)(&format!("cannot write {}: {error}", path.display()));
        }
        self.inside().pinglist = Some(pinglist);
    }

    /// The requests for probes since the last call.
    pub fn requests(&self) -> Vec<FlowRequest> {
        self.inside().requests.drain(..).collect()
    }

    /// Sends a message to the agent of this name, if the controller knows it.
    pub fn send_to(&self, agent: &str, text: String) {
        let agent = agent.to_owned();
        push(&mut self.inside().to_agents, AgentMessage { agent, text });
        self.changed.notify_one();
    }

    /// The messages of other agents since the last call, of those that `is_mine` accepts; the others wait for who does.
    pub fn received(&self, is_mine: impl Fn(&str) -> bool) -> Vec<AgentMessage> {
        let mut inside = self.inside();
        let (mine, others) = inside.from_agents.drain(..).partition(|message| is_mine(&message.text));
        inside.from_agents = others;
        drop(inside);
        mine.into()
    }

    /// Asks the capture boxes along the path of a flow for a recording.
    pub fn ask_for_recording(&self, request: RecordingRequest) {
        push(&mut self.inside().recordings, request);
        self.changed.notify_one();
    }

    /// The requests for recordings since the last call.
    pub fn recording_requests(&self) -> Vec<RecordingRequest> {
        self.inside().recordings.drain(..).collect()
    }

    /// A message of the controller.
    pub(crate) fn receive(&self, message: ToMember) {
        match message {
            ToMember::Configuration { version, text } => self.configure(Held { version, text }),
            ToMember::ProbeFlows(requests) => {
                let mut inside = self.inside();
                inside.requests.extend(requests);
                let excess = inside.requests.len().saturating_sub(MAX_REQUESTS);
                inside.requests.drain(..excess);
            }
            ToMember::FromAgent(message) => push(&mut self.inside().from_agents, message),
            ToMember::Pinglist(pinglist) => self.keep_pinglist(pinglist),
            // Only a capture box reads them; an agent must not send them back.
            ToMember::Record(request) => {
                let mut inside = self.inside();
                if inside.state.role == Role::Capture {
                    push(&mut inside.recordings, *request);
                }
            }
        }
    }

    fn configure(&self, next: Held) {
        // Without the lock: it takes milliseconds.
        let checked = (self.check)(&next.text);
        let mut inside = self.inside();
        let before = inside.state.refused.take();
        inside.waiting = None;
        match checked {
            Ok(()) if next == inside.held => {}
            Ok(()) => inside.waiting = Some(next),
            Err(reason) => {
                // The controller sends it again with every connection.
                inside.state.refused = before;
                self.refuse(&mut inside, next.version, &reason);
            }
        }
        inside.state.waiting = inside.waiting.as_ref().map(|held| held.version);
        self.report(inside);
    }

    fn refuse(&self, inside: &mut Inside, version: u64, reason: &str) {
        let reason: String = visible(reason).chars().take(MAX_REASON).collect();
        let line = format!("refused version {version} of the controller's configuration: {reason}");
        let refused = Some(Refused { version, reason });
        if inside.state.refused != refused {
            (self.status)(&line);
            inside.state.refused = refused;
        }
    }

    fn report(&self, mut inside: MutexGuard<'_, Inside>) {
        inside.is_unsent = true;
        drop(inside);
        self.changed.notify_one();
    }

    /// What to send now; `is_first` on a new connection.
    pub(crate) fn outgoing(&self, is_first: bool) -> Vec<FromMember> {
        let mut inside = self.inside();
        let mut messages = Vec::new();
        if std::mem::take(&mut inside.is_unsent) || is_first {
            messages.push(FromMember::State(inside.state.clone()));
        }
        messages.extend(inside.small_flows.drain(..).map(FromMember::SmallFlows));
        messages.extend(inside.to_agents.drain(..).map(FromMember::ToAgent));
        if inside.state.role == Role::Agent {
            messages.extend(inside.recordings.drain(..).map(FromMember::Record));
        }
        messages
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Held, Member};
    use crate::control::message::{Role, ToMember};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex};

    fn send(member: &Member, version: u64, text: &str) {
        member.receive(ToMember::Configuration {
            version,
            text: text.into(),
        });
    }

    #[test]
    fn what_is_checked_waits_for_the_edge_and_what_is_refused_changes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("controlled.toml");
        let check = |text: &str| match text.contains("bad") {
            true => Err("bad\nsetting".to_owned()),
            false => Ok(()),
        };
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        let status = Arc::new(move |line: &str| lines.lock().unwrap().push(line.to_owned()));
        let member = Member::new(Role::Agent, &file, None, Box::new(check), status);
        send(&member, 3, "a = 1\n");
        assert_eq!((member.state().running, member.state().waiting), (0, Some(3)));
        assert_eq!(Held::read(&file).unwrap(), None, "before the edge");
        let held = member.take().unwrap();
        assert_eq!((held.version, &*held.text), (3, "a = 1\n"));
        assert_eq!(Held::read(&file).unwrap(), Some(held.clone()));
        assert_eq!(member.take(), None);
        send(&member, 4, "bad");
        // After each connection.
        send(&member, 4, "bad");
        assert_eq!(
            *log.lock().unwrap(),
            ["refused version 4 of the controller's configuration: bad\u{fffd}setting"]
        );
        let state = member.state();
        let refused = state.refused.unwrap();
        assert_eq!((state.running, state.waiting, refused.version), (3, None, 4));
        assert_eq!(refused.reason, "bad\u{fffd}setting");
        assert_eq!(Held::read(&file).unwrap(), Some(held.clone()));
        // A restart goes on with it, without a controller.
        let again = Member::new(
            Role::Agent,
            &file,
            Held::read(&file).unwrap(),
            Box::new(check),
            Arc::new(|_| {}),
        );
        assert_eq!(again.state().running, 3);
        send(&again, 3, "a = 1\n");
        assert_eq!(again.take(), None, "it runs already");
        // Another controller's third version is another one.
        send(&again, 3, "a = 2\n");
        assert_eq!(again.take().unwrap().text, "a = 2\n");
    }

    #[test]
    fn a_file_that_cannot_be_written_refuses_the_version() {
        let member = Member::new(
            Role::Capture,
            "/nowhere/x".as_ref(),
            None,
            Box::new(|_| Ok(())),
            Arc::new(|_| {}),
        );
        send(&member, 1, "");
        assert_eq!(member.take(), None);
        let state = member.state();
        assert_eq!(state.running, 0);
        assert!(state.refused.unwrap().reason.starts_with("cannot write /nowhere/x: "));
    }

    #[test]
    fn a_version_that_cannot_be_applied_is_refused_and_does_not_run() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("controlled.toml");
        let is_broken = Arc::new(AtomicBool::new(false));
        let broken = Arc::clone(&is_broken);
        let check = move |_: &str| match broken.load(Ordering::Relaxed) {
            true => Err("the host's own file is invalid".to_owned()),
            false => Ok(()),
        };
        let member = Member::new(Role::Agent, &file, None, Box::new(check), Arc::new(|_| {}));
        send(&member, 1, "a = 1\n");
        let held = member.take().unwrap();
        send(&member, 2, "a = 2\n");
        // After it was checked, and before it is taken.
        is_broken.store(true, Ordering::Relaxed);
        assert_eq!(member.take(), None);
        let state = member.state();
        assert_eq!((state.running, state.waiting), (1, None));
        let refused = state.refused.unwrap();
        assert_eq!(
            (refused.version, &*refused.reason),
            (2, "the host's own file is invalid")
        );
        assert_eq!(Held::read(&file).unwrap(), Some(held), "a restart runs what runs");
        // When the file is repaired, the controller may send it again.
        is_broken.store(false, Ordering::Relaxed);
        send(&member, 2, "a = 2\n");
        assert_eq!(member.take_as(|_| Err::<(), _>("no part takes it".into())), None);
        assert_eq!(member.state().running, 1);
        send(&member, 2, "a = 2\n");
        let (held, settings) = member.take_as(|held| Ok(held.text.len())).unwrap();
        assert_eq!((held.version, settings), (2, 6));
        let state = member.state();
        assert_eq!((state.running, state.refused), (2, None));
    }
}
