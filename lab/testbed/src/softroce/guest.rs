//! One guest: a process of qemu, a channel for scripts, and the monitor of qemu for the mirror.

use super::image::Image;
use super::shape::Shape;
use super::taps::{PORTS, Taps};
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use xtask::product::text;

/// The number of the guest in the center.
const FIRST: u8 = 1;
/// Memory of each of the two NUMA nodes.
const NODE_MEMORY: &str = "768M";
/// How long qemu may take to open its sockets.
const START: Duration = Duration::from_secs(10);
/// How long a guest may take to boot: it takes 15 s on two cores.
const BOOT: Duration = Duration::from_secs(180);
/// How long a command of a moment may take.
const SHORT: Duration = Duration::from_secs(60);

/// A running guest.
#[derive(Debug)]
pub(super) struct Guest {
    number: u8,
    qemu: Child,
    control: BufReader<UnixStream>,
    monitor: BufReader<UnixStream>,
    console: PathBuf,
}

/// How a script ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// Its exit status.
    pub(super) status: i32,
    /// What it printed, errors included.
    pub(super) output: String,
}

impl Guest {
    /// Starts a guest. The NICs of a guest and the wires to the other guests are ports of one hub; so are the mirror ports
    /// of the host, for the guest that gets them. The wires are between the first guest and each other one.
    pub(super) fn start(
        number: u8,
        shape: Shape,
        image: &Image,
        directory: &Path,
        payload: &Path,
        taps: Option<&Taps>,
    ) -> Result<Self> {
        let sockets = directory.join("run");
        fs::create_dir_all(&sockets)?;
        let file = |name: &str| sockets.join(format!("{name}{number}"));
        let (control, monitor, console) = (file("control"), file("monitor"), file("console"));
        let is_center = number == FIRST;
        let wires: Vec<u8> = if is_center {
            (2..=shape.guests()).collect()
        } else {
            vec![number]
        };
        let wires: Vec<(u8, PathBuf)> = wires
            .into_iter()
            .map(|to| (to, sockets.join(format!("wire{to}"))))
            .collect();
        // The kernel's limit of the path of a socket.
        ensure!(
            text(&monitor).len() < 100,
            "the path {} is too long for a socket",
            monitor.display()
        );
        let mut stale = vec![&control, &monitor];
        if is_center {
            stale.extend(wires.iter().map(|(_, wire)| wire));
        }
        for socket in stale.into_iter().filter(|socket| socket.exists()) {
            fs::remove_file(socket)?;
        }
        let mut arguments: Vec<String> = Vec::new();
        let mut add = |option: &str, value: String| arguments.extend([option.to_owned(), value]);
        add("-accel", "tcg,thread=multi".into());
        add("-cpu", "max".into());
        add("-machine", "pc,usb=off,vmport=off".into());
        add("-m", "1536M".into());
        for node in 0..2 {
            add(
                "-object",
                format!("memory-backend-ram,id=memory{node},size={NODE_MEMORY}"),
            );
        }
        add("-numa", "node,nodeid=0,memdev=memory0,cpus=0".into());
        add("-numa", "node,nodeid=1,memdev=memory1,cpus=1".into());
        add("-smp", "2".into());
        add("-kernel", text(&image.kernel));
        add("-initrd", text(&image.initramfs));
        // The frequency of the TSC is measured while the guest boots: on a busy machine half of the true one was found.
        let quiet = "console=ttyS0 quiet panic=-1 mitigations=off nokaslr audit=0 edd=off tsc=reliable \
                     clocksource=hpet";
        add("-append", format!("{quiet} guest={number} {}", shape.words()));
        for disk in [&image.disk, &payload.to_owned()] {
            add(
                "-drive",
                format!("file={},format=raw,if=virtio,readonly=on", text(disk)),
            );
        }
        add("-serial", format!("file:{}", text(&console)));
        add(
            "-chardev",
            format!("socket,id=control,path={},server=on,wait=off", text(&control)),
        );
        add("-device", "virtio-serial-pci".into());
        add("-device", "virtserialport,chardev=control,name=control".into());
        add("-qmp", format!("unix:{},server=on,wait=off", text(&monitor)));
        let server = if is_center { "on" } else { "off" };
        for (to, wire) in &wires {
            let socket = format!("addr.type=unix,addr.path={}", text(wire));
            add("-netdev", format!("stream,id=wire{to},server={server},{socket}"));
            add("-netdev", format!("hubport,id=out{to},hubid=0,netdev=wire{to}"));
        }
        // Without offloads, so that every frame is one packet.
        let plain = "csum=off,guest_csum=off,gso=off,guest_tso4=off,guest_tso6=off,guest_ecn=off,guest_ufo=off,\
                     host_tso4=off,host_tso6=off,host_ecn=off,host_ufo=off,romfile=";
        for rail in 0..shape.emulated() {
            add("-netdev", format!("hubport,id=port{rail},hubid=0"));
            let mac = format!("52:54:00:77:{rail:02}:{number:02}");
            add("-device", format!("virtio-net-pci,netdev=port{rail},mac={mac},{plain}"));
        }
        for port in taps.iter().flat_map(|_| PORTS) {
            add(
                "-netdev",
                format!("tap,id={port},ifname={port},script=no,downscript=no"),
            );
            add("-netdev", format!("hubport,id=hub-{port},hubid=0,netdev={port}"));
        }
        // It ends with this process, whatever ends that.
        let mut qemu = match taps {
            Some(taps) => taps.enter("setpriv"),
            None => Command::new("setpriv"),
        };
        let qemu = qemu
            .args([
                "--pdeathsig",
                "KILL",
                "qemu-system-x86_64",
                "-nodefaults",
                "-nographic",
                "-no-reboot",
            ])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(file("qemu"))?)
            .spawn()
            .context("qemu-system-x86_64")?;
        let mut guest = Self {
            number,
            control: connect(&control).with_context(|| file("qemu").display().to_string())?,
            monitor: connect(&monitor)?,
            qemu,
            console,
        };
        guest.greet()?;
        Ok(guest)
    }

    /// Waits until it runs scripts; returns the version of its kernel.
    pub(super) fn wait(&mut self) -> Result<String> {
        let ended = self.end(BOOT).with_context(|| {
            let (number, console) = (self.number, self.console.display());
            format!("guest {number} did not boot: its console is {console}")
        })?;
        self.set_clock()?;
        Ok(ended.output.trim().to_owned())
    }

    /// Runs a script; one that fails is an error with its output.
    pub(super) fn run(&mut self, script: &str, limit: Duration) -> Result<String> {
        self.begin(script)?;
        let ended = self.end(limit)?;
        let (number, status) = (self.number, ended.status);
        ensure!(
            status == 0,
            "guest {number}: `{script}` ended with {status}: {}",
            ended.output.trim()
        );
        Ok(ended.output)
    }

    /// Sends a script.
    pub(super) fn begin(&mut self, script: &str) -> Result<()> {
        let control = self.control.get_mut();
        control.write_all(format!("{}\n{script}", script.len()).as_bytes())?;
        Ok(())
    }

    /// Waits for the end of the script.
    pub(super) fn end(&mut self, limit: Duration) -> Result<Ended> {
        let end = Instant::now() + limit;
        let header = self.line(end)?;
        let (status, length) = header.trim().split_once(' ').context("an answer without a length")?;
        let (status, length) = (status.parse()?, length.parse()?);
        let mut output = vec![0; length];
        self.patience(end)?;
        self.control.read_exact(&mut output).context("the output of a script")?;
        let output = String::from_utf8_lossy(&output).into_owned();
        Ok(Ended { status, output })
    }

    fn line(&mut self, end: Instant) -> Result<String> {
        self.patience(end)?;
        let mut line = String::new();
        let number = self.number;
        let read = self.control.read_line(&mut line);
        ensure!(
            read.with_context(|| format!("guest {number} does not answer"))? > 0,
            "guest {number} ended"
        );
        Ok(line)
    }

    fn patience(&self, end: Instant) -> Result<()> {
        let rest = end.saturating_duration_since(Instant::now());
        let rest = rest.max(Duration::from_millis(1));
        Ok(self.control.get_ref().set_read_timeout(Some(rest))?)
    }

    /// Writes a file in the guest.
    pub(super) fn put(&mut self, name: &str, content: &str) -> Result<()> {
        self.run(&format!("cat > {name} <<'END-OF-FILE'\n{content}END-OF-FILE\n"), SHORT)?;
        Ok(())
    }

    /// Copies a directory of the guest into one of the host.
    pub(super) fn fetch(&mut self, name: &str, into: &Path) -> Result<()> {
        let packed = self.run(&format!("tar -c {name} | base64"), SHORT)?;
        let mut unpack = Command::new("sh");
        unpack.args(["-ec", "base64 -d | tar -x"]).current_dir(into);
        let mut unpack = unpack.stdin(Stdio::piped()).spawn().context("base64")?;
        let input = unpack.stdin.take().context("no pipe")?;
        { input }.write_all(packed.as_bytes())?;
        ensure!(
            unpack.wait()?.success(),
            "{name} of guest {} is no archive",
            self.number
        );
        Ok(())
    }

    /// Sets its clock to that of the host: what emulates it has one of whole seconds.
    fn set_clock(&mut self) -> Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        self.run(&format!("date -s @{:.3}", now.as_secs_f64()), SHORT)?;
        Ok(())
    }

    /// Copies every frame of the wire to the second guest into a file, until [`end_mirror`](Self::end_mirror). The hub sends
    /// every frame of every guest over it.
    pub(super) fn mirror(&mut self, file: &Path) -> Result<()> {
        self.ask(&json!({
            "execute": "object-add",
            "arguments": {
                "qom-type": "filter-dump", "id": "mirror", "netdev": "wire2", "file": text(file), "maxlen": 65_536,
            },
        }))
    }

    /// Ends the mirror; the file is complete then.
    pub(super) fn end_mirror(&mut self) -> Result<()> {
        self.ask(&json!({ "execute": "object-del", "arguments": { "id": "mirror" } }))
    }

    fn greet(&mut self) -> Result<()> {
        let mut greeting = String::new();
        self.monitor.read_line(&mut greeting)?;
        self.ask(&json!({ "execute": "qmp_capabilities" }))
    }

    fn ask(&mut self, request: &Value) -> Result<()> {
        self.monitor.get_mut().write_all(format!("{request}\n").as_bytes())?;
        loop {
            let mut line = String::new();
            ensure!(self.monitor.read_line(&mut line)? > 0, "qemu ended");
            let answer: Value = serde_json::from_str(&line)?;
            if let Some(error) = answer.get("error") {
                bail!("qemu refused {request}: {error}");
            }
            // Anything else is an event.
            if answer.get("return").is_some() {
                return Ok(());
            }
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // The disk is read-only: nothing is lost.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

fn connect(path: &Path) -> Result<BufReader<UnixStream>> {
    let begun = Instant::now();
    loop {
        match UnixStream::connect(path) {
            Ok(stream) => return Ok(BufReader::new(stream)),
            Err(error) if begun.elapsed() > START => {
                return Err(error).with_context(|| format!("qemu opened no {}", path.display()));
            }
            Err(_) => sleep(Duration::from_millis(50)),
        }
    }
}
