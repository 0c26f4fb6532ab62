//! Whether this is the right port, as text and as JSON.

use rocescope_engine::live::check::{Finding, PortCheck, verdict};
use rocescope_model::Value;
use rocescope_model::json::Writer;

pub(crate) fn text(check: &PortCheck, findings: &[Finding]) -> String {
    let mut out = format!("{} ({} s)\n\n", verdict(findings), check.seconds);
    for finding in findings {
        let level = if finding.is_fine { "ok" } else { "warn" };
        out += &format!("{level:<4}  {:<11}  {}\n", finding.topic, finding.message);
    }
    out
}

pub(crate) fn json(check: &PortCheck, findings: &[Finding]) -> String {
    let mut json = Writer::pretty();
    json.begin_object();
    json.key("verdict").string(&verdict(findings));
    json.key("right")
        .bool(findings.iter().all(|finding| finding.is_fine));
    let float = |share: Option<f64>| share.map_or(Value::Null, Value::F64);
    for (key, count) in [
        ("seconds", u64::from(check.seconds)),
        ("frames", check.frames),
        ("roce_packets", check.roce),
        ("roce_v1_frames", check.roce_v1),
        ("host_pairs", check.pairs as u64),
        ("one_way_host_pairs", check.one_way_pairs as u64),
        ("mirrored_twice_packets", check.duplicates),
        ("mirror_lost_packets", check.mirror_lost),
        ("mirror_gap_frames", check.gaps),
        ("truncated_packets", check.truncated),
    ] {
        json.key(key).integer(count);
    }
    json.key("both_ways_ratio").value(&float(check.both_ways));
    json.key("mirror_loss_ratio")
        .value(&Value::F64(check.mirror_loss));
    json.key("dropped_here");
    match check.dropped {
        Some(dropped) => json.integer(dropped),
        None => json.value(&Value::Null),
    };
    json.key("vlans").begin_object();
    for (vlan, packets) in &check.vlans {
        json.key(&vlan.to_string()).integer(*packets);
    }
    json.end_object();
    json.key("tunnels").begin_object();
    for (name, count) in &check.tunnels {
        json.key(name).integer(*count);
    }
    json.end_object();
    json.key("findings").begin_array();
    for finding in findings {
        json.begin_object();
        json.key("topic").string(finding.topic);
        json.key("level")
            .string(if finding.is_fine { "ok" } else { "warn" });
        json.key("says").string(&finding.message);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    json.finish() + "\n"
}
