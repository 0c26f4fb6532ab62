//! Incidents as alerts of an Alertmanager.
//!
//! An Alertmanager forgets an alert that is not repeated within its `resolve_timeout`, five minutes unless it is set. So the
//! open ones are posted again every minute; when this process dies, they end by themselves.
//! Source: <https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml>, `postableAlert`.

use rocescope_collector::http::{Client, Url};
use rocescope_diagnose::incidents::changes::Change;
use rocescope_model::hosts::Hosts;
use rocescope_model::{Time, json};
use rocescope_runtime::hook::Target;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// The path of alerts.
const PATH: &str = "/api/v2/alerts";
/// Name of all alerts.
const NAME: &str = "RocescopeIncident";
/// How long after the last post the open alerts are repeated.
const REPEAT: Duration = Duration::from_secs(60);

/// Keeps an Alertmanager up to date.
pub(super) struct Alertmanager {
    client: Result<Client, String>,
    observer: String,
    names: Hosts,
    /// The open alerts by the IDs of their incidents.
    open: BTreeMap<String, Alert>,
}

/// An alert. Its labels are its identity: they stay from its start to its end.
#[derive(Clone, Debug, Serialize)]
struct Alert {
    labels: Labels,
    annotations: Annotations,
    #[serde(rename = "startsAt")]
    starts_at: String,
    #[serde(rename = "endsAt", skip_serializing_if = "Option::is_none")]
    ends_at: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Labels {
    alertname: &'static str,
    severity: &'static str,
    observer: String,
    incident: String,
    class: String,
    place_kind: String,
    place: String,
}

#[derive(Clone, Debug, Serialize)]
struct Annotations {
    summary: String,
    description: String,
    certainty: String,
    sources: String,
    victims: String,
}

impl Alertmanager {
    pub(super) fn new(url: &Url, observer: &str, names: Hosts) -> Self {
        Self {
            client: url.join(PATH).map(Client::new),
            observer: observer.to_owned(),
            names,
            open: BTreeMap::new(),
        }
    }

    fn alert(&self, change: &Change) -> Alert {
        let incident = &change.incident;
        let sources: Vec<&str> = incident.sources.iter().map(|source| source.name()).collect();
        Alert {
            labels: Labels {
                alertname: NAME,
                severity: if incident.is_of_the_tap() {
                    "warning"
                } else {
                    "critical"
                },
                observer: self.observer.clone(),
                incident: incident.id(),
                class: incident.class.clone(),
                place_kind: incident.place.kind.clone(),
                place: incident.place.name.clone(),
            },
            annotations: Annotations {
                summary: format!("{}: {}", incident.class, incident.sentence()),
                description: incident.action.clone(),
                certainty: format!("{}: {}", incident.certainty.name(), incident.reason),
                sources: sources.join(", "),
                victims: incident.victims.connections.to_string(),
            },
            starts_at: time(incident.since_ns),
            ends_at: (!change.is_open()).then(|| time(incident.until_ns.max(incident.since_ns))),
        }
    }

    /// Posts the open alerts, and one that ended.
    fn post(&mut self, ended: Option<&Alert>) -> Result<(), String> {
        let alerts: Vec<&Alert> = self.open.values().chain(ended).collect();
        let text = self.names.json(&json::compact(&alerts));
        self.client.as_mut().map_err(|why| why.clone())?.post(text)
    }
}

fn time(ns: i64) -> String {
    format!("{:.3}", Time(ns))
}

impl Target<Change> for Alertmanager {
    fn deliver(&mut self, change: &Change) -> Result<(), String> {
        let alert = self.alert(change);
        let id = alert.labels.incident.clone();
        if change.is_open() {
            self.open.insert(id, alert);
            self.post(None)
        } else {
            self.open.remove(&id);
            self.post(Some(&alert))
        }
    }

    fn reminds_after(&self) -> Option<Duration> {
        (!self.open.is_empty()).then_some(REPEAT)
    }

    fn remind(&mut self) -> Result<(), String> {
        self.post(None)
    }
}
