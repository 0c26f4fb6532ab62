//! A verdict: a fault from its begin to its end.

use super::finding::{Class, Evidence, Finding, Place};
use super::view::View;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::{HostVerdictRow, Text, Time};
use serde::Serialize;

/// What happened to a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It showed itself often enough to be a verdict.
    Began,
    /// It has not shown itself for some windows.
    Ended,
    /// It goes on.
    Open,
}

impl Change {
    /// The name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Began => "began",
            Self::Ended => "ended",
            Self::Open => "open",
        }
    }
}

/// A fault: what, where, since when, on what evidence, and what to do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostVerdict {
    /// What happened to it last.
    pub state: Change,
    /// Its class.
    pub class: Class,
    /// Kind of the place: `port`, `device`, `address`, `pair`, `connection`, `mirror` or `peer`.
    pub place_kind: &'static str,
    /// The place in words.
    pub place: String,
    /// The host at fault, if it is known.
    pub host: Option<String>,
    /// Its device.
    pub device: Option<String>,
    /// The port of the device.
    pub port: Option<u16>,
    /// The addresses of the port or device.
    pub addresses: Vec<IpAddr>,
    /// Source of the connection or pair.
    pub src: Option<IpAddr>,
    /// Destination of the connection or pair, or the address at fault.
    pub dst: Option<IpAddr>,
    /// Destination queue pair of the connection.
    pub dst_qpn: Option<u32>,
    /// When it began, in nanoseconds since 1970.
    pub since_ns: i64,
    /// End of the last window in which it showed itself.
    pub until_ns: i64,
    /// Windows in which it did.
    pub windows: u64,
    /// How sure it is, and why.
    pub confidence: String,
    /// The rows that it rests on.
    pub evidence: Vec<Evidence>,
    /// What is unknown, and why.
    pub unknown: Vec<String>,
    /// The finding in a sentence.
    pub sentence: String,
    /// What to do.
    pub action: String,
}

impl HostVerdict {
    pub(crate) fn new(
        finding: &Finding,
        state: Change,
        (since_ns, until_ns): (i64, i64),
        windows: u64,
        view: &View<'_>,
    ) -> Self {
        let place = view.text(&finding.place);
        let port = finding.place.port();
        let (kind, src, dst, dst_qpn) = match &finding.place {
            Place::Port(port) => match view.ports.get(*port).port {
                Some(_) => ("port", None, None, None),
                None => ("device", None, None, None),
            },
            Place::Address(address) => ("address", None, Some(*address), None),
            Place::Pair(src, dst) => ("pair", Some(*src), Some(*dst), None),
            Place::Connection(way) => ("connection", Some(way.src), Some(way.dst), Some(way.dst_qpn)),
            Place::Mirror(_) => ("mirror", None, None, None),
            Place::PeerOf(_) => ("peer", None, None, None),
        };
        Self {
            state,
            class: finding.class,
            place_kind: kind,
            host: port.map(|port| view.ports.host(port).to_string()),
            device: port.map(|port| view.ports.get(port).device.to_string()),
            port: port.and_then(|port| view.ports.get(port).port),
            addresses: port.map(|port| view.ports.addresses(port)).unwrap_or_default(),
            src,
            dst,
            dst_qpn,
            since_ns,
            until_ns,
            windows,
            confidence: format!("{}: {}", finding.confidence.name(), finding.reason),
            evidence: finding.evidence.clone(),
            unknown: finding.unknown.clone(),
            sentence: format!("{place}: {}", finding.meaning),
            action: finding.action.clone(),
            place,
        }
    }

    /// Whether this is a later state of the same fault.
    #[must_use]
    pub fn continues(&self, earlier: &Self) -> bool {
        self.class == earlier.class && self.place == earlier.place && earlier.state != Change::Ended
    }

    /// The evidence in a line: `local_ack_timeout_err +7 events (gpu-1 mlx5_0/1), ...`
    #[must_use]
    pub fn evidence_text(&self) -> String {
        let each = self.evidence.iter().map(|row| {
            let plus = if row.is_sum { "+" } else { "" };
            format!("{} {plus}{} {} ({})", row.name, number(row.value), row.unit, row.of)
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// Its row, written at `time_ns` by `observer`.
    #[must_use]
    pub fn row(&self, observer: &Text, time_ns: i64) -> HostVerdictRow {
        let text = |text: &Option<String>| text.clone().map(Text::from);
        let unknown = self.unknown.join("; ");
        HostVerdictRow {
            observer: observer.clone(),
            time: Time(time_ns),
            time_ns,
            revision: Some(0),
            state: self.state.name().into(),
            class: self.class.name().into(),
            place_kind: self.place_kind.into(),
            place: self.place.clone().into(),
            host: text(&self.host),
            device: text(&self.device),
            port: self.port,
            src: self.src,
            dst: self.dst,
            dst_qpn: self.dst_qpn,
            since_ns: self.since_ns,
            until_ns: self.until_ns,
            windows: self.windows,
            confidence: self.confidence.clone().into(),
            evidence: self.evidence_text().into(),
            unknown: (!unknown.is_empty()).then(|| unknown.into()),
            sentence: self.sentence.clone().into(),
            action: self.action.clone().into(),
        }
    }
}

/// Without decimals where they say nothing.
fn number(value: f64) -> String {
    if value == libm::trunc(value) || value.abs() >= 1e4 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}
