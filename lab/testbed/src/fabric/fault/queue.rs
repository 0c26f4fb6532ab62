//! A congested rail uplink: a token bucket, and frames that keep its queue at a given length.
//!
//! Both ends of the link return these frames, so each rejoins the queue as soon as it has left it. All other traffic on
//! the link waits behind them for a constant time, and nothing is lost.

use super::{object, program};
use crate::fabric::namespace::{inside, output};
use crate::fabric::wiring::Link;
use anyhow::{Context, Result};
use rocescope_capture::inject::Injector;
use rocescope_host::interface::Interface;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Four microseconds a byte.
const RATE: &str = "2mbit";
const MICROSECONDS_PER_BYTE: usize = 4;
/// Bytes of the longest frame of a probe or a traceroute, with a margin.
const SHORTEST: usize = 250;
const LONGEST: usize = 1_000;

/// The number of frames that make a queue of `depth`, and the bytes of each.
fn standing(depth: Duration) -> (usize, usize) {
    let bytes = depth.as_micros() as usize / MICROSECONDS_PER_BYTE;
    let each = (bytes / 10).clamp(SHORTEST, LONGEST);
    (bytes.div_ceil(each), each)
}

/// Fills the queue at the lower end of a link; `namespaces` belong to its ends, the lower first.
pub(super) fn fill(namespaces: [&str; 2], link: &Link, depth: Duration, file: &Path) -> Result<()> {
    let (count, each) = standing(depth);
    for (namespace, end) in namespaces.into_iter().zip([&link.lower, &link.upper]) {
        let program = program::returned();
        object::attach(namespace, &end.interface, &program, &["ingress"], file)?;
    }
    let interface = link.lower.interface.clone();
    let (bucket, limit) = (each.to_string(), (2 * count * each + 20_000).to_string());
    tc(
        namespaces[0],
        &[
            "replace", "dev", &interface, "root", "tbf", "rate", RATE, "burst", &bucket, "limit", &limit,
        ],
    )?;
    let mut frame = vec![0; each];
    frame[12..14].copy_from_slice(&program::RETURNED.to_be_bytes());
    inside(namespaces[0], move || {
        let interface = Interface::find(&interface)?;
        let mut injector = Injector::open(&interface)?;
        for _ in 0..count {
            injector.send(&frame)?;
        }
        anyhow::Ok(())
    })?
    .context("frames for the queue")
}

/// Restores the queue.
pub(super) fn empty(namespaces: [&str; 2], link: &Link) -> Result<()> {
    for (namespace, end) in namespaces.into_iter().zip([&link.lower, &link.upper]) {
        object::detach(namespace, &end.interface)?;
    }
    tc(namespaces[0], &["del", "dev", &link.lower.interface, "root"])
}

fn tc(namespace: &str, words: &[&str]) -> Result<()> {
    let mut tc = Command::new("tc");
    output(tc.args(["-n", namespace, "qdisc"]).args(words)).map(drop)
}
