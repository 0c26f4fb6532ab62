//! Server pairs with a number of flows each: only their flows belong to the workload (Algorithm 1).

use super::{RatedFlow, Workload};
use rocescope_diagnose::paths::Fabric;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// A pair of servers, one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Name of a host of the topology, or an address.
    pub src: String,
    /// The same for the destination.
    pub dst: String,
    /// Flows from one to the other; `None`: all.
    pub flows: Option<u64>,
}

/// A pair with fewer flows than it should have.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Shortfall {
    /// Source.
    pub src: String,
    /// Destination.
    pub dst: String,
    /// Flows that it should have.
    pub expected: u64,
    /// Flows that were found.
    pub found: u64,
}

/// Parses lines `SRC DST [FLOWS]`; `#` begins a comment.
///
/// # Errors
/// The first line that is none.
pub fn parse(text: &str) -> Result<Vec<Pair>, String> {
    let mut pairs = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let (src, dst, flows) = match &words[..] {
            [] => continue,
            [src, dst] => (src, dst, None),
            [src, dst, flows] => {
                let count = flows
                    .parse()
                    .map_err(|_| format!("line {number}: `{flows}` is no number of flows"))?;
                (src, dst, Some(count))
            }
            _ => return Err(format!("line {number}: expected `SRC DST [FLOWS]`")),
        };
        pairs.push(Pair {
            src: (*src).into(),
            dst: (*dst).into(),
            flows,
        });
    }
    Ok(pairs)
}

/// Checks that each end is an address or a host of the topology, and each pair listed once.
///
/// # Errors
/// The first that is not.
pub fn check(pairs: &[Pair], fabric: Option<&Fabric>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for pair in pairs {
        for name in [&pair.src, &pair.dst] {
            let is_known = fabric.is_some_and(|fabric| fabric.find(name).is_some());
            if !is_known && name.parse::<IpAddr>().is_err() {
                return Err(match fabric {
                    Some(_) => format!("{name} is no address, and no node of the topology"),
                    None => format!("{name} is no address: name the topology that has it with --topology"),
                });
            }
        }
        if !seen.insert((&pair.src, &pair.dst)) {
            return Err(format!("the pair {} {} is listed twice", pair.src, pair.dst));
        }
    }
    Ok(())
}

/// Keeps the flows of the pairs: of each as many as it states, those with the highest rate first.
pub fn select(workload: &mut Workload, pairs: &[Pair], fabric: Option<&Fabric>) -> Vec<Shortfall> {
    let is_of = |name: &str, address: IpAddr| {
        let node = fabric.and_then(|fabric| fabric.owner(address).map(|node| fabric.name(node)));
        node == Some(name) || name.parse() == Ok(address)
    };
    let mut all = std::mem::take(&mut workload.flows);
    all.sort_by(|a, b| {
        let rate = |flow: &RatedFlow| flow.bps.unwrap_or_default();
        rate(b).total_cmp(&rate(a)).then(a.flow.cmp(&b.flow))
    });
    let mut found = vec![0_u64; pairs.len()];
    for rated in all {
        let of_pair = |pair: &Pair| is_of(&pair.src, rated.flow.src) && is_of(&pair.dst, rated.flow.dst);
        let Some(place) = pairs.iter().position(of_pair) else {
            workload.skip("other_pair");
            continue;
        };
        if pairs[place].flows.is_some_and(|count| found[place] >= count) {
            workload.skip("beyond_the_number_of_the_pair");
            continue;
        }
        found[place] += 1;
        workload.flows.push(rated);
    }
    workload.flows.sort_by_key(|rated| rated.flow);
    let short = pairs.iter().zip(found).filter_map(|(pair, found)| {
        let expected = pair.flows.unwrap_or(1);
        (found < expected).then(|| Shortfall {
            src: pair.src.clone(),
            dst: pair.dst.clone(),
            expected,
            found,
        })
    });
    short.collect()
}
