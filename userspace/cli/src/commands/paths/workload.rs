//! The flows of a workload, from all sources that the command line names.

use crate::arguments::{SpanArguments, WorkloadArguments};
use crate::commands::{input, span};
use crate::filters::{address_filter, row_filter};
use anyhow::{Context, Result, anyhow, ensure};
use rocescope_analysis::paths::captured::{Captured, flow_of};
use rocescope_capture::file::FrameSource;
use rocescope_diagnose::paths::Fabric;
use rocescope_engine::request::udp_ports;
use rocescope_model::hosts::Hosts;
use rocescope_model::{FlowRow, QueuePairRow, ROCE_UDP_PORT, Row, UdpPath};
use rocescope_paths::workload::agents::Agents;
use rocescope_paths::workload::{list, pairs, rdma, ss, vxlan};
use rocescope_paths::{Flow, RatedFlow, Workload};
use rocescope_runtime::Signals;
use rocescope_store::Query;
use rocescope_wire::{Class, decode};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;

/// Reads all sources; returns the flows, and the pairs that have fewer than they should.
pub(super) fn read(
    arguments: &WorkloadArguments,
    fabric: Option<&Fabric>,
) -> Result<(Workload, Vec<pairs::Shortfall>)> {
    ensure!(
        arguments.span == SpanArguments::default()
            || !(arguments.dataset.is_empty() && arguments.from_agents.is_empty()),
        "--from, --to and --last select flows of --dataset and --from-agents, which are missing"
    );
    ensure!(
        arguments.filter.is_none() || !(arguments.dataset.is_empty() && arguments.read.is_empty()),
        "--filter selects flows of --dataset and -r, which are missing"
    );
    let mut workload = Workload::default();
    let text = |path: &Path| rocescope_input::text(path).with_context(|| path.display().to_string());
    for path in &arguments.flows {
        let read = list::parse(&text(path)?).map_err(|error| anyhow!("{}: {error}", path.display()))?;
        workload.extend(read);
    }
    for path in &arguments.ss {
        let read = ss::parse(&text(path)?).map_err(|error| anyhow!("{}: {error}", path.display()))?;
        workload.extend(read);
    }
    if let Some(folder) = &arguments.rdma {
        workload.extend(queue_pairs(folder)?);
    }
    for root in &arguments.from_agents {
        workload.extend(of_agents(root, &arguments.span)?);
    }
    for root in &arguments.dataset {
        workload.extend(captured(root, arguments)?);
    }
    if !arguments.read.is_empty() {
        workload.extend(of_files(arguments, fabric)?);
    }
    ensure!(
        !(arguments.flows.is_empty()
            && arguments.ss.is_empty()
            && arguments.dataset.is_empty()
            && arguments.read.is_empty()
            && arguments.rdma.is_none()
            && arguments.from_agents.is_empty()),
        "no source of flows: name one with --flows, --dataset, -r, --ss, --rdma or --from-agents"
    );
    workload.settle();
    let short = match &arguments.pairs {
        None => Vec::new(),
        Some(path) => {
            let named = |error: String| anyhow!("{}: {error}", path.display());
            let wanted = pairs::parse(&text(path)?).map_err(named)?;
            pairs::check(&wanted, fabric).map_err(named)?;
            pairs::select(&mut workload, &wanted, fabric)
        }
    };
    Ok((workload, short))
}

fn queue_pairs(folder: &Path) -> Result<Workload> {
    let mut reports = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let text = rocescope_input::text(&path).with_context(|| path.display().to_string())?;
            let report = rdma::Report::parse(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            reports.insert(name, report);
        }
    }
    ensure!(!reports.is_empty(), "{} has no SERVER.json", folder.display());
    Ok(rdma::flows(&reports))
}

/// The flows of the queue pairs that are connected at the end of the time.
fn of_agents(root: &Path, span: &SpanArguments) -> Result<Workload> {
    let time = span::range(span)?;
    let query = Query::default().tables(&[QueuePairRow::TABLE]).within(time);
    let found = query.open(root)?;
    let mut agents = Agents::default();
    let rows = found.select::<QueuePairRow>().within(time);
    rows.columns(|column| Agents::is_read(column.name))
        .for_each(|row| agents.row(row))?;
    if agents.is_empty() {
        let nothing = span::nothing(root, span)?;
        return Err(nothing.unwrap_or_else(|| {
            anyhow!(
                "{} has no rows in `queue_pairs`: agents with [queue-pairs] and `rocescope counters --queue-pairs --out` \
                 write them",
                root.display()
            )
        }));
    }
    Ok(agents.flows())
}

