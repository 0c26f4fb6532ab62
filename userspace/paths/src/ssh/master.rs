//! The connection to a device.

use super::SshOptions;
use super::address::Address;
use super::child::{end, time_limit};
use super::refusal;
use crate::transport::Failure;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A connection: a client that only shares it.
#[derive(Debug)]
pub(super) struct Master {
    child: Mutex<Child>,
    socket: PathBuf,
    address: Address,
    /// Whether all connections are to end.
    ended: Arc<AtomicBool>,
}

/// The name of the program that prints the password.
const ASKPASS: &str = "askpass";

/// Writes a program that prints the first line of a file, as the client wants it.
pub(super) fn write_askpass(folder: &Path, password: &Path) -> std::io::Result<()> {
    let password = fs::canonicalize(password)?;
    let quoted = password.to_string_lossy().replace('\'', r"'\''");
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o700)
        .open(folder.join(ASKPASS))?;
    writeln!(file, "#!/bin/sh\nhead -n 1 '{quoted}'")
}

impl Master {
    pub(super) fn open(
        options: &SshOptions,
        folder: &Path,
        address: &Address,
        socket: PathBuf,
        ended: &Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let mut command = Command::new("ssh");
        command.args(["-M", "-N", "-T", "-o", "ControlPersist=no", "-o", "LogLevel=ERROR"]);
        command.args([
            "-o",
            "StrictHostKeyChecking=yes",
            "-o",
            "UpdateHostKeys=no",
            "-o",
            "ServerAliveInterval=5",
        ]);
        command.args([
            "-o",
            "ForwardAgent=no",
            "-o",
            "ForwardX11=no",
            "-o",
            "ClearAllForwardings=yes",
        ]);
        command
            .arg("-o")
            .arg(format!("ConnectTimeout={}", options.connect_limit.as_secs().max(1)));
        command.arg("-S").arg(&socket);
        let option = |command: &mut Command, name: &str, path: &Path| {
            command.arg("-o").arg(format!("{name}=\"{}\"", path.display()));
        };
        if let Some(config) = &options.config {
            command.arg("-F").arg(config);
        }
        if let Some(known) = &options.known_hosts {
            option(&mut command, "UserKnownHostsFile", known);
            command.args(["-o", "GlobalKnownHostsFile=none"]);
        }
        if let Some(identity) = &options.identity {
            option(&mut command, "IdentityFile", identity);
            command.args(["-o", "IdentitiesOnly=yes"]);
        }
        if let Some(user) = &options.user {
            command.arg("-l").arg(user);
        }
        if let Some(port) = address.port {
            command.arg("-p").arg(port.to_string());
        }
        match options.password_file {
            Some(_) => {
                command.args(["-o", "BatchMode=no", "-o", "NumberOfPasswordPrompts=1"]);
                command
                    .env("SSH_ASKPASS", folder.join(ASKPASS))
                    .env("SSH_ASKPASS_REQUIRE", "force");
            }
            None => {
                command.args(["-o", "BatchMode=yes"]);
            }
        }
        command.arg("--").arg(&address.host);
        let pipes = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = pipes.spawn().map_err(|error| {
            Failure::new(
                "no_ssh",
                format!("cannot start `ssh`: {error}: install the OpenSSH client"),
            )
        })?;
        let errors = Arc::new(Mutex::new(String::new()));
        let reader = child.stderr.take().map(|pipe| {
            let errors = errors.clone();
            thread::spawn(move || keep(pipe, &errors))
        });
        let ends = Instant::now() + options.connect_limit;
        loop {
            if socket.exists() {
                return Ok(Self {
                    child: Mutex::new(child),
                    socket,
                    address: address.clone(),
                    ended: Arc::clone(ended),
                });
            }
            if !matches!(child.try_wait(), Ok(None)) {
                // The pipe ends with the process: all that it printed is read.
                let _ = reader.map(thread::JoinHandle::join);
                let text = errors.lock().unwrap_or_else(PoisonError::into_inner);
                return Err(refusal::of(&text, address, options.known_hosts.as_deref()));
            }
            if ended.load(Ordering::Relaxed) {
                end(&mut child);
                return Err(super::interrupted());
            }
            if Instant::now() >= ends {
                end(&mut child);
                let Failure { message, .. } = time_limit(options.connect_limit);
                return Err(Failure::new("unreachable", format!("cannot log in: {message}")));
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    pub(super) fn is_alive(&self) -> bool {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(child.try_wait(), Ok(None))
    }

    /// Ends the connection, and with it every client that shares it.
    pub(super) fn end(&self) {
        end(&mut self.child.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Why a command failed: perhaps because all connections ended.
    pub(super) fn reason(&self, failure: Failure) -> Failure {
        match self.ended.load(Ordering::Relaxed) {
            true => super::interrupted(),
            false => failure,
        }
    }

    /// A client that runs a command over this connection.
    pub(super) fn client(&self, command: &[&str]) -> Command {
        let mut client = Command::new("ssh");
        // No configuration: everything is decided by the connection, and a host that is not connected must not be.
        client.args([
            "-F",
            "none",
            "-T",
            "-o",
            "LogLevel=ERROR",
            "-o",
            "ControlMaster=no",
            "-o",
            "ProxyCommand=false",
        ]);
        client.arg("-S").arg(&self.socket);
        client.arg("--").arg(&self.address.host).args(command);
        client
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        end(child);
        let _ = fs::remove_file(&self.socket);
    }
}

/// Keeps what a client prints about its connection.
fn keep(mut pipe: impl Read, errors: &Mutex<String>) {
    let mut bytes = [0; 4096];
    while let Ok(length @ 1..) = pipe.read(&mut bytes) {
        let mut errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
        if errors.len() < 65_536 {
            errors.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
    }
}
