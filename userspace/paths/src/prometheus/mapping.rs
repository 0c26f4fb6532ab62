//! Which metric and labels become which column of `switch_ports`.

use crate::switch::{COLUMNS, Column};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Mappings of common exporters, by name.
pub const PRESETS: [(&str, &str); 3] = [
    ("gnmic", include_str!("presets/gnmic.toml")),
    ("snmp", include_str!("presets/snmp.toml")),
    ("sonic", include_str!("presets/sonic.toml")),
];

/// Why a mapping is not usable.
#[derive(Debug, thiserror::Error)]
pub enum BadMapping {
    /// It is no mapping.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// It names a column that no metric can fill.
    #[error("metric `{metric}`: there is no column `{column}`; columns: {}", COLUMNS.map(|(name, _)| name).join(", "))]
    Column {
        /// The metric.
        metric: String,
        /// The name.
        column: String,
    },
    /// A metric's name has characters that such names do not have.
    #[error("`{0}` is no name of a metric, nor `*` and the end of one")]
    Metric(String),
    /// A label's name has characters that such names do not have.
    #[error("`{0}` is no name of a label")]
    Label(String),
    /// It has bits that no counter has.
    #[error("metric `{0}`: a counter has 32 or 64 bits")]
    Bits(String),
    /// It names a queue and a priority.
    #[error("metric `{0}`: a row is of a queue or of a priority, not of both")]
    Part(String),
}

/// A mapping of an exporter.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapping {
    /// Labels with the name of the switch: the first that a series has. A port number behind the name is left out.
    pub(super) switch: Vec<String>,
    /// Labels with the name of the port: the first that a series has.
    pub(super) port: Vec<String>,
    /// The label with the index of the interface.
    pub(super) port_index: Option<String>,
    /// The metric that becomes smaller when a switch starts again.
    pub(super) uptime: Option<String>,
    pub(super) metrics: Vec<Metric>,
}

/// A metric.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metric {
    /// Its name, or `*` and the end of it.
    pub(super) name: String,
    /// Labels that must have these values.
    pub(super) labels: BTreeMap<String, String>,
    pub(super) column: Column,
    /// Whether the counter has 32 bits.
    pub(super) is_short: bool,
    /// What values are multiplied by.
    pub(super) scale: f64,
    pub(super) part: PartLabel,
}

/// The label with the number of a queue or priority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PartLabel {
    Port,
    Queue(String),
    Priority(String),
}

/// A mapping as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    switch: Vec<String>,
    port: Vec<String>,
    port_index: Option<String>,
    uptime: Option<String>,
    #[serde(default)]
    metrics: Vec<WrittenMetric>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WrittenMetric {
    metric: String,
    column: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    bits: Option<u32>,
    scale: Option<f64>,
    queue: Option<String>,
    priority: Option<String>,
}

impl Mapping {
    /// Reads a mapping.
    ///
    /// # Errors
    /// It is no TOML, has an unknown key, or a name that no column, metric or label has.
    pub fn parse(text: &str) -> Result<Self, BadMapping> {
        let written: Written = toml::from_str(text)?;
        if let Some(uptime) = &written.uptime {
            check_metric(uptime)?;
        }
        let mut labels = written.switch.iter().chain(&written.port).chain(&written.port_index);
        labels.try_for_each(|label| check_label(label))?;
        let metrics = written.metrics.into_iter().map(Metric::of);
        Ok(Self {
            switch: written.switch,
            port: written.port,
            port_index: written.port_index,
            uptime: written.uptime,
            metrics: metrics.collect::<Result<_, _>>()?,
        })
    }
}

impl Metric {
    fn of(written: WrittenMetric) -> Result<Self, BadMapping> {
        check_metric(&written.metric)?;
        let part = match (written.queue, written.priority) {
            (None, None) => PartLabel::Port,
            (Some(label), None) => PartLabel::Queue(label),
            (None, Some(label)) => PartLabel::Priority(label),
            (Some(_), Some(_)) => return Err(BadMapping::Part(written.metric)),
        };
        if let PartLabel::Queue(label) | PartLabel::Priority(label) = &part {
            check_label(label)?;
        }
        written.labels.keys().try_for_each(|label| check_label(label))?;
        let is_short = match written.bits {
            None | Some(64) => false,
            Some(32) => true,
            Some(_) => return Err(BadMapping::Bits(written.metric)),
        };
        let Some(column) = Column::named(&written.column) else {
            return Err(BadMapping::Column {
                metric: written.metric,
                column: written.column,
            });
        };
        Ok(Self {
            name: written.metric,
            labels: written.labels,
            column,
            is_short,
            scale: written.scale.unwrap_or(1.0),
            part,
        })
    }
}

/// Whether it is the name of a metric, or `*` and the end of one.
fn check_metric(name: &str) -> Result<(), BadMapping> {
    let end = name.strip_prefix('*').unwrap_or(name);
    match !end.is_empty() && end.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':')) {
        true => Ok(()),
        false => Err(BadMapping::Metric(name.into())),
    }
}

fn check_label(name: &str) -> Result<(), BadMapping> {
    match !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        true => Ok(()),
        false => Err(BadMapping::Label(name.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Mapping, PRESETS};

    #[test]
    fn presets_are_mappings() {
        for (name, text) in PRESETS {
            let mapping = Mapping::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(mapping.metrics.len() >= 8, "{name}");
        }
    }

    #[test]
    fn bad_mappings_name_what_is_wrong() {
        let head = "switch = [\"a\"]\nport = [\"b\"]\n";
        for (text, expected) in [
            ("port = []", "missing field `switch`"),
            ("colour = 1", "unknown field `colour`"),
            ("uptime = \"a b\"", "`a b` is no name of a metric"),
            ("port-index = \"a-b\"", "`a-b` is no name of a label"),
            (
                "[[metrics]]\nmetric = \"m\"\ncolumn = \"in_octets\"",
                "there is no column `in_octets`",
            ),
            (
                "[[metrics]]\nmetric = \"m\"\ncolumn = \"in_bytes\"\nbits = 16",
                "has 32 or 64 bits",
            ),
            (
                "[[metrics]]\nmetric = \"m\"\ncolumn = \"in_bytes\"\nqueue = \"q\"\npriority = \"p\"",
                "of a queue or of a priority",
            ),
            (
                "[[metrics]]\nmetric = \"m{}\"\ncolumn = \"in_bytes\"",
                "`m{}` is no name of a metric",
            ),
            (
                "[[metrics]]\nmetric = \"m\"\ncolumn = \"in_bytes\"\nlabels = { \"a=b\" = \"c\" }",
                "`a=b` is no name of a label",
            ),
        ] {
            let text = if text.starts_with("port =") {
                text.into()
            } else {
                format!("{head}{text}")
            };
            let error = Mapping::parse(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
