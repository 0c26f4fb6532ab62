//! A proxy between agents and a collector, which can go on holding its connections and forward nothing.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Forwards to a port until it is cut. What was on the way then is lost, as in a network.
pub(crate) struct Network {
    pub(crate) port: u16,
    pub(crate) cut: Arc<AtomicBool>,
    pub(crate) lost_bytes: Arc<AtomicU64>,
    /// Bytes from agents to the collector.
    pub(crate) sent_bytes: Arc<AtomicU64>,
}

impl Network {
    pub(crate) fn to(collector: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let network = Self {
            port: listener.local_addr().unwrap().port(),
            cut: Arc::default(),
            lost_bytes: Arc::default(),
            sent_bytes: Arc::default(),
        };
        let (cut, lost) = (Arc::clone(&network.cut), Arc::clone(&network.lost_bytes));
        let sent = Arc::clone(&network.sent_bytes);
        thread::spawn(move || {
            for agent in listener.incoming() {
                let agent = agent.unwrap();
                let Ok(collector) = TcpStream::connect(("127.0.0.1", collector)) else {
                    continue;
                };
                let (a, c) = (agent.try_clone().unwrap(), collector.try_clone().unwrap());
                for (from, to, counted) in [(agent, collector, Arc::clone(&sent)), (c, a, Arc::default())] {
                    let (cut, lost) = (Arc::clone(&cut), Arc::clone(&lost));
                    thread::spawn(move || forward(from, to, &cut, &lost, &counted));
                }
            }
        });
        network
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, cut: &AtomicBool, lost: &AtomicU64, sent: &AtomicU64) {
    let mut bytes = [0; 4096];
    let mut severed = false;
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        severed |= cut.load(Ordering::Relaxed);
        if severed {
            lost.fetch_add(read as u64, Ordering::Relaxed);
        } else if to.write_all(&bytes[..read]).is_err() {
            break;
        } else {
            sent.fetch_add(read as u64, Ordering::Relaxed);
        }
    }
    if !severed {
        let _ = to.shutdown(Shutdown::Both);
    }
}
