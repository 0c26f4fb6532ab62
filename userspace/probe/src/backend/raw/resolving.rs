//! Keeps the next hops and the interfaces up to date.

use super::hop::Hop;
use super::next_hop::Resolved;
use super::{Error, INTERFACES, REFRESH, ROUTES, Raw, link, system_clock};
use crate::types::{Event, Nanos, NicIndex};
use std::time::Duration;

/// After a change of routes, the delay to the first NIC and between two NICs: four take 0.2 s, and routes that change
/// constantly cost less than a hundredth of a core.
const SOON: Nanos = Nanos(50_000_000);
/// The same while a neighbour has not answered.
const RETRY: Nanos = Nanos::SECOND;
/// At the start, the interval of checks whether neighbours have answered.
const FIRST_ANSWER: Duration = Duration::from_millis(20);

impl Raw {
    /// Resolves all next hops and waits for neighbours until each has answered or is known not to.
    pub(super) fn resolve_all(&mut self) -> Result<(), Error> {
        loop {
            for nic in 0..self.ports.len() {
                self.resolve(nic)?;
            }
            let mut hops = self.ports.iter().flat_map(|port| &port.hops);
            if !hops.any(|hop| matches!(hop, Hop::Asked { .. })) {
                return Ok(());
            }
            std::thread::sleep(FIRST_ANSWER);
        }
    }

    /// Resolves the next hops of a NIC; returns whether all neighbours have answered.
    fn resolve(&mut self, src: usize) -> Result<bool, Error> {
        let mut is_known = true;
        let Some(port) = self.ports.get_mut(src).filter(|port| !port.is_gone) else {
            return Ok(is_known);
        };
        for (dst, (nic, hop)) in self.nics.iter().zip(&mut port.hops).enumerate() {
            if dst == src {
                continue;
            }
            let found = self.next_hops.resolve(&port.link, src, nic.address)?;
            is_known &= found != Resolved::Asked;
            *hop = hop.after(found, system_clock::now());
        }
        Ok(is_known)
    }

    /// Resolves the next NIC if it is due.
    pub(super) fn resolve_next(&mut self, now: Nanos, events: &mut Vec<Event>) -> Result<(), Error> {
        let is_ready = |number| self.ready.iter().any(|ready| ready.data.u64() == number);
        let interfaces = is_ready(INTERFACES) && self.interfaces.drain();
        self.refresh.interfaces |= interfaces;
        if interfaces || (is_ready(ROUTES) && self.routes.drain()) {
            self.refresh.stale = self.ports.len();
            self.refresh.due = self.refresh.due.min(now + SOON);
        }
        if now < self.refresh.due {
            return Ok(());
        }
        if std::mem::take(&mut self.refresh.interfaces) {
            self.check_interfaces(events);
        }
        let is_known = self.resolve(self.refresh.nic)?;
        let count = self.ports.len().max(1);
        self.refresh.nic = (self.refresh.nic + 1) % count;
        self.refresh.stale = self.refresh.stale.saturating_sub(1);
        self.refresh.asked = match is_known {
            true => self.refresh.asked.saturating_sub(1),
            false => count,
        };
        let pause = match (self.refresh.stale, self.refresh.asked) {
            (0, 0) => Nanos(REFRESH.0 / count as i64),
            (0, _) => Nanos(RETRY.0 / count as i64),
            _ => SOON,
        };
        self.refresh.due = now + pause;
        Ok(())
    }

    /// Reports interfaces that disappeared, returned or changed.
    fn check_interfaces(&mut self, events: &mut Vec<Event>) {
        // If the list is unavailable now, the next change triggers another attempt.
        let Ok(interfaces) = link::interfaces() else {
            return;
        };
        let nics = self.nics.iter_mut().zip(&mut self.ports);
        for (index, (nic, port)) in nics.enumerate() {
            let number = NicIndex(index as u16);
            match port.link.among(&interfaces) {
                Some(now) if port.is_gone || now.differs(&port.link) => {
                    // If it disappears again meanwhile, the kernel reports that.
                    if self.next_hops.replace(index, &now).is_ok() && port.replace(now).is_ok() {
                        port.is_gone = false;
                        nic.address = port.link.address();
                        events.push(Event::Back {
                            nic: number,
                            address: nic.address,
                        });
                    }
                }
                Some(_) => {}
                None if port.is_gone => {}
                None => {
                    port.is_gone = true;
                    events.push(Event::Gone { nic: number });
                }
            }
        }
    }
}
