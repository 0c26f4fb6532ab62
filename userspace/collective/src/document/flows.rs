//! Flows: those outside the collective with their ratings, and those that they delayed.

use crate::analysis::Window;
use crate::steps::FlowKey;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use serde::Serialize;

/// A flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FlowDocument {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Source port; null if unknown.
    pub src_port: Option<u16>,
}

impl FlowDocument {
    /// The document of a flow.
    #[must_use]
    pub fn of(flow: &FlowKey) -> Self {
        Self {
            src: flow.src,
            dst: flow.dst,
            src_port: flow.src_port,
        }
    }

    /// Its name in sentences.
    #[must_use]
    pub fn text(&self) -> String {
        match self.src_port {
            Some(port) => format!("{} > {} from port {port}", self.src, self.dst),
            None => format!("{} > {}", self.src, self.dst),
        }
    }
}

/// A flow outside the collective with its rating.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContributorDocument {
    /// The flow.
    #[serde(flatten)]
    pub flow: FlowDocument,
    /// Its rating, in packets waited for.
    pub rating: f64,
    /// In a window: the flow of the collective that it delays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed: Option<FlowDocument>,
}

/// A flow of the collective in a window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DelayedDocument {
    /// The flow.
    #[serde(flatten)]
    pub flow: FlowDocument,
    /// Time of the last report about it.
    pub time_ns: i64,
}

/// A window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WindowDocument {
    /// Its start.
    pub start_ns: i64,
    /// Other flows with their ratings, for each flow of the collective that they delay.
    pub contributors: Vec<ContributorDocument>,
    /// Flows of the collective that waited.
    pub delayed: Vec<DelayedDocument>,
}

impl ContributorDocument {
    pub(super) fn of(flow: &FlowKey, rating: f64, delayed: Option<&FlowKey>) -> Self {
        Self {
            flow: FlowDocument::of(flow),
            rating,
            delayed: delayed.map(FlowDocument::of),
        }
    }
}

impl WindowDocument {
    pub(super) fn of(window: &Window) -> Self {
        let contributors = window.delays.iter().flat_map(|delay| {
            let all = delay.contributors.iter();
            all.map(|(flow, rating)| ContributorDocument::of(flow, *rating, Some(&delay.flow)))
        });
        let delayed = window.delays.iter().map(|delay| DelayedDocument {
            flow: FlowDocument::of(&delay.flow),
            time_ns: delay.time_ns,
        });
        Self {
            start_ns: window.start_ns,
            contributors: contributors.collect(),
            delayed: delayed.collect(),
        }
    }
}

/// At most three flows, and how many more.
pub(super) fn names(flows: &[FlowDocument]) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<String> = flows.iter().take(SHOWN).map(FlowDocument::text).collect();
    if flows.len() > SHOWN {
        names.push(format!("{} more", flows.len() - SHOWN));
    }
    names.join("; ")
}
