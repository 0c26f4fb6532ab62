//! Publishes the headers of UET packets.

use crate::maps::State;
use crate::rings::Rings;
use rocescope_record::{Clock, Config, Counters, Sink};
use rocescope_wire::uet::read_into;

/// Publishes the UET packet in the head of the frame, if it can be read and the filter may accept it.
#[inline(never)]
pub fn publish(config: &Config, counters: &mut Counters, state: &mut State) -> u32 {
    let State {
        batch,
        head,
        packet,
        inner,
        times,
        moment,
        uet,
        ..
    } = state;
    if read_into(&*head, inner, packet.encapsulation, &mut uet.flow, &mut uet.packet) == 0 {
        counters.uet_unread += 1;
        return 0;
    }
    if !config.filter.may_want(&uet.flow) {
        counters.uet_filtered += 1;
        return 0;
    }
    uet.time_ns = times.clock(config).now();
    uet.interface = moment.interface;
    Rings { batch }.uet(uet, counters);
    0
}
