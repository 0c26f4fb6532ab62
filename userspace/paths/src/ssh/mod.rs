//! Sessions over SSH, by the OpenSSH client of this machine.
//!
//! The client brings what operators have set up: `ssh_config`, agents, jump hosts, hardware keys, and old algorithms for
//! single switches. One connection a device (a control master) carries all its sessions. Host keys are always checked
//! against `known_hosts`: an unknown or changed key is a failure, never a question.

mod address;
mod child;
mod folder;
mod master;
mod refusal;

use crate::driver::SessionKind;
use crate::transport::{Device, Failure, INTERRUPTED, Reply, Session, Transport};
pub(crate) use address::Address;
use child::{Channel, collect};
use folder::Folder;
use master::Master;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Options of the client.
#[derive(Debug, Clone, Default)]
pub struct SshOptions {
    /// User on the devices; default: as the client is configured.
    pub user: Option<String>,
    /// Private key.
    pub identity: Option<PathBuf>,
    /// Keys of the devices; default: `~/.ssh/known_hosts` and the system's.
    pub known_hosts: Option<PathBuf>,
    /// File with the password.
    pub password_file: Option<PathBuf>,
    /// Configuration of the client.
    pub config: Option<PathBuf>,
    /// Time to connect and log in.
    pub connect_limit: Duration,
}

/// Opens sessions with the OpenSSH client.
#[derive(Debug)]
pub struct Ssh {
    options: SshOptions,
    /// Control sockets, and the program that gives the client the password.
    folder: Folder,
    /// Connections by the name of the device; the lock of an entry is held while it is opened.
    masters: Mutex<HashMap<String, Arc<Mutex<Slot>>>>,
    /// The number of the next control socket.
    next: AtomicUsize,
    /// Whether all connections are to end.
    ended: Arc<AtomicBool>,
}

/// The connection to a device.
#[derive(Debug, Default)]
struct Slot {
    open: Weak<Master>,
    /// When it could not be opened, and why.
    failed: Option<(Instant, Failure)>,
}

impl Ssh {
    /// Prepares a private folder; connects to nothing.
    ///
    /// # Errors
    /// The folder cannot be written, or a file of the options not be read.
    pub fn new(options: SshOptions) -> std::io::Result<Self> {
        let files = [
            ("private key", &options.identity),
            ("password file", &options.password_file),
            ("configuration of the SSH client", &options.config),
        ];
        for (what, path) in files {
            let Some(path) = path else { continue };
            let named = |error: std::io::Error| {
                let message = format!("the {what} {}: {error}", path.display());
                std::io::Error::new(error.kind(), message)
            };
            fs::File::open(path).map_err(named)?;
        }
        let folder = Folder::create()?;
        if let Some(password) = &options.password_file {
            master::write_askpass(folder.path(), password)?;
        }
        Ok(Self {
            options,
            folder,
            masters: Mutex::default(),
            next: AtomicUsize::new(0),
            ended: Arc::default(),
        })
    }

    /// Ends all connections, and opens no other: commands that wait for an answer fail at once.
    ///
    /// A client that outlived this process would hold a session of its device forever.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        let masters = self.masters.lock().unwrap_or_else(PoisonError::into_inner);
        let slots: Vec<Arc<Mutex<Slot>>> = masters.values().cloned().collect();
        drop(masters);
        for slot in slots {
            // The thread that opens a connection notices the end, and releases the lock.
            let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(master) = slot.open.upgrade() {
                master.end();
            }
        }
    }

    /// The connection to a device, opened if there is none.
    fn master(&self, device: &Device) -> Result<Arc<Master>, Failure> {
        let began = Instant::now();
        let slot = {
            let mut masters = self.masters.lock().unwrap_or_else(PoisonError::into_inner);
            masters.entry(device.name.clone()).or_default().clone()
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if self.ended.load(Ordering::Relaxed) {
            return Err(interrupted());
        }
        if let Some(master) = slot.open.upgrade().filter(|master| master.is_alive()) {
            return Ok(master);
        }
        // Those that waited while another one failed do not wait again, each in its turn.
        if let Some((_, failure)) = slot.failed.as_ref().filter(|(at, _)| *at >= began) {
            return Err(failure.clone());
        }
        let address = Address::parse(&device.management).map_err(|error| Failure::new("management_invalid", error))?;
        let socket = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        let socket = self.folder.path().join(socket);
        let opened = Master::open(&self.options, self.folder.path(), &address, socket, &self.ended);
        let master = Arc::new(opened.inspect_err(|failure| slot.failed = Some((Instant::now(), failure.clone())))?);
        slot.open = Arc::downgrade(&master);
        Ok(master)
    }
}

fn interrupted() -> Failure {
    Failure::new(INTERRUPTED, "the run was ended")
}

impl Transport for Ssh {
    fn open(&self, device: &Device) -> Result<Box<dyn Session>, Failure> {
        let master = self.master(device)?;
        Ok(match device.session {
            SessionKind::Exec => Box::new(Exec(master)),
            SessionKind::Sh => {
                let opened = Shell::open(Arc::clone(&master));
                Box::new(opened.map_err(|failure| master.reason(failure))?)
            }
        })
    }
}

/// A channel for each command.
struct Exec(Arc<Master>);

impl Session for Exec {
    fn run(&mut self, command: &str, limit: Duration) -> Result<Reply, Failure> {
        let mut client = self.0.client(&[command]);
        collect(client.stdin(Stdio::null()), limit).map_err(|failure| self.0.reason(failure))
    }
}

/// A POSIX shell that runs one command after the other.
struct Shell {
    /// Keeps the connection.
    master: Arc<Master>,
    channel: Channel,
    commands: u64,
}

impl Shell {
    fn open(master: Arc<Master>) -> Result<Self, Failure> {
        let mut client: Command = master.client(&["sh"]);
        let mut channel = Channel::spawn(&mut client)?;
        channel.send("exec 2>&1\n")?;
        Ok(Self {
            master,
            channel,
            commands: 0,
        })
    }
}

impl Session for Shell {
    fn run(&mut self, command: &str, limit: Duration) -> Result<Reply, Failure> {
        self.commands += 1;
        let mark = format!("rocescope-end-{}", self.commands);
        // The output passes by on descriptor 3 while a variable keeps the errors. The mark begins a line even if the output
        // does not end one. `</dev/null`: a command must not read the next one.
        let line = format!(
            "{{ e=$( {{ {command}\n}} </dev/null 2>&1 >&3 3>&- ); }} 3>&1; s=$?; \
             printf '\\n%s\\n%s\\n%s %s\\n' {mark} \"$e\" {mark} $s\n"
        );
        let sent = self.channel.send(&line);
        let answer = sent.and_then(|()| self.channel.reply(&mark, limit));
        answer.map_err(|failure| self.master.reason(failure))
    }
}
