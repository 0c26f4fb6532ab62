//! The verdict on the port, as text and as JSON.

use crate::live::check::{Finding, PortCheck, verdict};
use rocescope_model::json::{self, Object};
use serde::Serialize;

/// One line for each finding, below the verdict.
#[must_use]
pub fn text(check: &PortCheck, findings: &[Finding]) -> String {
    let mut out = format!("{} ({} s)\n\n", verdict(findings), check.seconds);
    for finding in findings {
        let level = if finding.is_fine { "ok" } else { "warn" };
        out += &format!("{level:<4}  {:<11}  {}\n", finding.topic, finding.message);
    }
    out
}

#[derive(Serialize)]
struct Document<'a> {
    verdict: String,
    right: bool,
    #[serde(flatten)]
    counts: Object<&'static str, u64>,
    #[serde(serialize_with = "json::float")]
    both_ways_ratio: Option<f64>,
    #[serde(serialize_with = "json::float")]
    mirror_loss_ratio: f64,
    dropped_here: Option<u64>,
    vlans: Object<String, u64>,
    tunnels: Object<&'a str, u64>,
    findings: Vec<FindingDocument<'a>>,
}

#[derive(Serialize)]
struct FindingDocument<'a> {
    topic: &'a str,
    level: &'a str,
    message: &'a str,
}

/// One JSON object.
#[must_use]
pub fn json(check: &PortCheck, findings: &[Finding]) -> String {
    let documents = findings.iter().map(|finding| FindingDocument {
        topic: finding.topic,
        level: if finding.is_fine { "ok" } else { "warn" },
        message: &finding.message,
    });
    let vlans = check.vlans.iter();
    json::pretty(&Document {
        verdict: verdict(findings),
        right: findings.iter().all(|finding| finding.is_fine),
        counts: Object(vec![
            ("seconds", u64::from(check.seconds)),
            ("frames", check.frames),
            ("roce_packets", check.roce),
            ("roce_v1_frames", check.roce_v1),
            ("host_pairs", check.pairs as u64),
            ("one_way_host_pairs", check.one_way_pairs as u64),
            ("mirror_duplicate_packets", check.duplicates),
            ("mirror_lost_packets", check.mirror_lost),
            ("mirror_gap_frames", check.gaps),
            ("truncated_packets", check.truncated),
        ]),
        both_ways_ratio: check.both_ways,
        mirror_loss_ratio: check.mirror_loss,
        dropped_here: check.dropped,
        vlans: vlans.map(|(vlan, packets)| (vlan.to_string(), *packets)).collect(),
        tunnels: check.tunnels.iter().map(|(name, count)| (&**name, *count)).collect(),
        findings: documents.collect(),
    }) + "\n"
}
