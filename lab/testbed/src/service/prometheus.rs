//! Debian's Prometheus in the machine: how it reads the endpoint and answers the dashboard's queries.

use super::machine::{Machine, output};
use super::metrics;
use super::unit::until;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use xtask::process::root;

const SERVER: &str = "127.0.0.1:9090";
/// The endpoint is [`metrics::ADDRESS`].
const SETTINGS: &str = "\
global: { scrape_interval: 250ms, scrape_timeout: 250ms }
scrape_configs:
  - job_name: rocescope
    static_configs: [{ targets: [\"127.0.0.1:9464\"] }]
";
/// Grafana's variables and their values: all observers, and a few scrapes.
const VARIABLES: [(&str, &str); 2] = [("$observer", ".*"), ("$__rate_interval", "30s")];

pub(super) struct Prometheus<'a>(&'a Machine);

impl<'a> Prometheus<'a> {
    /// Starts it. It takes five seconds to read its targets.
    pub(super) fn start(machine: &'a Machine) -> Result<Self> {
        fs::write(machine.path("/run/prometheus.yml"), SETTINGS)?;
        machine.run("promtool check config /run/prometheus.yml")?;
        // A unit that ends with the machine; it writes to memory.
        machine.run(&format!(
            "systemd-run --quiet --unit=scraper --property=DynamicUser=yes \
             --property=RuntimeDirectory=scraper prometheus --config.file=/run/prometheus.yml \
             --storage.tsdb.path=/run/scraper --web.listen-address={SERVER} --log.level=warn"
        ))?;
        Ok(Self(machine))
    }

    /// Waits until it has scraped.
    pub(super) fn scrapes(&self) -> Result<String> {
        self.reaches("up == 1")?;
        Ok("the endpoint is up".into())
    }

    /// Checks that it has all frames, every metric as exported, and an answer to every capture query of the dashboard.
    pub(super) fn reads(&self, sent: u64) -> Result<String> {
        self.reaches(&format!("rocescope_frames_total == {sent}"))?;
        let metrics = self.metrics()?;
        let page = metrics::page(self.0, "*/*")?;
        let complaints = self.0.feed("promtool check metrics 2>&1", &page)?;
        ensure!(complaints.is_empty(), "promtool: {complaints}");
        let dashboard = fs::read_to_string(root().join("deploy/grafana/rocescope.json"))?;
        let mut queries = Vec::new();
        expressions(&serde_json::from_str(&dashboard)?, &mut queries);
        // Queries about a mesh are for collectors, which it does not scrape.
        queries.retain(|query| query.contains("$observer"));
        ensure!(!queries.is_empty(), "the dashboard has no queries");
        for query in &queries {
            let query = VARIABLES
                .iter()
                .fold(query.clone(), |query, (name, value)| query.replace(name, value));
            let answer = self.ask("query", &query)?;
            let series = answer["result"].as_array().context("no result")?;
            ensure!(!series.is_empty(), "no data: {query}");
        }
        Ok(format!(
            "{metrics} metrics with their types and help, promtool content, {} queries answered",
            queries.len()
        ))
    }

    /// Checks type and help of every metric on the page.
    fn metrics(&self) -> Result<usize> {
        let page = metrics::page(self.0, "application/openmetrics-text; version=1.0.0")?;
        let comments = |keyword: &str| -> BTreeMap<String, String> {
            let lines = page.lines().filter_map(|line| line.strip_prefix(keyword));
            let pairs = lines.filter_map(|line| line.split_once(' '));
            pairs.map(|(name, rest)| (name.into(), rest.into())).collect()
        };
        let (types, helps) = (comments("# TYPE "), comments("# HELP "));
        let answer = self.ask("metadata", "")?;
        for (name, kind) in &types {
            let known = &answer[name][0];
            ensure!(known["type"] == *kind, "{name} is a {kind}, not {}", known["type"]);
            ensure!(
                helps.get(name).is_some_and(|help| known["help"] == *help),
                "{name}: {known}"
            );
        }
        Ok(types.len())
    }

    fn reaches(&self, query: &str) -> Result<()> {
        until(query, || {
            let Ok(answer) = self.ask("query", query) else {
                // Not up yet.
                return Ok(None);
            };
            let reached = answer["result"].as_array().is_some_and(|series| !series.is_empty());
            Ok(reached.then_some(()))
        })
    }

    /// The data of an API response.
    fn ask(&self, what: &str, query: &str) -> Result<Value> {
        let mut curl = self.0.network("curl");
        let query = format!("query={query}");
        curl.args(["--silent", "--show-error", "--fail-with-body", "--get"]);
        curl.args(["--data-urlencode", &query, &format!("http://{SERVER}/api/v1/{what}")]);
        let mut answer: Value = serde_json::from_str(&output(&mut curl)?)?;
        ensure!(answer["status"] == "success", "{query}: {answer}");
        Ok(answer["data"].take())
    }
}

/// Every `expr` in a dashboard.
fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(query)) = members.get("expr") {
                found.push(query.clone());
            }
            members.values().for_each(|value| expressions(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| expressions(value, found)),
        _ => {}
    }
}