/// The flows of a dataset, with their mean rates.
fn captured(root: &Path, arguments: &WorkloadArguments) -> Result<Workload> {
    let filter = arguments.filter.as_deref().map(row_filter::<FlowRow>).transpose()?;
    let filter = filter.map(|filter| filter.resolve(&Hosts::default())).transpose()?;
    let found = Query::default().within(span::range(&arguments.span)?).open(root)?;
    if found.row_count(FlowRow::TABLE.name) == 0 {
        let nothing = span::nothing(root, &arguments.span)?;
        return Err(nothing.unwrap_or_else(|| {
            anyhow!(
                "{} has no rows in `flows`: `rocescope capture --out` writes them",
                root.display()
            )
        }));
    }
    let mut workload = Workload::default();
    let mut captured = Captured::default();
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    let mut timeline = found.select::<FlowRow>().timeline()?;
    while let Some(start_ns) = timeline.next_ns() {
        for (_, row) in timeline.take(start_ns)? {
            first = first.min(row.window_start_ns);
            last = last.max(row.window_start_ns.saturating_add(row.window_ns));
            if filter
                .as_ref()
                .is_some_and(|filter| !filter.matches(std::slice::from_ref(&row), 0))
            {
                continue;
            }
            match flow_of(&row) {
                Some(flow) => captured.add(flow, &row),
                None => workload.skip("sprayed"),
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
    let rated = captured.flows().into_iter().map(|(flow, bytes)| RatedFlow {
        flow,
        bps: Some(bytes as f64 * 8e9 / last.saturating_sub(first).max(1) as f64),
    });
    workload.flows.extend(rated);
    Ok(workload)
}

/// Flows of capture files, at most: more than a fabric has.
const MAX_FLOWS: usize = 4_000_000;

fn of_files(arguments: &WorkloadArguments, fabric: Option<&Fabric>) -> Result<Workload> {
    let filter = arguments.filter.as_deref().map(address_filter).transpose()?;
    let ports = udp_ports(&[ROCE_UDP_PORT])?;
    let signals = Signals::install()?;
    let mut reader = input::open(&arguments.read, &signals)?;
    let mut workload = Workload::default();
    let mut flows: BTreeSet<Flow> = BTreeSet::new();
    while let Some(frame) = reader.next_frame()? {
        if signals.ended() {
            break;
        }
        let Some(link) = frame.link else { continue };
        let Class::Roce(packet) = decode(frame.bytes, link, frame.lengths, ports) else {
            workload.skip("no_roce_packet");
            continue;
        };
        if filter.as_ref().is_some_and(|filter| !filter.wants_packet(&packet)) {
            workload.skip("filtered_packet");
            continue;
        }
        let address = |bytes: [u8; 16]| IpAddr::from(Ipv6Addr::from(bytes)).to_canonical();
        // A mirror may use VXLAN too: only a tunnel between nodes of the topology is one of the fabric.
        let is_known = |outer: &UdpPath| {
            let owner = |address| fabric.and_then(|fabric| fabric.owner(address));
            owner(outer.src).is_some() && owner(outer.dst).is_some()
        };
        let outer = vxlan::outer(frame.bytes, link).filter(is_known);
        let flow = Flow {
            dst_qpn: Some(packet.flow.dst_qpn),
            outer_src_port: outer.map(|outer| outer.port),
            ..Flow::roce(
                address(packet.flow.src),
                address(packet.flow.dst),
                packet.flow.udp_src_port,
            )
        };
        if flows.len() < MAX_FLOWS {
            flows.insert(flow);
        } else if !flows.contains(&flow) {
            workload.skip("beyond_the_number_of_flows");
        }
    }
    flows.into_iter().for_each(|flow| workload.add(flow));
    Ok(workload)
}
