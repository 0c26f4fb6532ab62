//! The summary at the end.

use super::operating::Tally;
use super::outputs::Stored;
use crate::error::{Result, ensure};
use rocescope_model::json::{self, Object};
use rocescope_probe::types::Refusal;
use rocescope_probe::{AnswerCounters, Counters, Nic, NicIndex, PeerCounters};
use serde::Serialize;
use std::fmt::Write;
use std::net::IpAddr;

/// What a prober did.
#[derive(Debug)]
pub struct Summary<'a> {
    pub(super) counters: Counters,
    pub(super) nics: &'a [Nic],
    /// The number of 5-tuples, and of those with a known path.
    pub(super) paths: (usize, usize),
    /// Probes to other hosts, the 5-tuples of those with and without a known path, and answers to other agents.
    pub(super) peers: Option<PeerCounters>,
    pub(super) peer_paths: (usize, usize),
    pub(super) answers: AnswerCounters,
    pub(super) last_refusal: Option<(NicIndex, Refusal)>,
    pub(super) dropped: u64,
    pub(super) seconds: f64,
    /// RDMA operations.
    pub(super) operations: Vec<&'a Tally>,
    pub(super) store: Option<Stored>,
}

impl Summary<'_> {
    /// As text.
    #[must_use]
    pub fn text(&self) -> String {
        let counters = &self.counters;
        let mut text = format!(
            "{} probes = {} received + {} timed out + {} corrupt + {} in flight + {} unsent, in {:.1} s\n",
            counters.probes,
            counters.received,
            counters.timeouts,
            counters.corrupt,
            counters.in_flight,
            counters.unsent,
            self.seconds,
        );
        if let Some((nic, why)) = self.last_refusal {
            let name = self.nics.get(nic.at()).map_or("?", |nic| &*nic.name);
            let _ = writeln!(text, "last send error of {name}: {why}");
        }
        if counters.traces > 0 {
            let _ = writeln!(
                text,
                "{} traces = {} complete + {} incomplete; {} of {} paths known, {} changes",
                counters.traces,
                counters.traces_complete,
                counters.traces_incomplete,
                self.paths.1,
                self.paths.0,
                counters.path_changes,
            );
        }
        if let Some(peers) = &self.peers {
            let _ = writeln!(
                text,
                "to other hosts: {} probes = {} answered + {} lost there + {} lost back + {} not answered + {} unknown + {} in \
                flight + {} unsent; {} of {} paths known",
                peers.probes,
                peers.answered,
                peers.lost_there,
                peers.lost_back,
                peers.not_answered,
                peers.unknown,
                peers.in_flight,
                peers.unsent,
                self.peer_paths.1,
                self.peer_paths.0,
            );
        }
        let answers = &self.answers;
        if answers.answered + answers.too_many + answers.unsent > 0 {
            let _ = writeln!(
                text,
                "probes of other agents: {} answered, {} not because they were too many, {} not because the answer did not leave",
                answers.answered, answers.too_many, answers.unsent,
            );
        }
        for (name, count) in self.rare() {
            if count > 0 {
                let _ = writeln!(text, "{count} {}", name.replace('_', " "));
            }
        }
        for tally in &self.operations {
            let micros =
                |nanos: Option<u64>| nanos.map_or_else(|| "?".into(), |nanos| format!("{:.1}", nanos as f64 / 1e3));
            let _ = writeln!(
                text,
                "{} ({}) from {}: {} to {} µs, {} measured, {} failed",
                tally.operation,
                tally.peer,
                tally.nic,
                micros(tally.min_ns),
                micros(tally.max_ns),
                tally.measured,
                tally.failed
            );
        }
        if let Some(stored) = &self.store {
            let _ = writeln!(
                text,
                "{} rows of probes and {} of paths in {} segments",
                stored.probes, stored.paths, stored.segments
            );
            if stored.lost > 0 {
                let _ = writeln!(text, "{} rows were not written", stored.lost);
            }
        }
        text
    }

    /// Counters that are normally 0, each a line if it is not.
    fn rare(&self) -> [(&'static str, u64); 19] {
        let counters = &self.counters;
        let peers = self.peers.unwrap_or_default();
        [
            ("turns_skipped", counters.skipped),
            ("received_after_their_timeout", counters.late),
            ("received_again", counters.duplicates),
            ("foreign_datagrams", counters.foreign_datagrams),
            ("datagrams_unreadable", counters.unreadable),
            ("received_without_send_time", counters.unstamped),
            ("received_across_clock_step", counters.received_across_clock_step),
            ("steps_of_the_clock", counters.clock_steps),
            ("steps_of_nic_clocks", counters.clock_resets),
            ("nics_replaced", counters.nics_replaced),
            ("times_slowed_down", counters.slowed),
            ("trace_packets_unsent", counters.traces_unsent),
            ("deferred_traces", counters.deferred_traces),
            ("unmatched_replies", counters.unmatched_replies),
            ("answers_of_unreachable", counters.unreachable),
            ("turns_to_other_hosts_skipped", peers.skipped),
            ("late_peer_replies", peers.late_peer_replies),
            ("ignored_requests", self.answers.ignored_requests),
            ("frames_dropped_by_the_kernel", self.dropped),
        ]
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let counters = &self.counters;
        let named = [
            ("probes", counters.probes),
            ("received", counters.received),
            ("timeouts", counters.timeouts),
            ("corrupt", counters.corrupt),
            ("in_flight", counters.in_flight),
            ("unsent", counters.unsent),
            ("traces", counters.traces),
            ("traces_complete", counters.traces_complete),
            ("traces_incomplete", counters.traces_incomplete),
            ("hop_answers", counters.hop_answers),
            ("path_changes", counters.path_changes),
            ("paths", self.paths.0 as u64),
            ("paths_known", self.paths.1 as u64),
        ];
        let nics = self.nics.iter().map(|nic| NicDocument {
            name: &nic.name,
            address: nic.address,
        });
        json::pretty(&Document {
            nics: nics.collect(),
            counts: named.into_iter().chain(self.rare()).collect(),
            other_hosts: self.peers.as_ref().map(|peers| OtherHosts {
                probes: peers.probes,
                answered: peers.answered,
                lost_there: peers.lost_there,
                lost_back: peers.lost_back,
                not_answered: peers.not_answered,
                unknown: peers.unknown,
                in_flight: peers.in_flight,
                unsent: peers.unsent,
                paths: self.peer_paths.0,
                paths_known: self.peer_paths.1,
            }),
            answers: AnswersDocument {
                answered: self.answers.answered,
                too_many: self.answers.too_many,
                unsent: self.answers.unsent,
            },
            operations: &self.operations,
            dataset: self.store.as_ref(),
        }) + "\n"
    }

    /// Checks the counters.
    ///
    /// # Errors
    /// They are inconsistent, or rows were not written.
    pub fn check(&self) -> Result<()> {
        let of_peers = self.peers.unwrap_or_default();
        ensure!(
            self.counters.is_balanced()
                && self.counters.in_flight == 0
                && of_peers.is_balanced()
                && of_peers.in_flight == 0,
            "the probe counters are inconsistent: this is a defect, please report it"
        );
        let lost = self.store.as_ref().map_or(0, |store| store.lost);
        ensure!(lost == 0, "the disk was full or failed: {lost} rows were not written");
        Ok(())
    }
}

#[derive(Serialize)]
struct Document<'a> {
    nics: Vec<NicDocument<'a>>,
    #[serde(flatten)]
    counts: Object<&'static str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_hosts: Option<OtherHosts>,
    answers: AnswersDocument,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    operations: &'a [&'a Tally],
    #[serde(skip_serializing_if = "Option::is_none")]
    dataset: Option<&'a Stored>,
}

/// Probes to other hosts, by outcome.
#[derive(Serialize)]
struct OtherHosts {
    probes: u64,
    answered: u64,
    lost_there: u64,
    lost_back: u64,
    not_answered: u64,
    unknown: u64,
    in_flight: u64,
    unsent: u64,
    paths: usize,
    paths_known: usize,
}

/// Probes of other agents.
#[derive(Serialize)]
struct AnswersDocument {
    answered: u64,
    too_many: u64,
    unsent: u64,
}

#[derive(Serialize)]
struct NicDocument<'a> {
    name: &'a str,
    address: IpAddr,
}
