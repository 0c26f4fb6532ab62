//! The script of a run: hosts, flows, and a cause that acts on the packets and on the NICs alike.

use super::cause::Cause;
use super::nic::Driver::{self, Bnxt, Irdma, Mlx5, Rxe};
use super::random::Random;
use super::world::address;
use std::fmt::Write;

/// A flow: one queue pair at each end.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) src: usize,
    pub(super) dst: usize,
    pub(super) qpn: u32,
    pub(super) rate_kbps: u64,
    /// Further keys of the scenario.
    keys: String,
    pub(super) is_mirrored: bool,
}

/// Where the verdict must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Host(usize),
    Ends(usize, usize),
    Mirror,
}

/// A run.
pub(super) struct Script {
    pub(super) cause: Cause,
    pub(super) drivers: Vec<Driver>,
    pub(super) flows: Vec<Flow>,
    pub(super) culprit: usize,
    /// Another host that the cause concerns.
    pub(super) other: usize,
    /// Seconds in which the cause acts.
    pub(super) from: u64,
    pub(super) until: u64,
    pub(super) seconds: u64,
    /// Seconds between two reads of counters.
    pub(super) interval: u64,
    pub(super) expected: Option<Expected>,
    /// How often the timers of requesters may expire in a row.
    pub(super) retries: u32,
    /// Queue pairs that vanish with the application.
    pub(super) vanished: u32,
    pub(super) unread: Option<usize>,
    /// Share of the hosts whose agents measure the latency of small operations.
    pub(super) measured: f64,
    pub(super) mirror: String,
    pub(super) random: Random,
}

impl Script {
    pub(super) fn new(cause: Cause, seed: u64) -> Self {
        let mut random = Random::new(seed * 31 + cause as u64);
        let hosts = random.between(4, 7) as usize;
        let any: &[Driver] = match cause {
            // Every sender must count its retransmissions.
            Cause::MirrorRepeats => &[Mlx5, Bnxt, Rxe],
            _ => &[Mlx5, Bnxt, Irdma, Rxe],
        };
        let mut drivers: Vec<Driver> = (0..hosts).map(|_| random.pick(any)).collect();
        let culprit = random.between(0, hosts as u64 - 1) as usize;
        drivers[culprit] = random.pick(cause.drivers());
        let other = (culprit + random.between(1, hosts as u64 - 1) as usize) % hosts;
        let from = random.between(35, 60);
        let (until, interval) = (from + random.between(35, 50), random.pick(&[1, 2, 5]));
        let mut script = Self {
            culprit,
            other,
            from,
            until,
            interval,
            random,
            measured: 0.6,
            ..Self::plain(cause, drivers, 130)
        };
        script.usual_flows();
        script.look_alikes();
        script.cause_flows();
        script
    }

    /// Hosts without flows.
    pub(super) fn plain(cause: Cause, drivers: Vec<Driver>, seconds: u64) -> Self {
        Self {
            cause,
            drivers,
            flows: Vec::new(),
            culprit: 0,
            other: 0,
            from: 0,
            until: seconds,
            seconds,
            interval: 1,
            expected: None,
            retries: 7,
            vanished: 0,
            unread: None,
            measured: 1.0,
            mirror: String::new(),
            random: Random::new(seconds),
        }
    }

    pub(super) fn flow(&mut self, src: usize, dst: usize, rate_kbps: u64, keys: &str) -> usize {
        let qpn = 0x100 + self.flows.len() as u32 * 2;
        self.flows.push(Flow {
            src,
            dst,
            qpn,
            rate_kbps,
            keys: keys.to_owned(),
            is_mirrored: true,
        });
        self.flows.len() - 1
    }

    /// Every host sends to the next, and some to others.
    fn usual_flows(&mut self) {
        let hosts = self.drivers.len();
        let (low, high) = if self.cause == Cause::Busy {
            (300, 700)
        } else {
            (60, 160)
        };
        for src in 0..hosts {
            let rate = self.random.between(low, high);
            // A packet is lost now and then.
            self.flow(src, (src + 1) % hosts, rate, "loss = [{ probability = 0.0002 }]\n");
        }
        for _ in 0..self.random.between(0, 3) {
            let src = self.random.between(0, hosts as u64 - 1) as usize;
            let dst = (src + self.random.between(1, hosts as u64 - 1) as usize) % hosts;
            let rate = self.random.between(low, high);
            self.flow(src, dst, rate, "operation = \"write\"\n");
        }
    }

