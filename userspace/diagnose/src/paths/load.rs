//! What the metric finds: layers and links with their flows.

use super::fabric::Within;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::json;
use serde::Serialize;

/// How unevenly flows load the links of a fabric.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Imbalance {
    /// FIM over the links of all layers between switches with flows, in percent; null without flows.
    #[serde(serialize_with = "json::float")]
    pub fim_percent: Option<f64>,
    /// The same if the flows lay on the links of each layer as evenly as whole flows can; null without flows.
    #[serde(serialize_with = "json::float")]
    pub min_fim_percent: Option<f64>,
    /// The same with the rates of flows instead of their number; null unless all rates are known.
    #[serde(serialize_with = "json::float")]
    pub bytes_fim_percent: Option<f64>,
    /// Flows.
    pub flows: u64,
    /// Layers, from the hosts up and down again.
    pub layers: Vec<LayerLoad>,
    /// Directions of links, layer by layer.
    pub link_loads: Vec<LinkLoad>,
}

/// One direction between two tiers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerLoad {
    /// Tier where it starts.
    pub from: String,
    /// Tier where it ends.
    pub to: String,
    /// Of links within a tier: `forth` from the node whose name sorts first, or `back` to it; null between tiers.
    pub within: Option<Within>,
    /// Whether one of its tiers is that of hosts: then it does not count in the FIM of the fabric.
    pub at_hosts: bool,
    /// Links, used or not.
    pub links: usize,
    /// Flows on all links; a flow that crosses the layer twice counts twice.
    pub flows: u64,
    /// Flows per link if all were equal; null without flows or with an unknown tier.
    #[serde(serialize_with = "json::float")]
    pub ideal: Option<f64>,
    /// FIM in percent; null without flows or with an unknown tier.
    #[serde(serialize_with = "json::float")]
    pub fim_percent: Option<f64>,
    /// FIM if the flows lay as evenly as whole flows can; null without flows or with an unknown tier.
    #[serde(serialize_with = "json::float")]
    pub min_fim_percent: Option<f64>,
    /// FIM by rates; null unless all are known.
    #[serde(serialize_with = "json::float")]
    pub bytes_fim_percent: Option<f64>,
    /// Links without a flow.
    pub unused_links: usize,
    /// Flows of the link with the fewest.
    pub min_flows: u64,
    /// Flows of the link with the most.
    pub max_flows: u64,
}

impl LayerLoad {
    /// Tier where it ends, with the direction of links within a tier.
    #[must_use]
    pub fn far(&self) -> String {
        match self.within {
            None => self.to.clone(),
            Some(within) => format!("{} ({})", self.to, within.name()),
        }
    }

    /// Both tiers.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} → {}", self.from, self.far())
    }

    /// Whether a link is in this layer.
    #[must_use]
    pub fn has(&self, link: &LinkLoad) -> bool {
        (&link.from_tier, &link.to_tier, link.within) == (&self.from, &self.to, self.within)
    }
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkLoad {
    /// Node where it starts.
    pub from: String,
    /// Port where it starts.
    pub from_port: String,
    /// Node where it ends.
    pub to: String,
    /// Port where it ends.
    pub to_port: String,
    /// Tier where it starts.
    pub from_tier: String,
    /// Tier where it ends.
    pub to_tier: String,
    /// Same as [`LayerLoad::within`].
    pub within: Option<Within>,
    /// Flows.
    pub flows: u64,
    /// Flows per link of the layer if all were equal.
    #[serde(serialize_with = "json::float")]
    pub ideal: Option<f64>,
    /// How far `flows` is from the ideal, in percent of it.
    #[serde(serialize_with = "json::float")]
    pub deviation_percent: Option<f64>,
    /// Rate of the flows in bit/s; null unless the rates of all flows are known.
    #[serde(serialize_with = "json::float")]
    pub bps: Option<f64>,
}
