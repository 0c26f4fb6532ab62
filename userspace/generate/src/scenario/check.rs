//! What a scenario must hold beyond the types of its fields.

use super::error::ScenarioError;
use super::group::{Group, Length, Operation, Receiver, Service, Share, Tunnel};
use super::impairment::{Impairment, Of, Side};
use super::{Background, Scenario};
use std::fmt::Display;

/// The most flows of a group.
const FLOWS_MAX: usize = 1_000_000;
/// How far a reordered packet may fall behind: the tolerant receiver's memory.
const REORDER_MAX: u32 = 63;

/// Tells what is wrong with one key of a table.
struct Table<'a> {
    text: &'a str,
    at: usize,
}

impl Table<'_> {
    fn must(&self, holds: bool, key: &str, message: impl Display) -> Result<(), ScenarioError> {
        if holds {
            return Ok(());
        }
        let message = message.to_string();
        Err(ScenarioError::of_key(self.text, self.at, key, message))
    }
}

pub(super) fn scenario(text: &str, scenario: &Scenario) -> Result<(), ScenarioError> {
    let whole = Table { text, at: 0 };
    whole.must(
        scenario.snaplen >= 64,
        "snaplen",
        "at least 64 bytes, the headers",
    )?;
    whole.must(
        scenario.start_unix_s <= 4_000_000_000,
        "start_unix_s",
        "at most 4,000,000,000: a pcap file counts seconds with 32 bits",
    )?;
    if scenario.truth.window.0 == 0 {
        return Err(ScenarioError::Whole("truth.window: longer than 0".into()));
    }
    if scenario.groups.is_empty() && scenario.background.is_empty() {
        return Err(ScenarioError::Whole(
            "neither [[flows]] nor [[background]]: there is nothing to generate".into(),
        ));
    }
    let ends = |stop: bool, messages: bool| {
        scenario.duration.is_some() || scenario.frames.is_some() || stop || messages
    };
    let endless = |group: &Group| !ends(group.stop.is_some(), group.messages.is_some());
    if scenario.groups().any(endless)
        || scenario
            .background()
            .any(|b| !ends(b.stop.is_some(), false))
    {
        return Err(ScenarioError::Whole(
            "it never ends: give duration or frames, or stop or messages everywhere".into(),
        ));
    }
    for spanned in &scenario.groups {
        let at = spanned.span().start;
        group(&Table { text, at }, spanned.get_ref())?;
    }
    for spanned in &scenario.background {
        let at = spanned.span().start;
        background(&Table { text, at }, spanned.get_ref())?;
    }
    Ok(())
}

fn group(table: &Table<'_>, group: &Group) -> Result<(), ScenarioError> {
    let count = group.count;
    table.must(
        (1..=FLOWS_MAX).contains(&count),
        "count",
        "from 1 to 1,000,000",
    )?;
    table.must(
        group.src.is_v6() == group.dst.is_v6(),
        "dst",
        "of the IP version of src",
    )?;
    table.must(group.vlan.len() <= 2, "vlan", "at most two tags")?;
    table.must(
        group.vlan.iter().all(|id| *id < 4095),
        "vlan",
        "ids below 4095",
    )?;
    table.must(group.vlan_priority < 8, "vlan_priority", "from 0 to 7")?;
    table.must(group.dscp < 64, "dscp", "from 0 to 63")?;
    let [low, high] = group.src_ports;
    table.must(
        0 < low && low <= high,
        "src_ports",
        "the lowest and the highest port",
    )?;
    for (key, first) in [("qpn", group.qpn), ("src_qpn", group.src_qpn)] {
        let fits = first.is_none_or(|first| first >= 2 && first as usize + count <= 1 << 24);
        table.must(fits, key, "from 2, with all that follow below 2^24")?;
    }
    let psn = group.start_psn.is_none_or(|psn| psn < 1 << 24);
    table.must(psn, "start_psn", "below 2^24")?;
    let mtu = matches!(group.mtu, 256 | 512 | 1024 | 2048 | 4096);
    table.must(mtu, "mtu", "one of 256, 512, 1024, 2048, 4096")?;
    operations(table, group)?;
    rates(table, group)?;
    if let Some(stop) = group.stop {
        table.must(stop > group.start, "stop", "behind start")?;
    }
    table.must(
        (1..=65_536).contains(&group.depth),
        "depth",
        "from 1 to 65,536",
    )?;
    table.must(group.ack_every != Some(0), "ack_every", "at least 1")?;
    table.must(group.ack_coalesce > 0, "ack_coalesce", "at least 1")?;
    table.must(group.timeout.0 > 0, "timeout", "longer than 0")?;
    table.must(
        !group.cm || group.service != Service::Ud,
        "cm",
        "of connected services alone",
    )?;
    if let Some(tunnel) = &group.encapsulation {
        let same = tunnel.src.is_ipv4() && tunnel.dst.is_ipv4();
        table.must(same, "encapsulation", "src and dst must be IPv4")?;
        let vni = tunnel.vni < 1 << 24 && (tunnel.vni == 0 || tunnel.kind == Tunnel::Vxlan);
        table.must(
            vni,
            "encapsulation",
            "vni is below 2^24, and of vxlan alone",
        )?;
        table.must(
            tunnel.session < 1 << 10,
            "encapsulation",
            "session is below 1024",
        )?;
        let truncate = tunnel.truncate.is_none_or(|bytes| bytes >= 96);
        table.must(
            truncate,
            "encapsulation",
            "truncate leaves at least 96 bytes",
        )?;
    }
    for (key, list) in [
        ("loss", &group.loss),
        ("duplicate", &group.duplicate),
        ("reorder", &group.reorder),
        ("corrupt", &group.corrupt),
    ] {
        for one in list {
            impairment(table, group, key, one)?;
        }
    }
    reliability(table, group)
}

