//! Steps as rows: their numbers, channels and names.

use super::Steps;
use super::qp::Step;
use crate::fields::address;
use crate::time::EventTime;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use rocescope_model::{StepRow, Text, Time};

/// A step that waits for the end of its collective.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) qp: u32,
    pub(super) step: Step,
}

impl Steps {
    /// Steps of a job, or all, become rows.
    pub(super) fn flush(&mut self, job: Option<u32>) {
        let is_of = |held: &mut Held| {
            let own = self.jobs.find(self.qps[held.qp as usize].job);
            job.is_none_or(|job| self.jobs.find(job) == own)
        };
        let mut ready: Vec<Held> = self.held.extract_if(.., is_of).collect();
        ready.retain(|held| !self.is_beside(held.qp as usize));
        // Steps that several QPs send in turn are one sequence.
        ready.sort_by_key(|held| (held.step.first_ns, held.step.last_ns, held.qp));
        let mut unnumbered: Vec<u32> = ready.iter().map(|held| held.qp).collect();
        unnumbered.sort_unstable_by_key(|at| {
            let key = &self.qps[*at as usize].key;
            (key.hosts(), key.flow.dst_qpn, *at)
        });
        unnumbered.dedup();
        for at in unnumbered {
            self.number_channel(at as usize);
        }
        for held in ready {
            let at = held.qp as usize;
            let lead = self.lead(at).unwrap_or(at);
            let (flow, job) = (&self.qps[at].key.flow, self.qps[at].job);
            let stream = (flow.src, flow.vni, self.qps[lead].channel);
            let (number, _) = self.numbers.entry(stream).or_insert((0, job));
            *number += 1;
            let number = *number;
            let row = self.row(at, lead, number, &held.step);
            self.rows.push(row);
        }
    }

    /// Gives a QP its channel: its place among those of its two hosts.
    fn number_channel(&mut self, at: usize) {
        let lead = self.lead(at).unwrap_or(at);
        if self.qps[lead].channel.is_some() {
            return;
        }
        let siblings = self.siblings.get(&self.qps[lead].key.hosts());
        let known = siblings.into_iter().flatten();
        let last = known.filter_map(|other| self.qps[*other as usize].channel).max();
        self.qps[lead].channel = Some(last.map_or(0, |last| last.saturating_add(1)));
    }

    fn row(&self, at: usize, lead: usize, number: u32, step: &Step) -> StepRow {
        let qp = &self.qps[at];
        let flow = &qp.key.flow;
        let [src, dst] = [flow.src, flow.dst].map(address);
        let start = Time(self.jobs.start_ns(qp.job) as i64);
        let peer = qp.peer.map(|peer| self.qps[peer as usize].key.flow.dst_qpn);
        StepRow {
            observer: self.observer.clone(),
            time: Time(step.first_ns as i64),
            time_ns: step.first_ns as i64,
            collective: format!("{start}").into(),
            host: src.to_string().into(),
            channel: self.qps[lead].channel,
            step: number,
            dst_host: dst.to_string().into(),
            src: Some(src),
            dst: Some(dst),
            src_port: Some(qp.udp_src_port),
            dst_port: Some(rocescope_wire::ROCE_UDP_PORT),
            src_qpn: peer,
            dst_qpn: Some(flow.dst_qpn),
            bytes: Some(step.bytes),
            duration_ns: Some(step.last_ns.since(step.first_ns) as i64),
            credit_wait_ns: step.credit_wait_ns,
            send_wait_ns: step.send_wait_ns,
            retransmitted_packets: Some(step.retransmitted),
            likelihood: Some(step.confidence),
            format: Text::from_static(StepRow::CAPTURED),
            ..StepRow::default()
        }
    }
}
