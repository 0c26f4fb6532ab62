//! Agents of all guests with queue pairs, while a NIC of the first one loses or delays what leaves, or its agent is killed:
//! what `diagnose mesh` names.

use super::mesh;
use crate::softroce::fabric::{Fabric, LIMIT, json};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::Duration;

/// How long the agents run, and when the trouble begins: each has whole windows of 20 s.
const SECONDS: u64 = 100;
const BEFORE: Duration = Duration::from_secs(40);
/// Troubles at that NIC: what netem does, and the classes that verdicts may have.
const TROUBLES: [(&str, &[&str]); 2] = [
    ("loss 30%", &["loss", "link_down"]),
    ("delay 250ms", &["congestion", "slow_receiver", "slow_host"]),
];

pub(super) fn run(fabric: &mut Fabric) -> Result<()> {
    let mut missed = Vec::new();
    let nic = fabric.shape.nics()[1];
    let place = format!("guest1/{nic}");
    for (trouble, classes) in TROUBLES {
        mesh::begin(fabric, SECONDS)?;
        sleep(BEFORE);
        let netem = format!("tc qdisc add dev {nic} root netem {trouble} limit 100000");
        fabric.first.run(&netem, LIMIT)?;
        let first = mesh::ended(fabric, 0);
        fabric.first.run(&format!("tc qdisc del dev {nic} root"), LIMIT)?;
        first?;
        others_ended(fabric)?;
        mesh::end_collector(fabric)?;
        let found = diagnosed(fabric, trouble)?;
        // Of two NICs that probe each other, which one is slow is unknown. A window that the trouble is in for a part, or
        // that has few probes, may name the pair that lost, or state whose probes were lost.
        let is_right = |verdict: &Verdict| match &*verdict.class {
            "unlocated_loss" => verdict.sentence.contains(&place),
            class => verdict.place.contains(&place) && classes.contains(&class),
        };
        let is_named = found
            .iter()
            .any(|verdict| verdict.place.split(" or ").any(|named| named == place));
        println!("{trouble}: {found:?}");
        if !is_named || !found.iter().all(is_right) {
            missed.push(format!("{trouble}: expected {place}, found {found:?}"));
        }
    }
    killed(fabric)?;
    ensure!(missed.is_empty(), "{}", missed.join("; "));
    Ok(())
}

/// An agent that is killed is silent, and no fault of the network.
fn killed(fabric: &mut Fabric) -> Result<()> {
    mesh::begin(fabric, SECONDS)?;
    sleep(BEFORE);
    fabric.first.run("kill -KILL $(cat agent.pid)", LIMIT)?;
    others_ended(fabric)?;
    mesh::end_collector(fabric)?;
    let found = diagnosed(fabric, "killed")?;
    let is_right = |verdict: &Verdict| verdict.class == "silent" && verdict.place == "guest1";
    ensure!(
        !found.is_empty() && found.iter().all(is_right),
        "the agent of guest1 was killed, and {found:?} is named"
    );
    println!("an agent that is killed: {found:?}");
    Ok(())
}

/// Waits for the ends of the agents of the other guests.
fn others_ended(fabric: &mut Fabric) -> Result<()> {
    for at in 1..fabric.shape.guests() {
        mesh::ended(fabric, at.into())?;
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Verdict {
    class: String,
    place: String,
    /// Of loss at no place, the only one that states whose probes were lost.
    sentence: String,
}

/// What the analysis of the collected rows names.
fn diagnosed(fabric: &mut Fabric, name: &str) -> Result<BTreeSet<Verdict>> {
    let printed = fabric.second.run("rocescope diagnose mesh ./mesh -o json", LIMIT)?;
    fabric.keep(&format!("{}.json", name.replace(' ', "-")), &printed)?;
    let found = json(&printed)?;
    let windows = found["sla"].as_array().map_or(0, Vec::len);
    ensure!(windows >= 3, "{windows} windows were analyzed: {printed}");
    let word = |verdict: &Value, key: &str| verdict[key].as_str().unwrap_or_default().to_owned();
    let verdicts = found["verdicts"].as_array().context("no verdicts")?;
    Ok(verdicts
        .iter()
        .map(|verdict| {
            let (class, place) = (word(verdict, "class"), word(verdict, "place"));
            let sentence = match class.as_str() {
                "unlocated_loss" => word(verdict, "sentence"),
                _ => String::new(),
            };
            Verdict { class, place, sentence }
        })
        .collect())
}
