//! The key of a direction: a flow without its UDP source port.

use rocescope_record::RunRecord;
use rocescope_sketches::hash::hash_words;
use rocescope_wire::FlowKey;

/// A direction: outer identifiers, addresses, destination QP; for datagrams also the source QP, because many send to
/// one UD QP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DirectionKey {
    /// With a UDP source port of 0.
    pub(crate) flow: FlowKey,
    /// Source QP of datagrams, else 0.
    pub(crate) src_qpn: u32,
}

/// Seed of the hash of directions; it stays inside the process.
const SEED: u64 = 0xd12e_c710;

impl DirectionKey {
    pub(crate) fn of(run: &RunRecord) -> Self {
        Self::new(&run.flow, run.src_qpn)
    }

    pub(crate) fn new(flow: &FlowKey, src_qpn: u32) -> Self {
        Self {
            flow: FlowKey {
                udp_src_port: 0,
                ..*flow
            },
            src_qpn,
        }
    }

    /// The direction from `dst` back to `src` with another destination QP.
    pub(crate) fn reversed(&self, dst_qpn: u32) -> Self {
        Self {
            flow: FlowKey {
                src: self.flow.dst,
                dst: self.flow.src,
                dst_qpn,
                ..self.flow
            },
            src_qpn: 0,
        }
    }

    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        let [a, b, c, d, e, f] = self.flow.words();
        // The field of the port is unused.
        hash_words(&[a, b, c, d, e, f ^ u64::from(self.src_qpn)], SEED).0
    }

    /// The same for all directions from one host to another.
    pub(crate) fn hosts(&self) -> u64 {
        let [a, b, c, d, e, f] = self.flow.words();
        hash_words(&[a, b, c, d, e & 0xffff_ffff, f], SEED).0
    }

    /// [`hosts`](Self::hosts) of the directions back.
    pub(crate) fn hosts_back(&self) -> u64 {
        self.reversed(0).hosts()
    }
}