    /// Loads that look like a fault for a moment, or to a smaller degree.
    fn look_alikes(&mut self) {
        let hosts = self.drivers.len();
        let at = |script: &mut Self| script.random.between(5, 100);
        let pair = |script: &mut Self| {
            let src = script.random.between(0, hosts as u64 - 1) as usize;
            (src, (src + script.random.between(1, hosts as u64 - 1) as usize) % hosts)
        };
        if self.random.happens(0.5) {
            // A job starts before its receiver has posted its buffers, and ends soon.
            let ((src, dst), start) = (pair(self), at(self));
            let keys = format!("start = \"{start}s\"\nmessages = 12\nrnr = {{ probability = 0.5 }}\n");
            self.flow(src, dst, 100, &keys);
        }
        if self.random.happens(0.5) || self.cause == Cause::Busy {
            // Congestion control at work.
            let (src, dst) = pair(self);
            let keys = "ecn = { mark = 0.004, cut = 0.3, recovery = \"10ms\" }\n";
            self.flow(src, dst, 150, keys);
        }
        if self.random.happens(0.5) || self.cause == Cause::Busy {
            // A big flow that starts, changes its rate once, and stops.
            let ((src, dst), start) = (pair(self), at(self).min(70));
            let (change, stop) = (start + 15, start + 40);
            let keys = format!(
                "start = \"{start}s\"\nstop = \"{stop}s\"\nrate_changes = [{{ at = \"{change}s\", rate = \"550kbit/s\" }}]\n"
            );
            self.flow(src, dst, 900, &keys);
        }
        if self.cause == Cause::Busy {
            // Compute and communicate by turns.
            for step in 0..4 {
                let (src, dst) = pair(self);
                let (start, stop) = (10 + step * 25, 22 + step * 25);
                let keys = format!("start = \"{start}s\"\nstop = \"{stop}s\"\n");
                self.flow(src, dst, 800, &keys);
            }
        }
    }

    fn cause_flows(&mut self) {
        let (from, until, culprit, other) = (self.from, self.until, self.culprit, self.other);
        let hosts = self.drivers.len();
        let span = format!("from = \"{from}s\", until = \"{until}s\"");
        let in_span = format!("start = \"{from}s\"\nstop = \"{until}s\"\n");
        self.expected = self.cause.class().map(|_| Expected::Host(culprit));
        match self.cause {
            Cause::Quiet | Cause::Busy => {}
            // No one reseats the NIC.
            Cause::Pcie => self.until = self.seconds,
            Cause::ReceiverDied => {
                let connections = self.random.between(1, 3);
                self.vanished = connections as u32;
                for _ in 0..connections {
                    let keys = format!("loss = [{{ probability = 1, where = \"downstream\", from = \"{from}s\" }}]\n");
                    self.flow(other, culprit, 120, &keys);
                }
            }
            Cause::OneSender => {
                let mark = self.random.share(0.08, 0.3);
                let keys = format!("ecn = {{ mark = {mark}, {span}, cut = 0.5, recovery = \"20ms\" }}\n");
                self.flow(culprit, other, 400, &keys);
            }
            Cause::Incast => {
                // To the host at fault.
                for src in (0..hosts).filter(|src| *src != culprit) {
                    let keys = format!("ecn = {{ mark = 0.12, {span}, cut = 0.5, recovery = \"20ms\" }}\n");
                    self.flow(src, culprit, 150, &keys);
                }
            }
            Cause::Jitter => {
                let mut keys = String::from("rate_changes = [");
                let (mut at, mut is_high) = (from, true);
                while at < until {
                    let rate = if is_high {
                        self.random.between(1_000, 1_300)
                    } else {
                        self.random.between(500, 600)
                    };
                    write!(keys, "{{ at = \"{at}s\", rate = \"{rate}kbit/s\" }}, ").unwrap();
                    at += self.random.between(3, 5);
                    is_high = !is_high;
                }
                keys += "]\n";
                self.flow(culprit, other, 550, &keys);
                self.expected = Some(Expected::Ends(culprit, other));
            }
            Cause::SlowReceiver => {
                for _ in 0..self.random.between(1, 2) {
                    self.flow(
                        other,
                        culprit,
                        200,
                        &format!("{in_span}rnr = {{ probability = 0.6 }}\n"),
                    );
                }
            }
            Cause::DamagedCable => {
                self.lose_at(culprit, 0.03, true);
            }
            Cause::FlappingCable => self.cut_off(culprit, 200),
            Cause::LinkDown | Cause::NicVanished => {
                // Connections die of it, or wait for the link.
                let retries = self.random.pick(&[7, 200]);
                self.cut_off(culprit, retries);
            }
            Cause::PauseStorm => {
                let keys = format!(
                    "rate_changes = [{{ at = \"{from}s\", rate = \"40kbit/s\" }}, {{ at = \"{until}s\", rate = \"200kbit/s\" }}]\n"
                );
                self.flow(other, culprit, 200, &keys);
            }
            Cause::NoCnps => {
                self.flow(other, culprit, 300, &format!("ecn = {{ mark = 0.3, {span} }}\n"));
            }
            Cause::CnpsIgnored => {
                self.flow(culprit, other, 400, &format!("ecn = {{ mark = 0.3, {span} }}\n"));
            }
            Cause::Loss => {
                let place = self.random.pick(&["upstream", "downstream"]);
                for _ in 0..2 {
                    let keys = format!("loss = [{{ probability = 0.04, where = \"{place}\", {span} }}]\n");
                    self.flow(culprit, other, 250, &keys);
                }
                self.expected = Some(Expected::Ends(culprit, other));
            }
            Cause::ReadLoss => {
                // From the responder to the requester.
                let place = self.random.pick(&["upstream", "downstream"]);
                for _ in 0..2 {
                    let loss = format!("probability = 0.02, of = \"responses\", where = \"{place}\", {span}");
                    let keys = format!("operation = \"read\"\nloss = [{{ {loss} }}]\n");
                    self.flow(other, culprit, 250, &keys);
                }
                self.expected = Some(Expected::Ends(culprit, other));
            }
            Cause::ReceiverDrops => {
                for _ in 0..2 {
                    let keys = format!("loss = [{{ probability = 0.05, where = \"downstream\", {span} }}]\n");
                    self.flow(other, culprit, 250, &keys);
                }
            }
            Cause::MirrorRepeats => {
                self.mirror = "[mirror]\ncopies = 0.06\ncopy_delay = \"400us\"\n".into();
                // The mirror repeats from its start on.
                (self.from, self.until) = (0, self.seconds);
                self.expected = Some(Expected::Mirror);
            }
            Cause::MirrorLacks => {
                self.flow(culprit, other, 150, "");
                let keys = format!("loss = [{{ probability = 0.08, {span} }}]\n");
                let unseen = self.flow(culprit, other, 300, &keys);
                self.flows[unseen].is_mirrored = false;
            }
        }
        if self.random.happens(0.4) && !matches!(self.cause, Cause::MirrorRepeats) {
            let number = self.random.between(0, hosts as u64 - 1) as usize;
            let is_concerned = number == culprit || number == other || self.cause == Cause::Incast;
            self.unread = (!is_concerned).then_some(number);
        }
    }

