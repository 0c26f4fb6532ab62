//! What the XDP program costs here, and what `CAP_PERFMON` is worth.
//!
//! Without that capability the verifier guards what a processor may speculate on, which costs time in
//! every packet. So the program is loaded with and without it and run over a frame.

use super::Finding;
use crate::generate::{DEMO, Generator, Scenario};
use crate::privileges;
use crate::xdp;
use rocescope_wire::{Class, FrameLengths, LinkType};

/// Loads the program and measures it. Takes what XDP takes.
#[must_use]
pub fn program() -> Vec<Finding> {
    let Some(frame) = frame() else {
        return Vec::new();
    };
    let with = match xdp::worst_case_ns(&frame) {
        Ok(ns) => ns,
        Err(error) => return vec![Finding::fail("program", format!("{error}."))],
    };
    let held = privileges::missing(&[privileges::TRUST]).is_ok_and(|missing| missing.is_empty());
    if !held {
        return vec![Finding::ok(
            "program",
            format!(
                "It loads, and takes {with} ns for a packet that starts a run; with cap_perfmon it might take less."
            ),
        )];
    }
    let without = privileges::without(privileges::TRUST, || xdp::worst_case_ns(&frame));
    let perfmon = match without {
        Ok(Ok(ns)) => Finding::ok(
            "perfmon",
            format!(
                "Without cap_perfmon it takes {ns} ns for the same packet: {}.",
                worth(with, ns)
            ),
        ),
        Ok(Err(error)) => Finding::warn(
            "perfmon",
            format!(
                "Without cap_perfmon it does not load: {}.",
                first_line(&error.to_string())
            ),
        ),
        Err(error) => Finding::warn(
            "perfmon",
            format!("It cannot be given up for a moment: {error}."),
        ),
    };
    let program =
        format!("It loads, and takes {with} ns for a packet that starts a run, the costly case.");
    vec![Finding::ok("program", program), perfmon]
}

fn worth(with: u32, without: u32) -> String {
    let percent = 100.0 * (f64::from(without) / f64::from(with.max(1)) - 1.0);
    if percent.abs() < 5.0 {
        "the capability is worth nothing here".into()
    } else {
        format!("the capability is worth {percent:.0} %")
    }
}

fn first_line(text: &str) -> &str {
    text.lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches('.')
}

/// A RoCEv2 frame of the demo.
fn frame() -> Option<Vec<u8>> {
    let scenario = Scenario::parse(DEMO).ok()?;
    let mut generator = Generator::new(&scenario, 1);
    let mut frame = Vec::new();
    while generator.next_frame(&mut frame).is_some() {
        let length = frame.len() as u32;
        let lengths = FrameLengths {
            captured: length,
            original: length,
        };
        let class = rocescope_wire::decode(
            frame.as_slice(),
            LinkType::Ethernet,
            lengths,
            [4791, 0, 0, 0],
        );
        if matches!(class, Class::Roce(_)) {
            return Some(frame);
        }
    }
    None
}
