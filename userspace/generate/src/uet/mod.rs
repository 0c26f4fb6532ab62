//! UET: packet delivery contexts that spray, lose, trim, acknowledge selectively and retransmit.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | the PDCs of a group, and the order in which their packets pass the tap |
//! | `pdc` | one PDC: sender, receiver, and what the fabric does between them |
//! | `frame` | bytes |

mod frame;
mod pdc;

use self::frame::Headers;
use self::pdc::{Event, Passing, Pdc};
use super::random::Random;
use super::scenario::uet::Uet;
use super::truth::PdcTruth;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The first random stream of the groups; each PDC has its own.
const STREAMS: u64 = 1 << 40;

/// The PDCs of a group.
#[derive(Clone, Debug)]
pub(super) struct Source {
    uet: Uet,
    pdcs: Vec<(Pdc, Headers)>,
    /// What happens next: when, in which order of creation, to which PDC.
    events: BinaryHeap<Reverse<(u64, u64, usize, Event)>>,
    created: u64,
    /// The packet that passes next.
    next: Option<(u64, usize, Passing)>,
}

impl Source {
    /// The PDCs of group `number`.
    pub(super) fn new(uet: &Uet, seed: u64, number: usize) -> Self {
        let mut source = Self {
            uet: uet.clone(),
            pdcs: Vec::new(),
            events: BinaryHeap::new(),
            created: 0,
            next: None,
        };
        for index in 0..uet.count as usize {
            let stream = STREAMS + ((number as u64) << 32) + index as u64;
            let mut random = Random::new(seed, stream);
            let headers = Headers::new(uet, index, random.below(1 << 15) as u16);
            source.pdcs.push((Pdc::new(uet, random), headers));
            source.add(uet.start.0 + index as u64 * 7, index, Event::Turn);
        }
        source.advance();
        source
    }

    fn add(&mut self, at: u64, index: usize, event: Event) {
        self.created += 1;
        self.events.push(Reverse((at, self.created, index, event)));
    }

    /// Goes on to the next packet that passes the tap.
    fn advance(&mut self) {
        self.next = None;
        while let Some(Reverse((at, _, index, event))) = self.events.pop() {
            if let Event::Pass(passing) = event {
                self.next = Some((at, index, passing));
                return;
            }
            let mut follow = Vec::new();
            if let Some((pdc, _)) = self.pdcs.get_mut(index) {
                pdc.happen(&self.uet, at, event, &mut follow);
            }
            for (at, event) in follow {
                self.add(at, index, event);
            }
        }
    }

    /// When the next packet passes.
    pub(super) fn due(&self) -> Option<u64> {
        self.next.map(|(at, ..)| at)
    }

    /// Writes the next packet; the mirror delivers it or not.
    pub(super) fn write(&mut self, frame: &mut Vec<u8>, is_delivered: bool) {
        frame.clear();
        if let Some((_, index, passing)) = self.next
            && let Some((pdc, headers)) = self.pdcs.get_mut(index)
        {
            headers.write(&self.uet, &passing, frame);
            pdc.count(&passing, is_delivered);
        }
        self.advance();
    }

    /// The truth of every PDC.
    pub(super) fn truth(&self) -> impl Iterator<Item = PdcTruth> {
        self.pdcs.iter().map(|(pdc, headers)| PdcTruth {
            src: headers.address(0),
            dst: headers.address(1),
            src_pdc: headers.number(0),
            dst_pdc: headers.number(1),
            job: self.uet.job,
            ..pdc.truth()
        })
    }
}
