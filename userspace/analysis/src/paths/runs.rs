//! The paths of flows that runs of `rocescope paths discover` stored.

use rocescope_diagnose::paths::Hop;
use rocescope_model::human::plural;
use rocescope_model::{FlowPathRow, Time};
use rocescope_paths::{Flow, KnownPath, known};
use rocescope_store::{Error, Scan, TimeRange};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The paths of a run.
#[derive(Debug, Default)]
pub struct Run {
    /// When it started; a file does not contain it.
    pub time: Option<Time>,
    /// The paths.
    pub paths: Vec<KnownPath>,
    /// Flows whose path is not known to its end.
    pub unknown: u64,
    /// Entries of flows that a file lists again: they count too.
    pub repeated: u64,
}

impl Run {
    /// A line about flows that are listed again.
    #[must_use]
    pub fn repetition(&self, whose: &str) -> String {
        match self.repeated {
            0 => String::new(),
            count => format!(
                "{}{whose} listed again: each entry counts, list a flow once\n",
                plural(count, "flow")
            ),
        }
    }
}

/// The run that holds at the end of a time, by its start: the last that started before, otherwise the first.
#[must_use]
pub fn held(starts: &[i64], time: TimeRange) -> Option<i64> {
    let mut before = starts.iter().rev();
    let last = before.find(|start| time.to.is_none_or(|to| **start < to.0));
    last.or_else(|| starts.first()).copied()
}

/// All runs of a dataset by their start.
///
/// # Errors
/// The operating system refuses to read a segment.
pub fn runs(found: &Scan) -> Result<BTreeMap<i64, Run>, Error> {
    let mut flows: BTreeMap<(i64, Flow), KnownPath> = BTreeMap::new();
    let mut hops: BTreeMap<(i64, Flow), BTreeMap<u16, Hop>> = BTreeMap::new();
    found.select::<FlowPathRow>().for_each(|row| {
        let flow = Flow {
            src: row.src,
            dst: row.dst,
            protocol: row.protocol,
            src_port: row.src_port,
            dst_port: row.dst_port,
            dst_qpn: row.dst_qpn,
            outer_src_port: None,
        };
        let hops = hops.entry((row.time_ns, flow)).or_default();
        flows.entry((row.time_ns, flow)).or_insert_with(|| KnownPath {
            name: flow.to_string(),
            flow: Some(flow),
            hops: Vec::new(),
            bps: row.flow_bps,
        });
        let is_complete = &*row.outcome == known::COMPLETE;
        if let Some(egress) = row.egress.filter(|_| row.hop > 0 && is_complete) {
            hops.insert(row.hop, Hop(row.node.as_str().into(), egress.as_str().into()));
        }
    })?;
    let mut runs: BTreeMap<i64, Run> = BTreeMap::new();
    for (((time_ns, _), mut path), (_, hops)) in flows.into_iter().zip(hops) {
        let run = runs.entry(time_ns).or_default();
        run.time = Some(Time(time_ns));
        run.unknown += u64::from(hops.is_empty());
        path.hops = hops.into_values().collect();
        run.paths.push(path);
    }
    Ok(runs)
}

/// A flow as a capture sees it.
pub type CapturedKey = (IpAddr, IpAddr, u16);

/// The key of a flow.
#[must_use]
pub fn captured_key(flow: &Flow) -> CapturedKey {
    (flow.src, flow.dst, flow.src_port)
}