    /// What arrives at a host is lost downstream of the tap.
    fn lose_at(&mut self, host: usize, probability: f64, is_receiver: bool) {
        let (from, until) = (self.from, self.until);
        for flow in self.flows.iter_mut().filter(|flow| flow.dst == host && is_receiver) {
            flow.keys = format!(
                "loss = [{{ probability = {probability}, where = \"downstream\", from = \"{from}s\", until = \"{until}s\" }}]\n"
            );
        }
    }

    /// Nothing passes while the link is down.
    fn cut_off(&mut self, host: usize, retries: u32) {
        self.retries = retries;
        let cuts: Vec<String> = self
            .outages()
            .into_iter()
            .map(|(from, until)| {
                format!("{{ probability = 1, where = \"downstream\", from = \"{from}s\", until = \"{until}s\" }}")
            })
            .collect();
        for flow in self
            .flows
            .iter_mut()
            .filter(|flow| flow.dst == host || flow.src == host)
        {
            flow.keys = format!(
                "loss = [{}]\nretries = {retries}\ntimeout = \"200ms\"\n",
                cuts.join(", ")
            );
        }
    }

    /// Seconds in which the link of the host at fault is down, or its NIC is gone.
    pub(super) fn outages(&self) -> Vec<(u64, u64)> {
        match self.cause {
            Cause::FlappingCable => (self.from..self.until).step_by(12).map(|at| (at, at + 2)).collect(),
            Cause::LinkDown | Cause::NicVanished => vec![(self.from, self.until)],
            _ => Vec::new(),
        }
    }

    /// The scenario of the flows that fit.
    pub(super) fn scenario(&self, mirror: &str, fits: impl Fn(&Flow) -> bool) -> String {
        let mut text = format!("duration = \"{}s\"\nsnaplen = 96\n{mirror}", self.seconds);
        for flow in self.flows.iter().filter(|flow| fits(flow)) {
            let Flow {
                src,
                dst,
                qpn,
                rate_kbps,
                keys,
                ..
            } = flow;
            let operation = if keys.contains("operation") {
                ""
            } else {
                "operation = \"send\"\n"
            };
            write!(
                text,
                "\n[[flows]]\nsrc = \"{}\"\ndst = \"{}\"\nqpn = {qpn}\nsrc_qpn = {}\nrate = \"{rate_kbps}kbit/s\"\n\
                 message = 4096\ndepth = 8\ncm = false\n{operation}{keys}",
                address(*src),
                address(*dst),
                qpn + 1
            )
            .unwrap();
        }
        text
    }
}
