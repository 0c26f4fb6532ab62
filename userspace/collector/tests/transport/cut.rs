//! A network that stops: a proxy that goes on holding its connections and forwards nothing.

use crate::rig::{Rig, probes, until};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Forwards to a port until it is cut. What was on the way then is lost, as in a network.
struct Network {
    port: u16,
    cut: Arc<AtomicBool>,
    lost_bytes: Arc<AtomicU64>,
}

impl Network {
    fn to(collector: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let network = Self {
            port: listener.local_addr().unwrap().port(),
            cut: Arc::default(),
            lost_bytes: Arc::default(),
        };
        let (cut, lost) = (Arc::clone(&network.cut), Arc::clone(&network.lost_bytes));
        thread::spawn(move || {
            for agent in listener.incoming() {
                let agent = agent.unwrap();
                let Ok(collector) = TcpStream::connect(("127.0.0.1", collector)) else {
                    continue;
                };
                let (a, c) = (agent.try_clone().unwrap(), collector.try_clone().unwrap());
                for (from, to) in [(agent, collector), (c, a)] {
                    let (cut, lost) = (Arc::clone(&cut), Arc::clone(&lost));
                    thread::spawn(move || forward(from, to, &cut, &lost));
                }
            }
        });
        network
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, cut: &AtomicBool, lost: &AtomicU64) {
    let mut bytes = [0; 4096];
    let mut severed = false;
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        severed |= cut.load(Ordering::Relaxed);
        if severed {
            lost.fetch_add(read as u64, Ordering::Relaxed);
        } else if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    if !severed {
        let _ = to.shutdown(Shutdown::Both);
    }
}

/// Scaled by about thirty: pings every half second where they are every ten, a cut of two seconds
/// where it is a minute.
#[test]
fn a_cut_network_costs_nothing_and_doubles_nothing() {
    let rig = Rig::new();
    let server = rig.server();
    let network = Network::to(server.address().port());
    let spool = rig.spool("h0");
    let sender = rig.sender("h0", network.port, &spool);
    let mut next = 0;
    for round in 0..3 {
        for step in 0..60 {
            spool.append(&probes("h0", next..next + 20)).unwrap();
            next += 20;
            thread::sleep(Duration::from_millis(40));
            // In the middle of what is under way, another place each round.
            if step == 5 + round {
                network.cut.store(true, Ordering::Relaxed);
            }
            if step == 55 {
                network.cut.store(false, Ordering::Relaxed);
            }
        }
        until("all is acknowledged", || spool.counts().parcels == 0);
    }
    assert!(network.lost_bytes.load(Ordering::Relaxed) > 0);
    assert_eq!(sender.status().connections, 4);
    sender.finish(Duration::from_secs(5));
    server.stop().unwrap();
    assert_eq!(rig.stored("h0"), (0..next).collect::<Vec<u64>>());
}
