//! Steps of the collective: their flows, beginnings and ends.

use super::flow::Flow;
use super::ranks::Start;
use super::run::Run;
use super::watch::Seen;
use rocescope_model::{StepRow, Text};

impl Run<'_> {
    /// The flow of the step that a rank sends.
    pub(super) fn flow_of(&self, rank: usize) -> Option<u32> {
        let start = self.ranks.sending(rank)?;
        let is_it = |flow: &Flow| {
            flow.step
                .is_some_and(|step| step.rank == rank && step.step == start.step)
        };
        self.flows.iter().position(is_it).map(|at| at as u32)
    }

    pub(super) fn overdue(&mut self) {
        for rank in 0..self.ranks.count() {
            let Some(flow) = self.flow_of(rank) else { continue };
            let flow = &self.flows[flow as usize];
            let since_ns = flow.outstanding.front().copied().unwrap_or(flow.progress_ns);
            let age_ns = self.now_ns - since_ns;
            self.see(Seen::Overdue { rank, age_ns });
        }
    }

    pub(super) fn begin_step(&mut self, rank: usize) {
        let start = self.ranks.begin(rank, self.now_ns);
        let planned = self.ranks.plan(start);
        let collective = &self.scenario.collective;
        let (src, dst) = (collective.ranks[rank], collective.ranks[planned.to]);
        let known = |flow: &Flow| flow.step.is_some_and(|step| step.rank == rank) && flow.dst == dst;
        let flow = match self.flows.iter().position(known) {
            Some(at) => at as u32,
            None => self.flow(src, dst, collective.src_ports[rank], &[]),
        };
        self.flows[flow as usize].step = Some(start);
        let links = self.flows[flow as usize].path.len();
        let settings = &self.scenario.settings;
        self.see(Seen::Begin {
            rank,
            step: start.step as u32 + 1,
            base_rtt_ns: settings.base_rtt_ns(links),
            expected_ns: settings.alone_ns(planned.bytes, links),
        });
        self.begin_flow(flow, planned.bytes);
    }

    pub(super) fn end_step(&mut self, step: Start) {
        let mut row = self.row(step.rank);
        row.duration_ns = Some(self.now_ns - row.time_ns);
        let (awaited, next) = self.ranks.sent(step.rank, row);
        self.see(Seen::Sent {
            rank: step.rank,
            step: step.step as u32 + 1,
            awaited,
        });
        if let Some(next) = next {
            self.begin_step(next.rank);
        }
    }

    pub(super) fn row(&self, rank: usize) -> StepRow {
        let planned = self.ranks.sending(rank).map(|start| self.ranks.plan(start));
        let links = self
            .flow_of(rank)
            .map_or(0, |flow| self.flows[flow as usize].path.len());
        let expected_ns = planned.map_or(0, |planned| self.scenario.settings.alone_ns(planned.bytes, links));
        let row = self
            .ranks
            .row(rank, &self.scenario.network, &self.scenario.collective, expected_ns);
        StepRow {
            observer: Text::from("simulated"),
            ..row
        }
    }
}
