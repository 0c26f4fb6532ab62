//! Probes to other hosts of which no one reported whether they arrived.
//!
//! They are evidence of nothing: the agent there may not run, or all ways to its host may be dead. Whether its own probes
//! come shows which, so both are stated, and neither is a verdict.

use super::analyzer::Analyzer;
use super::count::Count;
use super::record::{ProbeOutcome, Record};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use rocescope_model::Text;

/// The maximum number of hosts that are named.
const NAMED: usize = 3;

/// How the hosts answered probes of others, by number.
#[derive(Debug)]
pub(super) struct Answers {
    /// Probes to a host, and those without an answer.
    missed: Vec<Count>,
    /// Whether it reports probes of its own.
    runs: Vec<bool>,
    max_ignored: u64,
}

impl Answers {
    /// Whether most probes to a host had no answer.
    pub(super) fn is_missed(&self, host: u32) -> bool {
        let count = self.missed.get(host as usize);
        count.is_some_and(|count| self.is_some(*count) && is_most(*count))
    }

    const fn is_some(&self, count: Count) -> bool {
        count.anomalous > self.max_ignored
    }
}

const fn is_most(count: Count) -> bool {
    count.anomalous * 2 > count.probes
}

impl Analyzer {
    /// Returns how the hosts answered.
    pub(super) fn answers(&self, records: &[Record]) -> Answers {
        let nic_of = |nic: u32| &self.names.nics[nic as usize];
        let hosts = self.names.hosts.len();
        let (mut missed, mut runs) = (vec![Count::default(); hosts], vec![false; hosts]);
        for record in records {
            let key = self.tuples.all[record.tuple as usize].key;
            let (from, to) = (nic_of(key.src).host as usize, nic_of(key.dst).host as usize);
            if record.is_of_sender() {
                runs[from] = true;
                let is_missed = record.outcome() == ProbeOutcome::Unknown;
                missed[to].add(u64::from(from != to), u64::from(is_missed));
            }
        }
        Answers {
            missed,
            runs,
            max_ignored: self.settings.max_ignored,
        }
    }

    /// States which hosts answered nothing, for `sla.unjudged`. It has no counts, so that it stays the same from window to
    /// window.
    pub(super) fn unanswered(&self, answers: &Answers) -> Vec<String> {
        let Answers { missed, runs, .. } = answers;
        // Of two hosts that do not reach each other, the one that others do not reach either.
        let is_one = (0..).zip(missed).any(|(host, _)| answers.is_missed(host));
        let hosts = |is_running: bool| -> Vec<&str> {
            let all = self.names.hosts.iter().zip(missed).zip(runs);
            let hosts = all.filter(|((_, count), runs)| {
                answers.is_some(**count) && (!is_one || is_most(**count)) && **runs == is_running
            });
            hosts.map(|((host, _), _)| name(host)).collect()
        };
        let mut stated = Vec::new();
        for (is_running, what) in [(true, ", whose agents report"), (false, ", whose agents do not report")] {
            let hosts = hosts(is_running);
            if !hosts.is_empty() {
                stated.push(format!(
                    "probes to {}{what}, had no answer, and no one reported whether they arrived",
                    list(&hosts)
                ));
            }
        }
        stated
    }
}

/// The name of a host; of one whose rows have not come, none is known.
fn name(host: &Text) -> &str {
    match host.is_empty() {
        true => "hosts without a name",
        false => host.as_str(),
    }
}

fn list(hosts: &[&str]) -> String {
    let named = hosts.get(..NAMED.min(hosts.len())).unwrap_or_default().join(", ");
    match hosts.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more hosts"),
    }
}
