//! What the analysis of connections says of the flows of a window.

use alloc::collections::BTreeMap;
use rocescope_wire::FlowKey;

/// Packets of one flow that should not have been needed, or came in another order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// Requests and responses sent again.
    pub(crate) retransmitted: u64,
    /// Packets that others overtook before the tap.
    pub(crate) out_of_order: u64,
}

impl Trouble {
    /// What has come about since `before`.
    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            retransmitted: self.retransmitted.saturating_sub(before.retransmitted),
            out_of_order: self.out_of_order.saturating_sub(before.out_of_order),
        }
    }
}

/// What a run brought about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) flow: FlowKey,
    pub(crate) time_ns: u64,
    pub(crate) trouble: Trouble,
}

/// The troubled flows of one window.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    flows: BTreeMap<FlowKey, Trouble>,
    /// There was no room for all: of a flow that is not here nothing is known.
    partial: bool,
}

impl Troubles {
    /// Adds to a flow; there is room for `most`.
    pub(crate) fn add(&mut self, flow: &FlowKey, trouble: Trouble, most: usize) {
        if self.flows.len() >= most && !self.flows.contains_key(flow) {
            self.partial = true;
            return;
        }
        let sum = self.flows.entry(*flow).or_default();
        sum.retransmitted += trouble.retransmitted;
        sum.out_of_order += trouble.out_of_order;
    }

    /// What is known of a flow.
    pub(crate) fn of(&self, flow: &FlowKey) -> Option<Trouble> {
        match self.flows.get(flow) {
            Some(trouble) => Some(*trouble),
            None => (!self.partial).then(Trouble::default),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.flows.clear();
        self.partial = false;
    }
}

#[cfg(test)]
mod tests {
    use super::{Trouble, Troubles};
    use bytemuck::Zeroable;
    use rocescope_wire::FlowKey;

    #[test]
    fn flows_without_room_are_not_known() {
        let flow = |dst_qpn| FlowKey {
            dst_qpn,
            ..FlowKey::zeroed()
        };
        let once = Trouble {
            retransmitted: 1,
            out_of_order: 2,
        };
        let mut troubles = Troubles::default();
        troubles.add(&flow(1), once, 1);
        assert_eq!(troubles.of(&flow(2)), Some(Trouble::default()));
        troubles.add(&flow(2), once, 1);
        troubles.add(&flow(1), once, 1);
        assert_eq!(troubles.of(&flow(1)).unwrap().retransmitted, 2);
        assert_eq!(troubles.of(&flow(1)).unwrap().since(once), once);
        assert_eq!(troubles.of(&flow(2)), None);
        troubles.clear();
        assert_eq!(troubles.of(&flow(2)), Some(Trouble::default()));
    }
}
