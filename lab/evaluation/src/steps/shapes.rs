//! The culprit of collectives of many shapes: rings and trees, one to four channels, beside other traffic, of small chunks.
//!
//! Nothing is slow in most runs; in the others one thing is, which must be named, and nothing beside it.

use super::{capture, steps};
use crate::parallel;
use crate::table::{Goal, Line, Size, percent};
use rocescope_collective::culprit::{Culprit, culprits};
use rocescope_collective::waiting::critical_path;
use rocescope_generate::truth::StragglerTruth;

/// Seeds of a usual run and of all: 20 healthy runs of each of the ten shapes.
const SEEDS: u64 = 2;
const ALL_SEEDS: u64 = 20;

/// Four connections between hosts of the collective that write without immediates, as storage does.
pub(super) const BACKGROUND: &str = "[[flows]]\nname = \"storage\"\ncount = 4\nsrc = \"10.0.0.1-10.0.0.4\"\ndst = \"10.0.0.5-10.0.0.8\"\n\
     message = \"32KiB\"\nrate = \"8Gbit/s\"\nmessages = 60\n";

/// A shape, and what may be slow in it: a tree's leaf that is slow delays nothing that passes.
struct Shape {
    name: &'static str,
    ranks: u32,
    keys: &'static str,
    more: &'static str,
    /// How much longer a slow rank takes: with chunks in flight a short delay costs nothing.
    delay: &'static str,
    kinds: &'static [&'static str],
}

const ALL: &[&str] = &["slow_link", "slow_rank", "late_start", "lossy_qp"];

const fn shape(name: &'static str, ranks: u32, keys: &'static str) -> Shape {
    Shape {
        name,
        ranks,
        keys,
        more: "",
        delay: "40us",
        kinds: ALL,
    }
}

const SHAPES: &[Shape] = &[
    shape("ring of 4", 4, ""),
    shape("ring of 8", 8, ""),
    shape("ring of 8, 2 channels", 8, "channels = 2"),
    Shape {
        delay: "200us",
        ..shape("ring of 8, 4 channels", 8, "channels = 4")
    },
    shape("ring of 16, 2 channels", 16, "channels = 2"),
    Shape {
        delay: "400us",
        ..shape("tree of 8", 8, "algorithm = \"tree\"\nloops = 32")
    },
    Shape {
        delay: "400us",
        ..shape(
            "tree of 8, 2 channels",
            8,
            "algorithm = \"tree\"\nloops = 32\nchannels = 2",
        )
    },
    Shape {
        delay: "400us",
        ..shape("tree of 15", 15, "algorithm = \"tree\"\nloops = 32")
    },
    Shape {
        more: BACKGROUND,
        ..shape("ring of 8 beside other traffic", 8, "channels = 2")
    },
    Shape {
        // A link of a fifth of the rate delays a packet by a microsecond: too little to show.
        kinds: &["slow_rank", "late_start", "lossy_qp"],
        ..shape(
            "ring of 8, chunks of 4 KiB",
            8,
            "channels = 2\nchunk = \"4KiB\"\nloops = 4",
        )
    },
];

/// What makes a run slow, of a rank with others behind it in a tree.
fn straggler(kind: &str, delay: &str) -> String {
    let keys = match kind {
        "slow_link" => "rate = \"20Gbit/s\"\nrank = 1",
        "slow_rank" => &format!("delay = \"{delay}\"\nrank = 1"),
        "late_start" => "delay = \"1ms\"",
        "lossy_qp" => "loss = 0.02\nrank = 1",
        _ => return String::new(),
    };
    format!("[[collective.straggler]]\nkind = \"{kind}\"\n{keys}\n")
}

fn scenario(shape: &Shape, kind: &str) -> String {
    format!(
        "snaplen = 128\n{}[[collective]]\nranks = \"10.0.0.1-10.0.0.{}\"\n{}\n{}",
        shape.more,
        shape.ranks,
        shape.keys,
        straggler(kind, shape.delay)
    )
}

/// The culprits of a run in the words of the truth, and whether each is what was planted; and whether that did anything: a
/// QP that loses packets may have been lucky.
fn judged(shape: &Shape, kind: &str, seed: u64) -> (Vec<(String, bool)>, bool) {
    let (rows, truth) = capture(&scenario(shape, kind), seed);
    let steps = steps(&rows);
    let host = |host: u32| steps.hosts[host as usize].to_string();
    let is_right = |culprit: Culprit, planted: &StragglerTruth| {
        let place = match culprit {
            // All links out of a rank are slow.
            Culprit::SlowLink { from, .. } => host(from),
            Culprit::SlowRank { host: at } | Culprit::LateStart { host: at } => host(at),
            // So do all queue pairs of a rank in a tree.
            Culprit::LossyQp { from, qpn, .. } if qpn == planted.dst_qpn || shape.name.starts_with("tree") => {
                host(from)
            }
            Culprit::LossyQp { .. } => return false,
        };
        culprit.name() == planted.kind && place == planted.host.to_string()
    };
    let found = culprits(&steps, &critical_path(&steps));
    let judged = found.iter().map(|delay| {
        let right = truth.stragglers.iter().any(|planted| is_right(delay.culprit, planted));
        (format!("{:?}, {} ns", delay.culprit, delay.cost_ns), right)
    });
    let is_lucky = kind == "lossy_qp" && truth.steps.iter().all(|step| step.retransmitted_packets == 0);
    (judged.collect(), kind != "healthy" && !is_lucky)
}

pub(crate) fn evaluate(size: Size) -> Vec<Line> {
    let seeds = size.choose(SEEDS, ALL_SEEDS);
    let all: Vec<(&Shape, &str)> = SHAPES
        .iter()
        .flat_map(|shape| {
            core::iter::once("healthy")
                .chain(shape.kinds.iter().copied())
                .map(move |kind| (shape, kind))
        })
        .collect();
    let lines = parallel::each(&all, |(shape, kind)| {
        let (mut right, mut wrong) = (0, 0);
        for seed in 1..=seeds {
            let (found, is_planted) = judged(shape, kind, seed);
            let is_whole = found.is_empty() != is_planted && found.iter().all(|(_, is_right)| *is_right);
            right += u64::from(is_whole);
            wrong += found.iter().filter(|(_, is_right)| !is_right).count() as u64;
            if !is_whole {
                println!("{}, {kind}, seed {seed}: {found:?}", shape.name);
            }
        }
        (shape.name, *kind, right, wrong)
    });
    let mut table = Vec::new();
    for (name, kind, right, wrong) in lines {
        let (measure, value, goal) = match kind {
            "healthy" => ("healthy: culprits", wrong as f64, Goal::AtMost(0.0)),
            // Of sixteen ranks, some losses cost less than their share.
            "lossy_qp" => (kind, percent(right, seeds), Goal::AtLeast(90.0)),
            _ => (kind, percent(right, seeds), Goal::AtLeast(95.0)),
        };
        table.push(Line::new(name, seeds, measure, value, goal));
    }
    table
}
