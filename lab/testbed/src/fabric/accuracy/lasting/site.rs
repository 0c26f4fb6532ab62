//! A fabric with a network of its own for rows: a collector that analyzes, and agents that send to it.

use super::super::Options;
use super::super::agents::pace;
use crate::fabric::fault;
use crate::fabric::live::Kept;
use crate::fabric::namespace::{command, ip, output};
use anyhow::{Context, Result, ensure};
use rocescope_fabric::Rails;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The network of rows; the collector has its first address.
const NETWORK: &str = "192.168.9";
const PORT: u16 = 4792;
/// Rows come at most this long after their window: an agent writes its spool every second.
const LATENESS: &str = "3s";

/// The processes of a case; dropping this ends them, then the fabric.
#[derive(Debug)]
pub(super) struct Site {
    agents: BTreeMap<String, Child>,
    collector: Option<Child>,
    rocescope: PathBuf,
    directory: PathBuf,
    scale: u32,
    pub(super) fabric: Kept,
}

impl Site {
    /// Builds the fabric, and starts the collector. Files go to `directory`.
    pub(super) fn up(size: Rails, rocescope: &Path, options: &Options, directory: &Path) -> Result<Self> {
        let mut site = Self {
            agents: BTreeMap::new(),
            collector: None,
            rocescope: rocescope.to_owned(),
            directory: directory.to_owned(),
            scale: options.scale,
            fabric: Kept::up(size)?,
        };
        fs::create_dir_all(directory)?;
        fs::write(directory.join(super::super::TOPOLOGY), size.build()?.to_toml())?;
        site.connect()?;
        site.certify()?;
        for host in site.hosts() {
            fs::write(site.at(&format!("{host}.toml")), site.configuration(&host, options))?;
        }
        site.start_collector()?;
        Ok(site)
    }

    pub(super) fn hosts(&self) -> Vec<String> {
        let hosts = self.fabric.wiring.nodes.iter().filter(|node| node.is_host);
        hosts.map(|node| node.name.clone()).collect()
    }

    fn at(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    fn management(&self) -> String {
        format!("{}-rows", self.fabric.name)
    }

    /// One more NIC in each host, at a bridge: neither has a route to a NIC of the fabric.
    fn connect(&self) -> Result<()> {
        let management = self.management();
        ip(None, &[format!("netns add {management}")])?;
        let mut lines = vec![
            "link add br0 type bridge".to_owned(),
            format!("addr add {NETWORK}.1/24 dev br0"),
            "link set br0 up".to_owned(),
        ];
        for (number, host) in (2..).zip(self.hosts()) {
            let namespace = self.fabric.namespace(self.fabric.node(&host)?);
            let pair = format!("link add rows0 netns {namespace} type veth peer name {host} netns {management}");
            ip(None, &[pair])?;
            let address = format!("addr add {NETWORK}.{number}/24 dev rows0");
            ip(Some(&namespace), &[address, "link set rows0 up".to_owned()])?;
            lines.extend([format!("link set {host} master br0"), format!("link set {host} up")]);
        }
        ip(Some(&management), &lines).map(drop)
    }

    fn certify(&self) -> Result<()> {
        let hosts = format!("collector {NETWORK}.1\n{}\n", self.hosts().join("\n"));
        fs::write(self.at("hosts"), hosts)?;
        let mut certify = Command::new(&self.rocescope);
        certify.args(["collector", "certificates"]).arg(self.at("hosts"));
        output(certify.arg("--out").arg(self.at("certificates"))).map(drop)
    }

    fn configuration(&self, host: &str, options: &Options) -> String {
        let file = |name: &str| self.at("certificates").join(name).display().to_string();
        let mut text = format!(
            "observer = \"{host}\"\n[agent]\ncollector = \"https://{NETWORK}.1:{PORT}\"\ncert = \"{}\"\nkey = \"{}\"\n\
             ca = \"{}\"\nspool = \"{}\"\n[probe]\nall = true\nwindow = \"1s\"\n",
            file(&format!("{host}.pem")),
            file(&format!("{host}.key")),
            file("ca.pem"),
            self.at(&format!("spool-{host}")).display(),
        );
        let renew = format!("{}us", super::RENEWAL * 20_000_000 / u64::from(options.scale));
        for (name, value) in pace(options).into_iter().chain([("renew", renew)]) {
            let is_number = value.parse::<f64>().is_ok();
            let quote = if is_number { "" } else { "\"" };
            text += &format!("{name} = {quote}{value}{quote}\n");
        }
        text
    }

    /// Starts the collector, also after it was killed.
    pub(super) fn start_collector(&mut self) -> Result<()> {
        let certificates = self.at("certificates");
        let mut collector = command(&self.management(), &self.rocescope.display().to_string());
        collector
            .env("COLLECT_TIME_SCALE", self.scale.to_string())
            .args(["collector", "run", "--listen", &format!("{NETWORK}.1:{PORT}")])
            .args(["--diagnose", "--lateness", LATENESS])
            .args([Path::new("--topology"), &self.at(super::super::TOPOLOGY)])
            .args([Path::new("--out"), &self.at(super::super::DATASET)])
            .args([Path::new("--cert"), &certificates.join("collector.pem")])
            .args([Path::new("--key"), &certificates.join("collector.key")])
            .args([Path::new("--client-ca"), &certificates.join("ca.pem")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = collector.spawn().context("the collector")?;
        let mut lines = BufReader::new(child.stderr.take().context("its messages")?).lines();
        self.collector = Some(child);
        let first = lines.next().context("the collector ended")??;
        ensure!(first.contains("collecting at "), "the collector: {first}");
        let mut log = File::options()
            .create(true)
            .append(true)
            .open(self.at("collector.log"))?;
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // A full disk loses only messages.
                let _ = std::io::Write::write_all(&mut log, (line + "\n").as_bytes());
            }
        });
        Ok(())
    }

    pub(super) fn kill_collector(&mut self) -> Result<()> {
        let mut child = self.collector.take().context("no collector")?;
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    pub(super) fn start_agent(&mut self, host: &str) -> Result<()> {
        let namespace = self.fabric.namespace(self.fabric.node(host)?);
        let mut agent = command(&namespace, &self.rocescope.display().to_string());
        agent.args(["agent", "--quiet", "--config"]);
        agent.arg(self.at(&format!("{host}.toml")));
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.at(&format!("{host}.log")))?;
        agent.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = agent.spawn().context("an agent")?;
        fault::started(&self.fabric, self.fabric.node(host)?, child.id())?;
        self.agents.insert(host.to_owned(), child);
        Ok(())
    }

    /// Kills the agent of a host.
    pub(super) fn kill_agent(&mut self, host: &str) -> Result<()> {
        let mut child = self.agents.remove(host).context("no agent on this host")?;
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    /// Ends the agents, which send their last rows, and then the collector.
    pub(super) fn end(mut self) -> Result<()> {
        for (host, agent) in std::mem::take(&mut self.agents) {
            interrupt(agent, &format!("the agent of {host}"))?;
        }
        match self.collector.take() {
            Some(collector) => interrupt(collector, "the collector"),
            None => Ok(()),
        }
    }
}

fn interrupt(mut child: Child, what: &str) -> Result<()> {
    output(Command::new("kill").args(["-INT", &child.id().to_string()]))?;
    let status = child.wait()?;
    ensure!(status.success(), "{what}: {status}");
    Ok(())
}

impl Drop for Site {
    fn drop(&mut self) {
        for child in self.agents.values_mut().chain(&mut self.collector) {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
