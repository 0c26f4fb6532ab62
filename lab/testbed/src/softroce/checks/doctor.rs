//! `doctor` in a guest, beside what captures can do there: with the capabilities that the service has, and without
//! `CAP_PERFMON`, which some kernels require.

use super::captures::has_xdp;
use crate::softroce::fabric::{Fabric, LIMIT, json};
use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// How programs run: whether with `CAP_PERFMON`, and the modes of captures to try.
const RUNS: [(bool, &[&str]); 2] = [
    (true, &["native", "generic", "af-packet", "auto"]),
    (false, &["native", "auto"]),
];

pub(super) fn run(fabric: &mut Fabric) -> Result<()> {
    for (has_perfmon, modes) in RUNS {
        let last = if has_perfmon { ",+perfmon" } else { "" };
        let with = format!("setpriv --bounding-set -all,+bpf,+net_admin,+net_raw{last} --inh-caps -all");
        // It ends with a failure where a capture in XDP would.
        let doctor = format!("{with} rocescope doctor -i eth0 --try -o json || true");
        let printed = fabric.first.run(&doctor, LIMIT)?;
        fabric.keep(&format!("doctor{last}.json"), &printed)?;
        let found = json(&printed)?;
        println!("cap_bpf, cap_net_admin, cap_net_raw{}:", last.replace(",+", ", cap_"));
        for finding in found["findings"].as_array().context("no findings")? {
            println!(
                "  {:<4} {}: {}",
                word(finding, "level"),
                word(finding, "topic"),
                word(finding, "message")
            );
        }
        for mode in modes {
            let capture =
                format!("{with} rocescope capture -i eth0 --mode {mode} --duration 1s -q -o json > /dev/null");
            let said = fabric.first.run(&format!("{capture}; echo status $?"), LIMIT)?;
            println!("  capture --mode {mode}: {}", said.lines().next().unwrap_or_default());
            judge(&fabric.kernel, has_perfmon, mode, &said, &found).with_context(|| said.clone())?;
        }
    }
    Ok(())
}

/// Whether a capture did what the kernel can do, and what `doctor` had said.
fn judge(kernel: &str, has_perfmon: bool, mode: &str, said: &str, found: &Value) -> Result<()> {
    let captured = said.contains("status 0");
    let in_xdp = captured && !said.contains("af_packet");
    let program = level(found, "program").unwrap_or("unknown");
    match mode {
        "af-packet" => ensure!(captured && !in_xdp, "packet sockets do not work"),
        "auto" => {
            ensure!(captured, "no mode works");
            ensure!(in_xdp == (program == "ok"), "doctor finds the program {program}");
        }
        _ => ensure!(captured == (program == "ok"), "doctor finds the program {program}"),
    }
    if has_perfmon && mode != "af-packet" {
        ensure!(in_xdp == has_xdp(kernel), "XDP on Linux {kernel}: {in_xdp}");
    }
    Ok(())
}

fn word<'a>(finding: &'a Value, key: &str) -> &'a str {
    finding[key].as_str().unwrap_or_default()
}

fn level<'a>(found: &'a Value, topic: &str) -> Option<&'a str> {
    let mut of_topic = found["findings"]
        .as_array()?
        .iter()
        .filter(|finding| finding["topic"] == topic);
    of_topic.next()?["level"].as_str()
}