fn operations(table: &Table<'_>, group: &Group) -> Result<(), ScenarioError> {
    let (key, shares) = if group.operations.is_empty() {
        let only = Share {
            operation: group.operation,
            weight: 1,
            message: group.message,
        };
        ("operation", vec![only])
    } else {
        let weights = group
            .operations
            .iter()
            .map(|share| u64::from(share.weight))
            .sum::<u64>();
        table.must(weights > 0, "operations", "some weight above 0")?;
        ("operations", group.operations.clone())
    };
    for share in &shares {
        use Operation::{Send, SendWithImmediate, Write, WriteWithImmediate};
        let operation = share.operation;
        match group.service {
            Service::Rc => {}
            Service::Uc => table.must(
                matches!(
                    operation,
                    Send | SendWithImmediate | Write | WriteWithImmediate
                ),
                key,
                "uc has send and write, with immediate or without",
            )?,
            Service::Ud => {
                table.must(
                    matches!(operation, Send | SendWithImmediate),
                    key,
                    "ud has send, with immediate or without",
                )?;
                let fits = share.message.max() <= group.mtu;
                let key = if key == "operation" { "message" } else { key };
                table.must(fits, key, "a datagram fits the mtu")?;
            }
        }
        if operation == Operation::Read {
            let empty = matches!(share.message, Length::Fixed(0) | Length::Uniform(0, _));
            table.must(!empty, key, "a read of no bytes is not generated")?;
        }
    }
    Ok(())
}

fn rates(table: &Table<'_>, group: &Group) -> Result<(), ScenarioError> {
    let both = group.rate.is_some() && group.group_rate.is_some();
    table.must(!both, "group_rate", "rate is given already")?;
    let rate = group.rate.or(group.group_rate);
    table.must(rate.is_some(), "rate", "missing: give rate or group_rate")?;
    let key = if group.rate.is_some() {
        "rate"
    } else {
        "group_rate"
    };
    // A bit a second and flow: else a flow's first message would take for ever.
    let least = if group.rate.is_some() {
        1
    } else {
        group.count as u64
    };
    table.must(
        rate.is_some_and(|rate| rate.0 >= least),
        key,
        "at least 1bit/s a flow",
    )?;
    table.must((0.0..=10.0).contains(&group.zipf), "zipf", "from 0 to 10")?;
    table.must(
        group.zipf == 0.0 || group.group_rate.is_some(),
        "zipf",
        "divides a group_rate",
    )?;
    table.must(
        group.line_rate.is_none_or(|rate| rate.0 > 0),
        "line_rate",
        "above 0",
    )?;
    let sorted = group.rate_changes.is_sorted_by(|a, b| a.at < b.at);
    table.must(sorted, "rate_changes", "each later than the one before")?;
    let rates = group
        .rate_changes
        .iter()
        .all(|change| change.rate.0 >= least);
    table.must(rates, "rate_changes", "at least 1bit/s a flow")
}

fn impairment(
    table: &Table<'_>,
    group: &Group,
    key: &str,
    impairment: &Impairment,
) -> Result<(), ScenarioError> {
    let sorted = impairment.packets.is_sorted_by(|a, b| a < b);
    table.must(sorted, key, "packets in rising order")?;
    let late = key == "reorder";
    let by = impairment.by.unwrap_or(1);
    table.must(
        impairment.by.is_none() && impairment.hold.is_none() || late,
        key,
        "by and hold are of reorder",
    )?;
    table.must((1..=REORDER_MAX).contains(&by), key, "by is from 1 to 63")?;
    table.must(
        key != "corrupt" || impairment.side == Side::BeforeTap,
        key,
        "damage behind the tap is loss behind the tap",
    )?;
    if impairment.of == Of::Responses {
        let known = matches!(key, "loss" | "corrupt");
        table.must(known, key, "responses can be lost or damaged")?;
        table.must(group.service == Service::Rc, key, "rc alone has responses")?;
    }
    Ok(())
}

/// Keys that need a reliable service.
fn reliability(table: &Table<'_>, group: &Group) -> Result<(), ScenarioError> {
    let rc = group.service == Service::Rc;
    table.must(rc || group.ack_every.is_none(), "ack_every", "of rc alone")?;
    table.must(rc || group.rnr.is_none(), "rnr", "of rc alone")?;
    table.must(rc || group.refuse.is_none(), "refuse", "of rc alone")?;
    table.must(
        rc || group.receiver == Receiver::Strict,
        "receiver",
        "of rc alone",
    )?;
    if let Some(ecn) = &group.ecn {
        table.must(
            (0.0..1.0).contains(&ecn.cut),
            "ecn",
            "cut is from 0 to below 1",
        )?;
        table.must(ecn.recovery.0 > 0, "ecn", "recovery is longer than 0")?;
    }
    let timer = group.rnr.as_ref().is_none_or(|rnr| rnr.timer < 32);
    table.must(timer, "rnr", "timer is from 0 to 31")
}

fn background(table: &Table<'_>, background: &Background) -> Result<(), ScenarioError> {
    let rate = background.frames_per_second;
    table.must(
        (0.001..=1e9).contains(&rate),
        "frames_per_second",
        "from 0.001 to 1,000,000,000",
    )?;
    table.must(background.payload <= 1400, "payload", "at most 1400 bytes")?;
    let same = background.src.is_v6() == background.dst.is_v6();
    table.must(same, "dst", "of the IP version of src")
}
