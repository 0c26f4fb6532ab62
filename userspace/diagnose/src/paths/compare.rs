//! Two runs: what changed on layers, links and paths.

use super::down::{EmptyLink, emptied};
use super::fabric::Within;
use super::load::{Imbalance, LayerLoad, LinkLoad};
use super::walk::Hop;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::json;
use serde::Serialize;

/// What differs between run A and run B.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The fabric.
    #[serde(flatten)]
    pub fim: Pair,
    /// Layers of either run.
    pub layers: Vec<LayerChange>,
    /// Links between switches that flows crossed in run A and none crosses in run B, where chance hardly explains it: they
    /// are down, or no longer in the routes.
    pub down: Vec<EmptyLink>,
    /// The same the other way round: links that came back.
    pub up: Vec<EmptyLink>,
    /// Links whose number of flows changed, the largest change first.
    pub links: Vec<LinkChange>,
    /// Flows of both runs.
    pub common_flows: u64,
    /// Flows of both runs whose path changed.
    pub moved: Vec<Moved>,
    /// Flows that only run A has.
    pub only_a: Vec<String>,
    /// Flows that only run B has.
    pub only_b: Vec<String>,
}

/// A FIM of both runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// In run A, in percent.
    #[serde(serialize_with = "json::float")]
    pub fim_a_percent: Option<f64>,
    /// In run B, in percent.
    #[serde(serialize_with = "json::float")]
    pub fim_b_percent: Option<f64>,
    /// B minus A, in percentage points.
    #[serde(serialize_with = "json::float")]
    pub change_points: Option<f64>,
}

impl Pair {
    fn new(a: Option<f64>, b: Option<f64>) -> Self {
        Self {
            fim_a_percent: a,
            fim_b_percent: b,
            change_points: a.zip(b).map(|(a, b)| b - a),
        }
    }
}

/// A layer of both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerChange {
    /// Tier where it starts.
    pub from: String,
    /// Tier where it ends.
    pub to: String,
    /// Same as [`LayerLoad::within`].
    pub within: Option<Within>,
    /// Its FIM.
    #[serde(flatten)]
    pub fim: Pair,
}

/// A link with another number of flows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkChange {
    /// `node:port` where it starts.
    pub from: String,
    /// `node:port` where it ends.
    pub to: String,
    /// Flows in run A.
    pub flows_a: u64,
    /// Flows in run B.
    pub flows_b: u64,
}

/// A flow on another path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The flow.
    pub flow: String,
    /// Its path in run A.
    pub a: Vec<Hop>,
    /// Its path in run B.
    pub b: Vec<Hop>,
}

/// A run: its loads, and the path of every flow.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The loads.
    pub imbalance: &'a Imbalance,
    /// Flows by name.
    pub paths: &'a BTreeMap<String, Vec<Hop>>,
}

impl Comparison {
    /// Compares two runs over the same topology.
    #[must_use]
    pub fn new(a: Run<'_>, b: Run<'_>) -> Self {
        let layers = a.imbalance.layers.iter().filter_map(|one| {
            let mut others = b.imbalance.layers.iter();
            let key = |layer: &LayerLoad| (layer.from.clone(), layer.to.clone(), layer.within);
            let other = others.find(|other| key(other) == key(one))?;
            Some(LayerChange {
                from: one.from.clone(),
                to: one.to.clone(),
                within: one.within,
                fim: Pair::new(one.fim_percent, other.fim_percent),
            })
        });
        let before: BTreeMap<_, u64> = links(a.imbalance).collect();
        let changed = links(b.imbalance).filter_map(|(link, flows_b)| {
            let flows_a = before.get(&link).copied().unwrap_or(0);
            let name = |(node, port): (&str, &str)| alloc::format!("{node}:{port}");
            (flows_a != flows_b).then(|| LinkChange {
                from: name(link.0),
                to: name(link.1),
                flows_a,
                flows_b,
            })
        });
        let mut changed: Vec<LinkChange> = changed.collect();
        changed.sort_by_key(|link| core::cmp::Reverse(link.flows_a.abs_diff(link.flows_b)));
        let mut moved = Vec::new();
        let mut common_flows = 0;
        for (flow, path) in a.paths {
            let Some(other) = b.paths.get(flow) else { continue };
            common_flows += 1;
            if other != path {
                moved.push(Moved {
                    flow: flow.clone(),
                    a: path.clone(),
                    b: other.clone(),
                });
            }
        }
        let only = |one: Run<'_>, other: Run<'_>| {
            let flows = one.paths.keys().filter(|flow| !other.paths.contains_key(*flow));
            flows.cloned().collect::<Vec<String>>()
        };
        Self {
            fim: Pair::new(a.imbalance.fim_percent, b.imbalance.fim_percent),
            layers: layers.collect(),
            down: emptied(a, b),
            up: emptied(b, a),
            links: changed,
            common_flows,
            moved,
            only_a: only(a, b),
            only_b: only(b, a),
        }
    }
}

/// The ends of a link, and its flows.
fn links(imbalance: &Imbalance) -> impl Iterator<Item = (Ends<'_>, u64)> {
    imbalance.link_loads.iter().map(|link: &LinkLoad| {
        let ends = ((&*link.from, &*link.from_port), (&*link.to, &*link.to_port));
        (ends, link.flows)
    })
}

type Ends<'a> = ((&'a str, &'a str), (&'a str, &'a str));
