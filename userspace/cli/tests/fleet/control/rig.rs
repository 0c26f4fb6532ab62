//! Certificates, a controller, simulated members.

use rocescope::arguments::Command as Arguments;
use rocescope::configuration::controlled_arguments;
use rocescope_collector::control::message::{ControllerStatus, Role};
use rocescope_collector::control::{Member, Operator};
use rocescope_collector::server::{ControlSettings, Settings};
use rocescope_collector::{Files, Sender, Server, sender};
use rocescope_testkit::{Authority, Signed, binary, until_some};
use std::collections::HashMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An authority, and its directory.
pub(crate) struct Rig {
    authority: Authority,
    directory: tempfile::TempDir,
    /// What controllers reported.
    lines: Arc<Mutex<Vec<String>>>,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let rig = Self {
            authority: Authority::new(directory.path()),
            directory,
            lines: Arc::default(),
        };
        rig.sign("collector", &["localhost", "127.0.0.1"]);
        rig
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A certificate for these names.
    pub(crate) fn sign(&self, file: &str, names: &[&str]) -> Files {
        files(self.authority.sign(file, names))
    }

    /// A controller in this process, with this first version.
    pub(crate) fn controller(&self, first: &str) -> Server {
        self.controller_at(0, first)
    }

    /// One at this port.
    pub(crate) fn controller_at(&self, port: u16, first: &str) -> Server {
        let files = files(Signed::of(self.directory.path(), "collector"));
        let mut settings = Settings::new(SocketAddr::from(([127, 0, 0, 1], port)), files, self.path("dataset"));
        // Many threads on one machine take their turns.
        settings.patience = Duration::from_secs(60);
        settings.keep_alive = Duration::from_secs(60);
        settings.max_handshakes_per_address = 256;
        let lines = Arc::clone(&self.lines);
        settings.status = Arc::new(move |line| lines.lock().unwrap().push(line.to_owned()));
        settings.control = Some(ControlSettings {
            directory: self.path("control"),
            first: Some(first.to_owned()),
        });
        Server::start(settings, None).unwrap()
    }

    /// What controllers reported, in lines.
    pub(crate) fn lines(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }

    pub(crate) fn operator(&self, name: &str, port: u16) -> Operator {
        Operator::new(&url(port), self.sign(name, &[name])).unwrap()
    }

    /// A member without a process: it checks what it gets as a process does.
    pub(crate) fn member(&self, role: Role, name: &str, port: u16, checks: &Checks) -> (Arc<Member>, Sender) {
        let checks = checks.clone();
        let check = move |text: &str| checks.check(role, text);
        let member = Member::new(
            role,
            &self.path(&format!("{name}.toml")),
            None,
            Box::new(check),
            Arc::new(|_| {}),
        );
        let member = Arc::new(member);
        let mut settings = sender::Settings::new(url(port), self.sign(name, &[name]), name);
        settings.retry = (Duration::from_millis(20), Duration::from_millis(500));
        settings.patience = Duration::from_secs(60);
        let sender = Sender::start_with(None, Some(Arc::clone(&member)), settings).unwrap();
        (member, sender)
    }
}

/// The files of a certificate as the collector takes them.
pub(crate) fn files(signed: Signed) -> Files {
    Files {
        certificate: signed.certificate,
        key: signed.key,
        authority: signed.authority,
    }
}

pub(crate) fn url(port: u16) -> String {
    format!("https://localhost:{port}")
}

/// Checks as a process does. Members of one role share the result: on this machine they share two cores, in a fleet
/// each has its own.
#[derive(Clone, Default)]
pub(crate) struct Checks(Arc<Mutex<Known>>);

/// The results, by whether the member is an agent, and the text.
type Known = HashMap<(bool, String), Result<(), String>>;

impl Checks {
    fn check(&self, role: Role, text: &str) -> Result<(), String> {
        let mut known = self.0.lock().unwrap();
        let is_agent = role == Role::Agent;
        let checked = known.entry((is_agent, text.to_owned())).or_insert_with(|| {
            let line = match is_agent {
                true => &["rocescope", "counters"][..],
                false => &["rocescope", "capture", "-i", "lo"],
            };
            let line: Vec<OsString> = line.iter().map(OsString::from).collect();
            controlled_arguments(&line, text).map(|arguments| {
                assert!(matches!(
                    arguments.command,
                    Arguments::Counters(_) | Arguments::Capture(_)
                ));
            })
        });
        checked.clone()
    }
}

/// A port that is free.
pub(crate) fn free_port() -> u16 {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

/// Waits until a file has this text.
pub(crate) fn until_file_has(path: &Path, text: &str) {
    rocescope_testkit::until(text, || {
        std::fs::read_to_string(path).is_ok_and(|content| content.contains(text))
    });
}

/// Runs `rocescope collector` as an operator.
pub(crate) fn control(server: &Server, files: &Files, words: &[&str]) -> Output {
    let mut command = Command::new(binary());
    command
        .arg("collector")
        .args(words)
        .args(["--collector", &url(server.address().port())]);
    command
        .arg("--cert")
        .arg(&files.certificate)
        .arg("--key")
        .arg(&files.key)
        .arg("--ca")
        .arg(&files.authority);
    command.output().unwrap()
}

/// Looks until it is so, or fails.
pub(crate) fn until(operator: &Operator, what: &str, so: impl Fn(&ControllerStatus) -> bool) -> ControllerStatus {
    until_some(what, || operator.status().ok().filter(|status| so(status)))
}

/// Writes a file.
pub(crate) fn write(path: &Path, text: &str) -> PathBuf {
    std::fs::write(path, text).unwrap();
    path.to_owned()
}

/// Starts a process whose messages go to a file.
pub(crate) fn spawn(command: &mut Command, log: &Path) -> Child {
    let log = std::fs::File::create(log).unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command.spawn().unwrap()
}

/// Ends a process, which must succeed.
pub(crate) fn end(mut child: Child, log: &Path) {
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let status = child.wait().unwrap();
    assert!(status.success(), "{}", std::fs::read_to_string(log).unwrap());
}
