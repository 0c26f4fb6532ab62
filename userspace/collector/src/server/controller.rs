//! What the controller knows: the configuration in force, and every member with what it runs.
//!
//! | module | what it does |
//! |---|---|
//! | `claims` | what a member claims, and what of it is believed |
//! | `passing` | passes requests and messages on to members |
//! | `pinglists` | hands out whom agents probe |

mod claims;
mod passing;
pub(super) mod pinglists;

use super::settings::{ControlSettings, StatusSink, VERSIONS};
use crate::Error;
use crate::control::message::{
    AgentMessageTotals, Applied, ControllerStatus, DroppedRows, FlowTotals, MemberState, MemberStatus, RecordingTotals,
    Refused, ToMember, Version,
};
use crate::control::versions::Versions;
use crate::control::{Plan, durable};
use crate::spool::lock;
use crate::tls::Identity;
use claims::Claims;
use rocescope_diagnose::pinglist::Coverage;
use rocescope_model::human::plural;
use rocescope_runtime::clock::now;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Members that are remembered; beyond them, those that are away the longest are forgotten.
const MAX_MEMBERS: usize = 8192;
/// Texts that a member refused, which are remembered.
const MAX_REFUSED: usize = 16;
/// Lines of a kind in an answer to an operator.
const MAX_LINES: usize = 16;
/// Interval between two writes of the members.
const SAVE: Duration = Duration::from_millis(500);

/// The controller.
pub(crate) struct Controller {
    state: Mutex<State>,
    roster: PathBuf,
    /// The number of the version in force.
    version: watch::Sender<u64>,
    status: StatusSink,
    _lock: File,
}

struct State {
    versions: Versions,
    members: BTreeMap<String, Member>,
    /// The members differ from those on disk.
    is_changed: bool,
    flows: FlowTotals,
    agent_messages: AgentMessageTotals,
    recordings: RecordingTotals,
    dropped: DroppedRows,
    pinglists: Option<Coverage>,
}

struct Member {
    status: MemberStatus,
    /// What it said of itself.
    claims: Claims,
    /// Where requests for it go while it is connected, and the number of that connection.
    mailbox: Option<(u64, mpsc::Sender<ToMember>)>,
}

/// The subscription of a member.
pub(super) struct Seat {
    number: u64,
    pub(super) mail: mpsc::Receiver<ToMember>,
    pub(super) version: watch::Receiver<u64>,
}

impl Controller {
    /// Opens the directory of the controller.
    pub(super) fn open(settings: &ControlSettings, status: StatusSink) -> Result<Self, Error> {
        let directory = &settings.directory;
        let versions = Versions::open(&directory.join(VERSIONS), settings.first.as_deref(), now().0)?;
        let roster = directory.join("members.json");
        let lock = lock(directory)?;
        if let Some(first) = &settings.first
            && *first != versions.latest().text
        {
            status(&format!(
                "the file of --control differs from version {}, which is in force: `rocescope collector apply` applies it",
                versions.latest().number
            ));
        }
        // Without it only the names of those who are away are unknown.
        let known = std::fs::read(&roster).ok();
        let known: Vec<MemberStatus> = known
            .and_then(|json| serde_json::from_slice(&json).ok())
            .unwrap_or_default();
        let members = known.into_iter().map(|mut status| {
            if std::mem::take(&mut status.connected) {
                // It was there when the controller ended.
                status.since_ns = now().0;
            }
            status.state.waiting = None;
            claims::limit_status(&mut status);
            let claims = Claims::default();
            (
                status.name.clone(),
                Member {
                    status,
                    claims,
                    mailbox: None,
                },
            )
        });
        Ok(Self {
            version: watch::channel(versions.latest().number).0,
            state: Mutex::new(State {
                members: members.collect(),
                versions,
                is_changed: false,
                flows: FlowTotals::default(),
                agent_messages: AgentMessageTotals::default(),
                recordings: RecordingTotals::default(),
                dropped: DroppedRows::default(),
                pinglists: None,
            }),
            roster,
            status,
            _lock: lock,
        })
    }

