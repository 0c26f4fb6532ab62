//! How far each rank of the collective is.

use super::network::Network;
use super::scenario::Collective;
use super::schedule::Planned;
use alloc::vec;
use alloc::vec::Vec;
use rocescope_model::{StepRow, Text};

/// A rank.
#[derive(Debug, Clone, Default)]
struct Rank {
    /// Index of its current step; the number of its steps when all are done.
    step: usize,
    /// Whether it sends; otherwise it waits for data.
    sends: bool,
    /// Steps whose data arrived.
    arrived: Vec<bool>,
    started_ns: i64,
    /// The step of another rank that the current one waited for.
    awaited: Option<(usize, usize)>,
}

/// A step that begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub(super) rank: usize,
    pub(super) step: usize,
}

/// All ranks.
#[derive(Debug)]
pub(super) struct Ranks {
    plan: Vec<Vec<Planned>>,
    ranks: Vec<Rank>,
    unfinished: usize,
    rows: Vec<StepRow>,
}

impl Ranks {
    pub(super) fn new(collective: &Collective) -> Self {
        let plan = collective.algorithm.plan(collective.ranks.len(), collective.bytes);
        let ranks = plan.iter().map(|steps| Rank {
            arrived: vec![false; steps.len()],
            ..Rank::default()
        });
        Self {
            ranks: ranks.collect(),
            unfinished: plan.len(),
            rows: Vec::new(),
            plan,
        }
    }

    pub(super) fn plan(&self, start: Start) -> Planned {
        self.plan[start.rank][start.step]
    }

    /// The current step of a rank that sends.
    pub(super) fn sending(&self, rank: usize) -> Option<Start> {
        let state = &self.ranks[rank];
        state.sends.then_some(Start { rank, step: state.step })
    }

    pub(super) fn count(&self) -> usize {
        self.ranks.len()
    }

    pub(super) fn are_done(&self) -> bool {
        self.unfinished == 0
    }

    /// Begins the current step of a rank.
    pub(super) fn begin(&mut self, rank: usize, now_ns: i64) -> Start {
        let state = &mut self.ranks[rank];
        state.sends = true;
        state.started_ns = now_ns;
        Start { rank, step: state.step }
    }

    /// A rank has sent its step. Returns whose data it lacks for the next, and the next step if it lacks none.
    pub(super) fn sent(&mut self, rank: usize, row: StepRow) -> (Option<usize>, Option<Start>) {
        self.rows.push(row);
        let state = &mut self.ranks[rank];
        let step = state.step;
        state.sends = false;
        state.step += 1;
        state.awaited = None;
        if state.step == self.plan[rank].len() {
            self.unfinished -= 1;
            return (None, None);
        }
        if state.arrived[step] {
            return (None, Some(Start { rank, step: step + 1 }));
        }
        let from = self.plan[rank][step].from;
        state.awaited = Some((from, step));
        (Some(from), None)
    }

    /// The data of a step arrived. Returns the step that waited for it.
    pub(super) fn arrived(&mut self, step: Start) -> Option<Start> {
        let rank = self.plan(step).to;
        let state = &mut self.ranks[rank];
        state.arrived[step.step] = true;
        let waited = !state.sends && state.awaited == Some((step.rank, step.step));
        waited.then_some(Start {
            rank,
            step: step.step + 1,
        })
    }

    /// The row of the current step of a rank.
    pub(super) fn row(&self, rank: usize, network: &Network, collective: &Collective, expected_ns: i64) -> StepRow {
        let state = &self.ranks[rank];
        let planned = self.plan[rank][state.step];
        let (src, dst) = (collective.ranks[rank], collective.ranks[planned.to]);
        let name = |rank: usize| network.name(collective.ranks[rank]);
        StepRow {
            time: rocescope_model::Time(state.started_ns),
            time_ns: state.started_ns,
            collective: Text::from("simulated"),
            host: name(rank),
            rank: Some(rank as u32),
            step: state.step as u32 + 1,
            dst_host: name(planned.to),
            waits_known: true,
            awaited_host: state.awaited.map(|(rank, _)| name(rank)),
            awaited_step: state.awaited.map(|(_, step)| step as u32 + 1),
            src: Some(network.address(src)),
            dst: Some(network.address(dst)),
            src_port: Some(collective.src_ports[rank]),
            dst_port: Some(rocescope_model::ROCE_UDP_PORT),
            bytes: Some(planned.bytes),
            expected_ns: Some(expected_ns),
            format: Text::from("simulated"),
            ..StepRow::default()
        }
    }

    /// The rows of all steps that ended.
    pub(super) fn rows(self) -> Vec<StepRow> {
        self.rows
    }
}
