//! Hosts on one switch, and a mirror of it: all of them network namespaces, removed with the test.
//!
//! The switch forgets addresses at once, so that every frame goes to every port: the port of the capture box is a mirror
//! of all others. Agents reach the controller over a network of its own.

use rocescope_host::interface::Interface;
use rocescope_host::packet::{Receive, Socket};
use rocescope_testkit::Namespaces;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The address of the controller.
pub(crate) const CONTROLLER: &str = "10.8.0.254";
/// The interface of the capture box, in the namespace of the switch.
pub(crate) const MIRROR: &str = "mirror";

pub(crate) struct Hub {
    nodes: Namespaces,
    cable: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
    delay_us: Arc<AtomicU64>,
}

impl Hub {
    /// Hosts 1, 2 and so on; the cable of the last one delays every frame by `delay`, each way, and loses every third of
    /// those with the UDP source port `lossy`. `None`, after one line, where this user may not create namespaces.
    pub(crate) fn new(hosts: u8, delay: Duration, lossy: Option<u16>) -> Option<Self> {
        let nodes = (1..=hosts).map(|host| host.to_string());
        let mut hub = Self {
            nodes: Namespaces::new(["s".to_owned()].into_iter().chain(nodes.clone()))?,
            cable: None,
            delay_us: Arc::default(),
        };
        hub.delay(delay);
        for node in ["s".to_owned()].into_iter().chain(nodes) {
            hub.ip(&node, "link set lo up");
            hub.nodes.sysctl(&node, &["net.ipv6.conf.all.disable_ipv6=1"]);
        }
        hub.ip("s", "link add hub type bridge ageing_time 0");
        hub.ip("s", "link add net type bridge");
        hub.ip("s", "link add port0 type veth peer name mirror");
        hub.ip("s", "link set port0 master hub");
        hub.ip("s", &format!("address add {CONTROLLER}/24 dev net"));
        for interface in ["hub", "net", "port0", MIRROR] {
            hub.ip("s", &format!("link set {interface} up"));
        }
        for host in 1..=hosts {
            hub.nodes.wire(&format!(
                "{host}:rail0 10.9.0.{host}/24 s:port{host} -\n{host}:eth0 10.8.0.{host}/24 s:net{host} -"
            ));
            hub.ip("s", &format!("link set net{host} master net up"));
            if host < hosts {
                hub.ip("s", &format!("link set port{host} master hub"));
            }
        }
        hub.ip("s", "link add far type veth peer name near");
        hub.ip("s", "link set near up");
        hub.ip("s", "link set far master hub up");
        let stop = Arc::new(AtomicBool::new(false));
        let (namespace, theirs) = (hub.namespace("s"), Arc::clone(&stop));
        let delay_us = Arc::clone(&hub.delay_us);
        let ends = [format!("port{hosts}"), "near".to_owned()];
        let thread = std::thread::spawn(move || cable(&namespace, &ends, &delay_us, lossy, &theirs));
        hub.cable = Some((stop, thread));
        Some(hub)
    }

    /// Sets the delay of the last cable, for frames from now on.
    pub(crate) fn delay(&self, delay: Duration) {
        let micros = u64::try_from(delay.as_micros()).unwrap();
        self.delay_us.store(micros, Ordering::Relaxed);
    }

    pub(crate) fn namespace(&self, node: &str) -> String {
        self.nodes.name(node)
    }

    fn ip(&self, node: &str, arguments: &str) {
        self.nodes.ip(node, arguments);
    }

    /// A program on a node.
    pub(crate) fn command(&self, node: &str, program: &str) -> Command {
        self.nodes.command(node, program)
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.cable.take() {
            stop.store(true, Ordering::Relaxed);
            let _ = thread.join();
        }
    }
}

/// Carries frames between two interfaces, each after a delay; loses every third with a UDP source port.
fn cable(namespace: &str, ends: &[String; 2], delay_us: &AtomicU64, lossy: Option<u16>, stop: &AtomicBool) {
    let namespace = File::open(format!("/run/netns/{namespace}")).unwrap();
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
    let open = |name: &String| {
        let socket = Socket::open().unwrap();
        socket.ignore_outgoing().unwrap();
        socket
            .bind(Interface::find(name).unwrap().index, Receive::Everything)
            .unwrap();
        fcntl_setfl(&socket, OFlags::NONBLOCK).unwrap();
        socket
    };
    let sockets = ends.each_ref().map(open);
    let mut frames: VecDeque<(Instant, usize, Vec<u8>)> = VecDeque::new();
    let mut buffer = vec![0; 16 << 10];
    let mut met = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        let delay = Duration::from_micros(delay_us.load(Ordering::Relaxed));
        for (end, socket) in sockets.iter().enumerate() {
            while let Ok(bytes) = rustix::io::read(socket, &mut buffer) {
                if lossy.is_some() && udp_src_port(&buffer[..bytes]) == lossy {
                    met += 1;
                    if met.is_multiple_of(3) {
                        continue;
                    }
                }
                frames.push_back((Instant::now() + delay, 1 - end, buffer[..bytes].to_vec()));
            }
        }
        while let Some((_, end, frame)) = frames.pop_front_if(|(due, _, _)| *due <= Instant::now()) {
            let _ = sockets[end].send(&frame, 0);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Of an IPv4 packet without options in an Ethernet frame without tags.
fn udp_src_port(frame: &[u8]) -> Option<u16> {
    let is_udp = frame.get(12..15)? == [8, 0, 0x45] && frame.get(23) == Some(&17);
    let port = frame.get(34..36)?;
    is_udp.then(|| u16::from_be_bytes([port[0], port[1]]))
}
