//! Checks of a scenario beyond the types of its fields.

use super::collective::{Algorithm, Collective, Straggler};
use super::error::ScenarioError;
use super::group::{Group, Length, Operation, Receiver, Sender, Service, Share, Tunnel};
use super::impairment::{Impairment, Of, Side, Spray, Sprayed};
use super::{Background, Scenario, Uet};
use std::fmt::Display;

/// The maximum number of flows in a group.
const FLOWS_MAX: usize = 1_000_000;
/// How far a reordered packet may fall behind, and the memory of a receiver.
const REORDER_MAX: u32 = 65_535;
/// The maximum number of paths.
const PATHS_MAX: u32 = 65_536;

/// Reports an error in a key of a table.
struct Table<'a> {
    text: &'a str,
    at: usize,
}

impl Table<'_> {
    fn require(&self, holds: bool, key: &str, message: impl Display) -> Result<(), ScenarioError> {
        if holds {
            return Ok(());
        }
        let message = message.to_string();
        Err(ScenarioError::of_key(self.text, self.at, key, message))
    }
}

pub(super) fn scenario(text: &str, scenario: &Scenario) -> Result<(), ScenarioError> {
    let whole = Table { text, at: 0 };
    let valid = scenario.snaplen >= 64;
    whole.require(valid, "snaplen", "must be at least 64 bytes, the headers")?;
    whole.require(
        scenario.start_unix_s <= 4_000_000_000,
        "start_unix_s",
        "must be at most 4,000,000,000: a pcap file counts seconds with 32 bits",
    )?;
    if scenario.truth.window.0 == 0 {
        return Err(ScenarioError::Whole("truth.window: must be longer than 0".into()));
    }
    let has_sources = !scenario.uet.is_empty() || !scenario.collectives.is_empty();
    if scenario.groups.is_empty() && scenario.background.is_empty() && !has_sources {
        return Err(ScenarioError::Whole(
            "the scenario generates nothing: add [[flows]], [[collective]], [[uet]] or [[background]]".into(),
        ));
    }
    let ends =
        |stop: bool, messages: bool| scenario.duration.is_some() || scenario.frames.is_some() || stop || messages;
    let endless = |group: &Group| !ends(group.stop.is_some(), group.messages.is_some());
    if scenario.groups().any(endless) || scenario.background().any(|b| !ends(b.stop.is_some(), false)) {
        return Err(ScenarioError::Whole(
            "the scenario never ends: set duration or frames, or stop or messages in every table".into(),
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
    for spanned in &scenario.uet {
        let at = spanned.span().start;
        uet(&Table { text, at }, spanned.get_ref())?;
    }
    for spanned in &scenario.collectives {
        let at = spanned.span().start;
        collective(&Table { text, at }, spanned.get_ref())?;
    }
    Ok(())
}

/// Ranks of a collective.
const RANKS_MAX: usize = 1_024;
/// Queue pairs of all links of a rank: their numbers must not overlap.
const CHANNELS_MAX: u16 = 64;

fn collective(table: &Table<'_>, collective: &Collective) -> Result<(), ScenarioError> {
    let ranks = collective.ranks.len();
    let valid = (2..=RANKS_MAX).contains(&ranks);
    table.require(valid, "ranks", "must be from 2 to 1,024 addresses")?;
    let valid = collective.algorithm != Algorithm::HalvingDoubling || ranks.is_power_of_two();
    table.require(valid, "ranks", "must be a power of two for halving-doubling")?;
    for (key, count) in [("channels", collective.channels), ("qps", collective.qps)] {
        let valid = (1..=CHANNELS_MAX).contains(&count);
        table.require(valid, key, "must be from 1 to 64")?;
    }
    let valid = (1..=1 << 30).contains(&collective.chunk.0);
    table.require(valid, "chunk", "must be from 1 byte to 1 GiB")?;
    for (key, count) in [("loops", collective.loops), ("repeat", collective.repeat)] {
        table.require(count > 0, key, "must be at least 1")?;
    }
    table.require(collective.slots > 0, "slots", "must be at least 1")?;
    let mtu = matches!(collective.mtu, 256 | 512 | 1024 | 2048 | 4096);
    table.require(mtu, "mtu", "must be 256, 512, 1024, 2048 or 4096")?;
    table.require(collective.rate.0 > 0, "rate", "must be above 0")?;
    table.require(collective.timeout.0 > 0, "timeout", "must be longer than 0")?;
    for straggler in &collective.straggler {
        let valid = straggler.rank().is_none_or(|rank| (rank as usize) < ranks);
        table.require(valid, "straggler.rank", "must be below the number of ranks")?;
        match straggler {
            Straggler::SlowLink { rate, .. } => table.require(rate.0 > 0, "straggler.rate", "must be above 0")?,
            Straggler::LossyQp { channel, .. } => {
                let valid = channel.is_none_or(|channel| channel < collective.channels);
                table.require(valid, "straggler.channel", "must be below the number of channels")?;
            }
            Straggler::SlowRank { .. } | Straggler::LateStart { .. } => {}
        }
    }
    Ok(())
}

/// PDCs of a group: each side has a number for every one.
const PDCS_MAX: u32 = 32_768;
/// Packets that a window may hold: the offset from the first PSN has 12 bits.
const UET_WINDOW_MAX: u32 = 4_095;

fn uet(table: &Table<'_>, uet: &Uet) -> Result<(), ScenarioError> {
    let valid = uet.src.is_v6() == uet.dst.is_v6();
    table.require(valid, "dst", "must have the IP version of src")?;
    let valid = (1..=PDCS_MAX).contains(&uet.count);
    table.require(valid, "count", "must be from 1 to 32,768")?;
    let valid = (1..=10_000_000).contains(&uet.packets);
    table.require(valid, "packets", "must be from 1 to 10,000,000")?;
    table.require(uet.message > 0, "message", "must be at least 1")?;
    let valid = (100..=9_000).contains(&uet.payload);
    table.require(
        valid,
        "payload",
        "must be from 100 to 9,000 bytes: less cannot be trimmed",
    )?;
    table.require(uet.job < 1 << 24, "job", "must be below 2^24")?;
    let valid = (1..=UET_WINDOW_MAX).contains(&uet.window);
    table.require(valid, "window", "must be from 1 to 4,095")?;
    let valid = (1..=PATHS_MAX / 4).contains(&uet.paths);
    table.require(valid, "paths", "must be from 1 to 16,384")?;
    table.require(uet.ack_every > 0, "ack_every", "must be at least 1")?;
    table.require(uet.timeout.0 > 0, "timeout", "must be longer than 0")
}

fn group(table: &Table<'_>, group: &Group) -> Result<(), ScenarioError> {
    let count = group.count;
    let valid = (1..=FLOWS_MAX).contains(&count);
    table.require(valid, "count", "must be from 1 to 1,000,000")?;
    let valid = group.src.is_v6() == group.dst.is_v6();
    table.require(valid, "dst", "must have the IP version of src")?;
    table.require(group.vlan.len() <= 2, "vlan", "must have at most two tags")?;
    let valid = group.vlan.iter().all(|id| *id < 4095);
    table.require(valid, "vlan", "ids must be below 4095")?;
    table.require(group.vlan_priority < 8, "vlan_priority", "must be at most 7")?;
    table.require(group.dscp < 64, "dscp", "must be at most 63")?;
    let [low, high] = group.src_ports;
    table.require(
        0 < low && low <= high,
        "src_ports",
        "must be the lowest and the highest port",
    )?;
    for (key, first) in [("qpn", group.qpn), ("src_qpn", group.src_qpn)] {
        let fits = first.is_none_or(|first| first >= 2 && first as usize + count <= 1 << 24);
        table.require(fits, key, "all queue pairs must be from 2 to below 2^24")?;
    }
    let psn = group.start_psn.is_none_or(|psn| psn < 1 << 24);
    table.require(psn, "start_psn", "must be below 2^24")?;
    let mtu = matches!(group.mtu, 256 | 512 | 1024 | 2048 | 4096);
    table.require(mtu, "mtu", "must be 256, 512, 1024, 2048 or 4096")?;
    operations(table, group)?;
    rates(table, group)?;
    if let Some(stop) = group.stop {
        table.require(stop > group.start, "stop", "must be after start")?;
    }
    let valid = (1..=65_536).contains(&group.depth);
    table.require(valid, "depth", "must be from 1 to 65,536")?;
    let valid = group.ack_every != Some(0);
    table.require(valid, "ack_every", "must be at least 1")?;
    table.require(group.ack_coalesce > 0, "ack_coalesce", "must be at least 1")?;
    table.require(group.timeout.0 > 0, "timeout", "must be longer than 0")?;
    let valid = !group.cm || group.service != Service::Ud;
    table.require(valid, "cm", "needs service rc or uc")?;
    if let Some(tunnel) = &group.encapsulation {
        let same = tunnel.src.is_ipv4() && tunnel.dst.is_ipv4();
        table.require(same, "encapsulation", "src and dst must be IPv4")?;
        let vni = tunnel.vni < 1 << 24 && (tunnel.vni == 0 || tunnel.kind == Tunnel::Vxlan);
        table.require(vni, "encapsulation", "vni must be below 2^24, and needs kind vxlan")?;
        let valid = tunnel.session < 1 << 10;
        table.require(valid, "encapsulation", "session must be below 1024")?;
        let truncate = tunnel.truncate.is_none_or(|bytes| bytes >= 96);
        table.require(truncate, "encapsulation", "truncate must be at least 96 bytes")?;
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
    for one in &group.spray {
        spray(table, group, one)?;
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
        table.require(weights > 0, "operations", "one weight must be above 0")?;
        ("operations", group.operations.clone())
    };
    for share in &shares {
        use Operation::{Send, SendWithImmediate, Write, WriteWithImmediate};
        let operation = share.operation;
        match group.service {
            Service::Rc => {}
            Service::Uc => table.require(
                matches!(operation, Send | SendWithImmediate | Write | WriteWithImmediate),
                key,
                "uc supports send and write, with or without immediate data",
            )?,
            Service::Ud => {
                table.require(
                    matches!(operation, Send | SendWithImmediate),
                    key,
                    "ud supports send, with or without immediate data",
                )?;
                let fits = share.message.max() <= group.mtu;
                let key = if key == "operation" { "message" } else { key };
                table.require(fits, key, "a datagram must fit into the mtu")?;
            }
        }
        if operation == Operation::Read {
            let empty = matches!(share.message, Length::Fixed(0) | Length::Uniform(0, _));
            table.require(!empty, key, "a read must have at least one byte")?;
        }
    }
    Ok(())
}

fn rates(table: &Table<'_>, group: &Group) -> Result<(), ScenarioError> {
    let both = group.rate.is_some() && group.group_rate.is_some();
    table.require(!both, "group_rate", "cannot be combined with rate")?;
    let rate = group.rate.or(group.group_rate);
    table.require(rate.is_some(), "rate", "missing: set rate or group_rate")?;
    let key = if group.rate.is_some() { "rate" } else { "group_rate" };
    // At least a bit a second for each flow, so that its first message ends.
    let least = if group.rate.is_some() { 1 } else { group.count as u64 };
    let valid = rate.is_some_and(|rate| rate.0 >= least);
    table.require(valid, key, "must be at least 1bit/s a flow")?;
    let valid = (0.0..=10.0).contains(&group.zipf);
    table.require(valid, "zipf", "must be from 0 to 10")?;
    let valid = group.zipf == 0.0 || group.group_rate.is_some();
    table.require(valid, "zipf", "needs group_rate")?;
    let valid = group.line_rate.is_none_or(|rate| rate.0 > 0);
    table.require(valid, "line_rate", "must be above 0")?;
    let sorted = group.rate_changes.is_sorted_by(|a, b| a.at < b.at);
    table.require(sorted, "rate_changes", "must be in order of time")?;
    let rates = group.rate_changes.iter().all(|change| change.rate.0 >= least);
    table.require(rates, "rate_changes", "must be at least 1bit/s a flow")
}

fn impairment(table: &Table<'_>, group: &Group, key: &str, impairment: &Impairment) -> Result<(), ScenarioError> {
    let sorted = impairment.packets.is_sorted_by(|a, b| a < b);
    table.require(sorted, key, "packets must be in rising order")?;
    let late = key == "reorder";
    let by = impairment.by.unwrap_or(1);
    let valid = impairment.by.is_none() && impairment.hold.is_none() || late;
    table.require(valid, key, "by and hold need reorder")?;
    let valid = impairment.burst.is_none_or(|burst| burst > 0 && key == "loss");
    table.require(valid, key, "burst must be at least 1, and needs loss")?;
    let valid = (1..=REORDER_MAX).contains(&by);
    table.require(valid, key, "by must be from 1 to 65,535")?;
    table.require(
        key != "corrupt" || impairment.side == Side::Upstream,
        key,
        "use loss instead: downstream of the tap, a damaged packet is a lost packet",
    )?;
    if impairment.of == Of::Responses {
        let known = matches!(key, "loss" | "corrupt");
        table.require(known, key, "responses support only loss and corrupt")?;
        let valid = group.service == Service::Rc;
        table.require(valid, key, "responses need service rc")?;
    }
    Ok(())
}

fn spray(table: &Table<'_>, group: &Group, spray: &Spray) -> Result<(), ScenarioError> {
    let valid = (1..=PATHS_MAX).contains(&spray.paths);
    table.require(valid, "spray", "paths must be from 1 to 65,536")?;
    let valid = spray.of == Sprayed::Requests || group.service == Service::Rc;
    table.require(valid, "spray", "responses need service rc")?;
    let once = group.spray.iter().filter(|one| one.of == spray.of).count() == 1;
    table.require(once, "spray", "at most one for each kind of packet")
}

/// Keys that need a reliable service.
fn reliability(table: &Table<'_>, group: &Group) -> Result<(), ScenarioError> {
    let rc = group.service == Service::Rc;
    let valid = rc || group.ack_every.is_none();
    table.require(valid, "ack_every", "needs service rc")?;
    table.require(rc || group.rnr.is_none(), "rnr", "needs service rc")?;
    table.require(rc || group.refuse.is_none(), "refuse", "needs service rc")?;
    let valid = rc || group.receiver == Receiver::Strict;
    table.require(valid, "receiver", "needs service rc")?;
    let valid = rc || group.sender == Sender::GoBackN;
    table.require(valid, "sender", "needs service rc")?;
    let selective = group.receiver == Receiver::Selective;
    let valid = selective || group.sender == Sender::GoBackN;
    table.require(valid, "sender", "selective needs a selective receiver")?;
    let valid = selective || group.nak_delay.0 == 0;
    table.require(valid, "nak_delay", "needs a selective receiver")?;
    let valid = group.sender == Sender::Selective || !group.sack;
    table.require(valid, "sack", "needs a selective sender")?;
    let valid = (1..=u64::from(REORDER_MAX)).contains(&group.window);
    table.require(valid, "window", "must be from 1 to 65,535")?;
    if let Some(ecn) = &group.ecn {
        let valid = (0.0..1.0).contains(&ecn.cut);
        table.require(valid, "ecn", "cut must be at least 0 and below 1")?;
        table.require(ecn.recovery.0 > 0, "ecn", "recovery must be longer than 0")?;
    }
    let timer = group.rnr.as_ref().is_none_or(|rnr| rnr.timer < 32);
    table.require(timer, "rnr", "timer must be from 0 to 31")
}

fn background(table: &Table<'_>, background: &Background) -> Result<(), ScenarioError> {
    let rate = background.frames_per_second;
    table.require(
        (0.001..=1e9).contains(&rate),
        "frames_per_second",
        "must be from 0.001 to 1,000,000,000",
    )?;
    let valid = background.payload <= 1400;
    table.require(valid, "payload", "must be at most 1400 bytes")?;
    let same = background.src.is_v6() == background.dst.is_v6();
    table.require(same, "dst", "must have the IP version of src")
}
