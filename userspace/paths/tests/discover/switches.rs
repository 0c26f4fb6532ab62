//! Switches without SSH, and what goes wrong with them.

use super::clos::Clos;
use rocescope_paths::transport::{Device, Failure, Reply, SESSION_REFUSED, Session, Transport};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Simulated switches: they parse the commands of their drivers and answer in the documented format.
pub(crate) struct Switches {
    pub(crate) clos: Clos,
    pub(crate) delay: Duration,
    pub(crate) faults: HashMap<String, Fault>,
    pub(crate) opened: AtomicUsize,
    pub(crate) open: Arc<[AtomicUsize; 2]>,
    /// Open sessions by device: the references beyond the first.
    pub(crate) of_device: Mutex<HashMap<String, Arc<()>>>,
    /// Questions to devices that hang.
    pub(crate) asked: Arc<AtomicUsize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Ends every third command's session.
    Cuts,
    Refuses,
    Sticks,
    /// Answers what it hashes, and then this many questions not.
    Hangs(usize),
    /// Refuses sessions beyond this number.
    Crowded(usize),
    Wrong(&'static str),
    /// Answers this to the question what it hashes.
    Hashes(&'static str),
}

impl Switches {
    pub(crate) fn new(clos: &Clos) -> Self {
        Self {
            clos: clos.clone(),
            delay: Duration::ZERO,
            faults: HashMap::new(),
            opened: AtomicUsize::new(0),
            open: Arc::default(),
            of_device: Mutex::default(),
            asked: Arc::default(),
        }
    }
}

impl Transport for Switches {
    fn open(&self, device: &Device) -> Result<Box<dyn Session>, Failure> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        let fault = self.faults.get(&device.name).copied();
        if fault == Some(Fault::Refuses) {
            return Err(Failure::new("login_refused", "Permission denied (publickey)."));
        }
        let mine = self
            .of_device
            .lock()
            .unwrap()
            .entry(device.name.clone())
            .or_default()
            .clone();
        if let Some(Fault::Crowded(most)) = fault
            && Arc::strong_count(&mine) > most + 1
        {
            return Err(Failure::new(SESSION_REFUSED, "the device refuses another session"));
        }
        let open = self.open[0].fetch_add(1, Ordering::Relaxed) + 1;
        self.open[1].fetch_max(open, Ordering::Relaxed);
        Ok(Box::new(Cli {
            open: self.open.clone(),
            _mine: mine,
            clos: self.clos.clone(),
            name: device.name.clone(),
            delay: self.delay,
            fault,
            asked: self.asked.clone(),
            commands: 0,
        }))
    }
}

impl Drop for Cli {
    fn drop(&mut self) {
        self.open[0].fetch_sub(1, Ordering::Relaxed);
    }
}

pub(crate) struct Cli {
    pub(crate) clos: Clos,
    /// Sessions that are open, and the most that were.
    pub(crate) open: Arc<[AtomicUsize; 2]>,
    /// Counted while the session is open.
    pub(crate) _mine: Arc<()>,
    pub(crate) name: String,
    pub(crate) delay: Duration,
    pub(crate) fault: Option<Fault>,
    pub(crate) asked: Arc<AtomicUsize>,
    pub(crate) commands: usize,
}

impl Session for Cli {
    fn run(&mut self, command: &str, limit: Duration) -> Result<Reply, Failure> {
        self.print(command, limit).map(|text| Reply::new(&text, "", 0))
    }
}

impl Cli {
    fn print(&mut self, command: &str, limit: Duration) -> Result<String, Failure> {
        self.commands += 1;
        thread::sleep(self.delay);
        match self.fault {
            Some(Fault::Cuts) if self.commands.is_multiple_of(3) => {
                return Err(Failure::new(
                    "session_over",
                    "the session ended: Connection reset by peer",
                ));
            }
            Some(Fault::Sticks) => {
                thread::sleep(limit);
                return Err(Failure::new("time_limit", "no answer within the limit"));
            }
            _ => {}
        }
        if !command.contains("10.") && !command.contains("fd00:") {
            return Ok(match self.fault {
                Some(Fault::Hashes(text)) => text.into(),
                _ => super::hashing::five_tuple(self.clos.driver),
            });
        }
        if let Some(Fault::Hangs(questions)) = self.fault
            && self.asked.fetch_add(1, Ordering::Relaxed) < questions
        {
            thread::sleep(limit);
            return Err(Failure::new("time_limit", "no answer within the limit"));
        }
        if let Some(Fault::Wrong(text)) = self.fault {
            return Ok(text.to_owned());
        }
        let words: Vec<&str> = command
            .split(|c: char| c.is_whitespace() || "\",".contains(c))
            .collect();
        let addresses = words.iter().filter_map(|word| word.parse::<IpAddr>().ok());
        let dst = match self.clos.driver {
            "linux" => addresses.clone().next().unwrap(),
            _ => addresses.clone().nth(1).unwrap(),
        };
        let port = words
            .iter()
            .filter_map(|word| word.parse().ok())
            .find(|port: &u16| *port >= 49_152)
            .unwrap();
        let egress = self.clos.egress(&self.name, dst, port);
        Ok(match self.clos.driver {
            "eos" => format!("Flow:\n  IPv4\nOutput Interface: {egress}\n"),
            "cumulus" => format!("ecmpcalc: will query hardware\nswp{}\n", &egress["Ethernet".len()..]),
            "sonic" => format!("Egress port: {egress}\n"),
            "nxos" => format!(
                "Load-share parameters used for software forwarding:\nload-share mode: address source-destination port \
                 source-destination\nHash for VRF \"default\"\nHashing to path *10.0.0.1 (Eth{})\n",
                &egress["Ethernet".len()..]
            ),
            "junos" => format!("Egress interface: {egress}\n"),
            _ => format!("{dst} from 10.0.0.1 via 10.0.0.9 dev {egress} \n    cache iif eth0\n"),
        })
    }
}