    /// A member subscribes; its older subscription ends.
    pub(super) fn enter(&self, name: &str, number: u64) -> Seat {
        // More than the requests of a window.
        let (mailbox, mail) = mpsc::channel(64);
        let mut state = self.state();
        let State { versions, members, .. } = &mut *state;
        let group = versions.plan().group(name).map(|group| group.name.clone());
        let member = members.entry(name.to_owned()).or_insert_with(|| Member {
            status: MemberStatus {
                name: name.to_owned(),
                ..MemberStatus::default()
            },
            claims: Claims::default(),
            mailbox: None,
        });
        // What it said on an earlier connection is forgotten.
        member.claims = Claims::default();
        member.claims.settle(name, &mut member.status.state, versions.plan());
        member.mailbox = Some((number, mailbox));
        member.status.group = group;
        member.status.connected = true;
        member.status.since_ns = now().0;
        // What it reported on an earlier connection.
        member.status.state.waiting = None;
        state.is_changed = true;
        state.forget();
        Seat {
            number,
            mail,
            version: self.version.subscribe(),
        }
    }

    /// A subscription ended.
    pub(super) fn leave(&self, name: &str, seat: &Seat) {
        let mut state = self.state();
        let Some(member) = state.members.get_mut(name) else {
            return;
        };
        if member.mailbox.as_ref().is_none_or(|(number, _)| *number != seat.number) {
            return;
        }
        member.mailbox = None;
        member.status.connected = false;
        member.status.since_ns = now().0;
        // Whether it takes that, it reports when it returns.
        member.status.state.waiting = None;
        state.is_changed = true;
    }

    /// What a member is to run.
    pub(super) fn configuration(&self, name: &str) -> ToMember {
        let state = self.state();
        ToMember::Configuration {
            version: state.versions.latest().number,
            text: state.versions.plan().text(name),
        }
    }

    /// A member reports what it runs.
    pub(super) fn report(&self, identity: &Identity, mut reported: MemberState) {
        let name = &*identity.name;
        claims::limit(&mut reported);
        let mut state = self.state();
        let State {
            versions,
            members,
            dropped,
            ..
        } = &mut *state;
        let Some(member) = members.get_mut(name) else {
            return;
        };
        let doubted = member.claims.take(identity, &mut reported, versions.plan());
        let before = std::mem::replace(&mut member.status.state, reported.clone());
        dropped.add_since(&before.dropped, &reported.dropped);
        remember_refusal(&mut member.status, &before, versions);
        state.is_changed |= before != reported;
        drop(state);
        if let Some(doubted) = doubted {
            (self.status)(&doubted);
        }
        if reported.refused.is_some() && before.refused != reported.refused {
            let refused = reported.refused.unwrap_or_default();
            (self.status)(&format!(
                "{name} refused version {}: {}",
                refused.version, refused.reason
            ));
        } else if before.running != reported.running {
            let what = match reported.running {
                0 => "its own configuration".to_owned(),
                version => format!("version {version}"),
            };
            (self.status)(&format!("{name} runs {what}"));
        }
    }

    /// Whether a certificate of this name may apply.
    pub(super) fn is_operator(&self, name: &str) -> bool {
        self.state().versions.plan().is_operator(name)
    }

    /// Puts a text in force.
    pub(super) fn apply(&self, text: &str, by: &str) -> Result<Applied, String> {
        self.put(by, |versions| versions.apply(text, by, now().0))
    }

    /// Puts the text of an earlier version in force as the next version: of the one before, if no number is given.
    pub(super) fn roll_back(&self, number: Option<u64>, by: &str) -> Result<Applied, String> {
        self.put(by, |versions| versions.roll_back(number, by, now().0))
    }

    fn put(&self, by: &str, put: impl FnOnce(&mut Versions) -> Result<bool, String>) -> Result<Applied, String> {
        let mut state = self.state();
        let is_new = put(&mut state.versions)?;
        let State { versions, members, .. } = &mut *state;
        let plan: &Plan = versions.plan();
        for (name, member) in members.iter_mut() {
            member.status.group = plan.group(name).map(|group| group.name.clone());
            member.claims.settle(name, &mut member.status.state, plan);
        }
        let mut applied = Applied {
            version: versions.latest().number,
            text_of: versions.latest().text_of,
            is_new,
            ..state.outcome(state.versions.plan())
        };
        applied.warnings.extend(state.refused_before());
        state.is_changed = true;
        drop(state);
        if is_new {
            self.version.send_replace(applied.version);
            let members = plural(applied.members as u64, "member");
            let of = match applied.text_of {
                Some(number) => format!(", the text of version {number},"),
                None => String::new(),
            };
            (self.status)(&format!("{by} applied version {}{of} for {members}", applied.version));
            for warning in &applied.warnings {
                (self.status)(&format!("version {}: {warning}", applied.version));
            }
        }
        Ok(applied)
    }

