//! Flows of a window with retransmitted or reordered packets, from the analysis of connections.

use alloc::collections::BTreeMap;
use rocescope_wire::FlowKey;

/// Retransmitted and reordered packets of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Impairment {
    /// Retransmitted requests and responses.
    pub(crate) retransmitted: u64,
    /// Reordered packets.
    pub(crate) out_of_order: u64,
}

impl Impairment {
    /// The difference since `before`.
    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            retransmitted: self.retransmitted.saturating_sub(before.retransmitted),
            out_of_order: self.out_of_order.saturating_sub(before.out_of_order),
        }
    }
}

/// Retransmitted or reordered packets of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImpairedRun {
    pub(crate) flow: FlowKey,
    pub(crate) time_ns: u64,
    pub(crate) impairment: Impairment,
}

/// The impaired flows of one window.
#[derive(Debug, Default)]
pub(crate) struct ImpairedFlows {
    flows: BTreeMap<FlowKey, Impairment>,
    /// The table was full: flows that are not in it are unknown.
    partial: bool,
}

impl ImpairedFlows {
    /// Adds to a flow, in a table of at most `max` flows.
    pub(crate) fn add(&mut self, flow: &FlowKey, impairment: Impairment, max: usize) {
        if self.flows.len() >= max && !self.flows.contains_key(flow) {
            self.partial = true;
            return;
        }
        let sum = self.flows.entry(*flow).or_default();
        sum.retransmitted += impairment.retransmitted;
        sum.out_of_order += impairment.out_of_order;
    }

    /// The impairment of a flow, if known.
    pub(crate) fn of(&self, flow: &FlowKey) -> Option<Impairment> {
        match self.flows.get(flow) {
            Some(impairment) => Some(*impairment),
            None => (!self.partial).then(Impairment::default),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.flows.clear();
        self.partial = false;
    }
}

#[cfg(test)]
mod tests {
    use super::{ImpairedFlows, Impairment};
    use bytemuck::Zeroable;
    use rocescope_wire::FlowKey;

    #[test]
    fn flows_beyond_the_bound_are_unknown() {
        let flow = |dst_qpn| FlowKey {
            dst_qpn,
            ..FlowKey::zeroed()
        };
        let once = Impairment {
            retransmitted: 1,
            out_of_order: 2,
        };
        let mut impaired_flows = ImpairedFlows::default();
        impaired_flows.add(&flow(1), once, 1);
        assert_eq!(impaired_flows.of(&flow(2)), Some(Impairment::default()));
        impaired_flows.add(&flow(2), once, 1);
        impaired_flows.add(&flow(1), once, 1);
        assert_eq!(impaired_flows.of(&flow(1)).unwrap().retransmitted, 2);
        assert_eq!(impaired_flows.of(&flow(1)).unwrap().since(once), once);
        assert_eq!(impaired_flows.of(&flow(2)), None);
        impaired_flows.clear();
        assert_eq!(impaired_flows.of(&flow(2)), Some(Impairment::default()));
    }
}
