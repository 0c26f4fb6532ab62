//! CM datagrams: the directions that they set up and take down.

use crate::connections::direction::PairedBy;
use crate::connections::pairing::key::DirectionKey;
use crate::connections::pairing::setup::Step;
use crate::connections::rows::event::{Event, EventDetail};
use crate::connections::state::Connections;
use crate::time::EventTime;
use rocescope_record::MadRecord;

impl Connections {
    /// A CM datagram.
    pub(crate) fn datagram(&mut self, record: &MadRecord) {
        let Some(step) = self.cm.datagram(record) else {
            return;
        };
        let time_ns = record.time_ns;
        match step {
            Step::Paired {
                there,
                back,
                times,
                mtu,
            } => {
                let (Some(a), Some(b)) = (self.fresh(there, time_ns), self.fresh(back, time_ns)) else {
                    return;
                };
                self.pair(a, b, PairedBy::Cm);
                let (active, passive) = times.starts();
                for (at, psn) in [(a, active), (b, passive)] {
                    if let Some(direction) = self.directions.get_mut(at) {
                        direction.expect(psn);
                        direction.mtu = direction.mtu.max(mtu);
                        if let Some(service) = times.service {
                            direction.transport = service;
                        }
                    }
                }
                if let Some(direction) = self.directions.get_mut(a) {
                    let setup = direction.setup.get_or_insert_default();
                    setup.cm = Some(times);
                }
            }
            Step::Ready { there, ready_ns } => {
                let Some(at) = self.directions.find(&there) else {
                    return;
                };
                let cm = self
                    .directions
                    .get_mut(at)
                    .and_then(|direction| direction.setup.as_mut())
                    .and_then(|setup| setup.cm.as_mut());
                if let Some(cm) = cm.filter(|cm| cm.ready_ns.is_none()) {
                    cm.ready_ns = Some(ready_ns);
                    let detail = EventDetail::Connect {
                        reply_ns: cm.reply_ns.map(|ns| ns.since(cm.request_ns)),
                        ready_ns: cm.reply_ns.map(|ns| ready_ns.since(ns)),
                    };
                    self.emit_for(there, time_ns, detail);
                }
            }
            Step::Disconnect { there } => {
                let Some(at) = self.directions.find(&there) else {
                    return;
                };
                let peer = self.directions.get(at).and_then(|direction| direction.peer);
                let mut first = false;
                for at in core::iter::once(at).chain(peer) {
                    if let Some(direction) = self.directions.get_mut(at) {
                        first |= !direction.closed;
                        direction.close();
                    }
                }
                if first {
                    self.emit_for(there, time_ns, EventDetail::Disconnect);
                }
            }
            Step::Reject { there, reason } => {
                self.emit_for(there, time_ns, EventDetail::Reject(reason));
            }
        }
    }

    fn emit_for(&mut self, key: DirectionKey, time_ns: u64, detail: EventDetail) {
        self.emit(Event {
            time_ns,
            key,
            udp_src_port: 0,
            detail,
        });
    }

    /// A new direction with this key, `None` if the memory is full: writes and removes the rest of an earlier queue pair with the same number.
    fn fresh(&mut self, key: DirectionKey, now_ns: u64) -> Option<u32> {
        if let Some(at) = self.directions.find(&key) {
            let untouched = self
                .directions
                .get(at)
                .is_some_and(|direction| direction.counts.packets == 0 && !direction.closed);
            if untouched {
                return Some(at);
            }
            self.retire(at);
        }
        self.begin(key, now_ns)
    }
}