    /// What [`apply`](Self::apply) would answer; changes nothing. Who is no operator could not apply it anyway.
    pub(super) fn check(&self, text: &str, by: &str) -> Result<Applied, String> {
        let state = self.state();
        let plan = match state.versions.plan().is_operator(by) {
            true => Versions::check(text, by)?,
            false => Plan::parse(text)?,
        };
        let latest = state.versions.latest();
        let is_new = text != latest.text;
        Ok(Applied {
            version: latest.number + u64::from(is_new),
            is_new,
            ..state.outcome(&plan)
        })
    }

    /// A version; without a number, the one in force.
    pub(super) fn version(&self, number: Option<u64>) -> Result<Version, String> {
        let state = self.state();
        match number {
            None => Ok(state.versions.latest().clone()),
            Some(number) => state.versions.get(number),
        }
    }

    /// What it knows.
    pub(crate) fn status(&self) -> ControllerStatus {
        let state = self.state();
        let latest = state.versions.latest();
        ControllerStatus {
            version: latest.number,
            text_of: latest.text_of,
            applied_ns: latest.applied_ns,
            applied_by: latest.applied_by.clone(),
            operators: state.versions.plan().operators.clone(),
            members: state.members.values().map(|member| member.status.clone()).collect(),
            flows: state.flows,
            agent_messages: state.agent_messages,
            recordings: state.recordings,
            dropped: state.dropped,
            pinglists: state.pinglists.clone(),
            unmatched: state.versions.plan().unmatched(&state.names()),
        }
    }

    /// Writes the members to disk if they changed, so that those who are away are known after a restart.
    pub(super) fn save(&self) {
        let mut state = self.state();
        if !std::mem::take(&mut state.is_changed) {
            return;
        }
        let members: Vec<&MemberStatus> = state.members.values().map(|member| &member.status).collect();
        let json = serde_json::to_vec(&members).unwrap_or_default();
        drop(state);
        if let Err(error) = durable::replace(&self.roster, &json) {
            self.state().is_changed = true;
            (self.status)(&format!("cannot write {}: {error}", self.roster.display()));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn names(&self) -> Vec<&str> {
        self.members.keys().map(String::as_str).collect()
    }

    /// Whom a plan concerns, and what of it concerns no one.
    fn outcome(&self, plan: &Plan) -> Applied {
        let names = self.names();
        Applied {
            members: names.len(),
            away: self.members.values().filter(|member| !member.status.connected).count(),
            without_group: names.iter().filter(|name| plan.group(name).is_none()).count(),
            warnings: few(plan.unmatched(&names)),
            ..Applied::default()
        }
    }

    /// The members that refused the text in force as an earlier version, each in a line.
    fn refused_before(&self) -> Vec<String> {
        let first = self.versions.latest().first_with_text();
        let refused = self.members.values().flat_map(|member| {
            let of_text = member.status.refused.iter().filter(|refused| refused.version == first);
            of_text.map(|refused| {
                let (name, reason) = (&member.status.name, &refused.reason);
                format!("{name} refused this text as version {first}: {reason}")
            })
        });
        few(refused.collect())
    }

    fn forget(&mut self) {
        while self.members.len() > MAX_MEMBERS {
            let away = self.members.values().filter(|member| member.mailbox.is_none());
            let Some(oldest) = away.min_by_key(|member| member.status.since_ns) else {
                return;
            };
            let name = oldest.status.name.clone();
            self.members.remove(&name);
        }
    }
}

/// Keeps which texts a member refused, until it takes them.
fn remember_refusal(member: &mut MemberStatus, before: &MemberState, versions: &Versions) {
    let now = &member.state;
    if now.running != before.running {
        let first = versions.first_with_text_of(now.running);
        member.refused.retain(|refused| refused.version != first);
    }
    if let Some(refused) = now.refused.clone().filter(|_| now.refused != before.refused) {
        let version = versions.first_with_text_of(refused.version);
        member.refused.retain(|known| known.version != version);
        member.refused.push(Refused { version, ..refused });
        let excess = member.refused.len().saturating_sub(MAX_REFUSED);
        member.refused.drain(..excess);
    }
}

/// The first of these lines, and how many more there are.
fn few(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MAX_LINES);
    if more > 0 {
        lines.truncate(MAX_LINES);
        lines.push(format!("and {more} more"));
    }
    lines
}

/// Saves the members until the controller is gone.
pub(super) fn keep_saving(controller: &Arc<Controller>) -> std::io::Result<()> {
    let controller = Arc::downgrade(controller);
    let run = move || {
        while let Some(controller) = controller.upgrade() {
            controller.save();
            drop(controller);
            std::thread::sleep(SAVE);
        }
    };
    std::thread::Builder::new().name("members".into()).spawn(run).map(drop)
}
