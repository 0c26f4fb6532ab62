//! Assembles the truth from the counts.

use super::account::Account;
use super::collective::Source;
use super::endpoints::{Endpoints, Flow, Link};
use super::scenario::Scenario;
use super::tally::Direction;
use super::truth::{ConnectionTruth, EndTruth, FlowTruth, Losses, Series, SeriesWindow, Truth, service_name};
use rocescope_wire::Opcode;
use rocescope_wire::tunnel::Encapsulation;
use std::cmp::Reverse;
use std::collections::HashMap;

/// The truth about all frames so far.
pub(super) fn truth(
    scenario: &Scenario,
    seed: u64,
    endpoints: &Endpoints,
    collectives: &[Source],
    account: &Account,
) -> Truth {
    let options = &scenario.truth;
    let mut losses = Losses::default();
    let mut repeated_request_psns = 0;
    let mut connections = Vec::new();
    let links = endpoints
        .links
        .iter()
        .zip(&endpoints.ledgers)
        .zip(&endpoints.connections);
    for (index, ((link, ledger), connection)) in links.enumerate() {
        let mut directions = ledger.finished(link.ends.start_psns);
        for (direction, completed) in directions.iter_mut().zip(connection.completed()) {
            direction.completed_messages = completed;
            losses.add(direction);
            repeated_request_psns += direction.repeated_request_psns;
        }
        if index < options.connections {
            connections.extend(connection_truth(endpoints, link, directions));
        }
    }
    losses.lost_by_mirror = account.lost_by_mirror;
    number_lives(&mut connections);
    let all = endpoints.flows.iter().chain(collectives.iter().flat_map(Source::flows));
    let seen = all.filter(|flow| flow.volume.packets > 0);
    let mut flows: Vec<&Flow> = seen.collect();
    let flow_count = flows.len() as u64;
    flows.sort_by_key(|flow| Reverse(flow.volume.frame_bytes));
    flows.truncate(options.top_flows);
    let opcodes = (0..=u8::MAX)
        .zip(&account.opcodes)
        .filter(|(_, volume)| volume.packets > 0)
        .map(|(opcode, volume)| (Opcode(opcode).to_string(), *volume));
    let rnr_timers = account.rnr_timers.iter();
    let encapsulations = Encapsulation::NAMES.into_iter().zip(account.encapsulations);
    Truth {
        scenario: scenario.name.clone(),
        seed,
        frames: account.frames,
        roce_packets: account.frames - account.not_roce,
        not_roce: account.not_roce,
        icrc_bad: account.icrc_bad,
        icrc_unverifiable: account.icrc_unverifiable,
        messages: account.messages,
        flows: flow_count,
        repeated_request_psns,
        opcodes: opcodes.collect(),
        aeth: account.aeth.clone(),
        rnr_timers: rnr_timers.map(|(timer, count)| (timer.to_string(), *count)).collect(),
        top_flows: flows.into_iter().map(flow_truth).collect(),
        first_ns: account.first_ns.unwrap_or_default(),
        last_ns: account.last_ns,
        losses,
        encapsulations: encapsulations.filter(|(_, frames)| *frames > 0).collect(),
        window_ns: options.window.0,
        windows: account.windows.clone(),
        series: endpoints
            .flows
            .iter()
            .take(options.series)
            .map(|flow| series(flow, account, options.window.0))
            .collect(),
        connections_total: endpoints.links.len() as u64 + collectives.iter().map(Source::connections).sum::<u64>(),
        connections,
        pdcs: Vec::new(),
        steps: Vec::new(),
        stragglers: Vec::new(),
    }
}

/// Connections between the same queue pairs follow each other in the order of the scenario.
fn number_lives(connections: &mut [ConnectionTruth]) {
    let mut lives = HashMap::new();
    for connection in connections {
        let (a, b) = (&connection.a, &connection.b);
        let life: &mut u32 = lives.entry((a.ip, a.qpn, b.ip, b.qpn)).or_default();
        *life += 1;
        connection.life = *life;
    }
}

fn flow_truth(flow: &Flow) -> FlowTruth {
    FlowTruth {
        id: flow.id,
        volume: flow.volume,
        messages: flow.messages,
    }
}

fn series(flow: &Flow, account: &Account, window_ns: u64) -> Series {
    let windows = flow.series.iter().filter_map(|(number, volume)| {
        // Windows are numbered from 1.
        let window = account.windows.get((*number as usize).checked_sub(1)?)?;
        Some(SeriesWindow {
            start_ns: window.start_ns,
            volume: *volume,
            frame_bps: volume.frame_bytes as f64 * 8e9 / window_ns as f64,
        })
    });
    Series {
        id: flow.id,
        windows: windows.collect(),
    }
}

fn connection_truth(endpoints: &Endpoints, link: &Link, directions: [Direction; 2]) -> Option<ConnectionTruth> {
    let group = endpoints.groups.get(link.group)?;
    let end = |side: usize| {
        let flow = endpoints.flows.get(*link.flows.get(side)? as usize)?;
        let asks = side == 0 || group.bidirectional;
        Some(EndTruth {
            ip: flow.id.src,
            qpn: *link.ends.qpns.get(side)?,
            udp_src_port: flow.id.udp_src_port,
            start_psn: link.ends.start_psns.get(side).copied().filter(|_| asks),
        })
    };
    let [a_to_b, b_to_a] = directions;
    Some(ConnectionTruth {
        group: group.name.clone(),
        service: service_name(group.service),
        cm: group.cm,
        life: 1,
        path_mtu: group.mtu,
        vlan: group.vlan.clone(),
        a: end(0)?,
        b: end(1)?,
        a_to_b,
        b_to_a,
    })
}
