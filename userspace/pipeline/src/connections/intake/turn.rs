//! Queues input, and processes it by time at every turn; returns rows.

use crate::connections::intake::ack_run;
use crate::connections::intake::prefetch::GROUP;
use crate::connections::intake::sort_buffer::{Item, SortBuffer};
use crate::connections::rows::events as event_rows;
use crate::connections::state::{Connections, HEAP_PARTS, ROWS_AT_ONCE};
use crate::time::EventTime;
use alloc::vec::Vec;
use rocescope_model::{ConnectionRow, EventRow, StepRow};
use rocescope_record::{ControlPacket, RunRecord};

impl Connections {
    /// Queues a run until the next turn.
    #[inline]
    pub fn run(&mut self, run: &RunRecord) {
        if self.yielded.is_on {
            return self.leave_out(run);
        }
        match ack_run::split(run) {
            Some(ends) => ends.iter().for_each(|end| self.queue(end)),
            None => self.queue(run),
        }
    }

    #[inline]
    fn queue(&mut self, run: &RunRecord) {
        if self.clock_skew.is_empty() {
            self.sort_buffer.run(run);
        } else {
            let mut run = *run;
            self.clock_skew.correct(&mut run);
            self.sort_buffer.run(&run);
        }
    }

    /// Queues a control packet.
    pub fn control_packet(&mut self, event: ControlPacket<'_>) {
        match event {
            ControlPacket::Mad(record) => self.sort_buffer.mad(record),
            ControlPacket::Handshake(record) => self.sort_buffer.handshake(record),
        }
    }

    /// The capture lost runs between these times.
    pub fn capture_lost(&mut self, from_ns: u64, to_ns: u64) {
        self.capture_loss.add(from_ns, to_ns);
    }

    /// A mirror lost frames between these times, by its own numbers.
    pub(crate) fn mirror_lost(&mut self, from_ns: u64, to_ns: u64) {
        self.mirror_loss.stated(from_ns, to_ns);
    }

    /// Whether the queue is so long that a turn is needed before the window's end.
    #[must_use]
    #[inline]
    pub fn wants_turn(&self) -> bool {
        self.sort_buffer.len() >= self.limit
    }

    /// All runs whose slice ended before `time_ns` have arrived: processes those that began before the current slice.
    pub fn turn(&mut self, time_ns: u64) {
        self.now_ns = self.now_ns.max(time_ns);
        let in_window = time_ns % self.window_ns;
        let slice_start_ns = time_ns.saturating_sub(in_window % self.slice_ns);
        let complete_ns = slice_start_ns.max(self.complete_ns.min(time_ns));
        self.release(complete_ns);
        if let Some(steps) = &mut self.steps {
            steps.turn(complete_ns);
        }
        if self.sort_buffer.is_full() {
            let middle_ns = self.sort_buffer.middle_ns();
            let before = self.sort_buffer.len();
            self.release(middle_ns);
            self.sort_buffer.hurried += (before - self.sort_buffer.len()) as u64;
        }
        self.limit = (self.sort_buffer.len() + self.settings.waiting_runs).max(2 * self.sort_buffer.len());
        self.sweep(time_ns);
    }

    fn release(&mut self, watermark_ns: u64) {
        self.note_yielded();
        let mut order = core::mem::take(&mut self.sort_buffer);
        loop {
            let complete_ns = self.clock_skew.complete_ns(watermark_ns);
            order.sort(complete_ns);
            let taken = self.process(&order);
            let Some(correction) = self.clock_skew.news.take() else {
                order.forget(complete_ns);
                break;
            };
            order.forget_first(taken);
            order.correct(correction);
        }
        self.sort_buffer = order;
    }

    /// Processes the sorted items, up to one that shows that others are in the wrong place. Returns their number.
    fn process(&mut self, order: &SortBuffer) -> usize {
        let mut from = 0;
        loop {
            let group = || order.items(from).take(GROUP);
            let runs = group().filter_map(|item| match item {
                Item::Run(run) => Some(run),
                Item::Mad(_) | Item::Handshake(_) => None,
            });
            self.prefetch.load(&self.directions, runs);
            let before = from;
            for item in group() {
                match item {
                    Item::Run(run) => self.ingest(run),
                    Item::Mad(record) => self.datagram(record),
                    Item::Handshake(record) => self.handshakes.take(record),
                }
                from += 1;
                if self.clock_skew.news.is_some() {
                    return from;
                }
            }
            if from == before {
                return from;
            }
        }
    }

    /// Checks once per second of event time for idle directions and due rows.
    fn sweep(&mut self, time_ns: u64) {
        const EVERY_NS: u64 = 1_000_000_000;
        if time_ns.since(self.swept_ns) < EVERY_NS {
            return;
        }
        self.swept_ns = time_ns;
        let within_ns = self.settings.handshake_ns + self.slice_ns + self.window_ns;
        self.handshakes.forget_before(time_ns.saturating_sub(within_ns));
        for at in self.directions.numbers() {
            self.check_retry_exhaustion(at, time_ns);
        }
        let part = self.heap_part;
        let directions = self.directions.numbers().skip(part).step_by(HEAP_PARTS);
        let allocated = directions.filter_map(|at| Some(self.directions.get(at)?.heap_bytes()));
        self.heap_bytes[part] = allocated.sum();
        self.heap_part = (part + 1) % HEAP_PARTS;
        if core::mem::take(&mut self.is_full) {
            self.evict_idle(time_ns);
        }
    }

    /// All runs that began before `time_ns` have arrived, also those of the current slice.
    pub fn complete_before(&mut self, time_ns: u64) {
        self.complete_ns = time_ns;
    }

    /// Processes the whole queue: the capture ended at `time_ns`.
    pub fn finish(&mut self) {
        self.release(u64::MAX);
        if let Some(steps) = &mut self.steps {
            steps.finish();
        }
        for at in self.directions.numbers() {
            self.check_retry_exhaustion(at, self.now_ns);
        }
    }

    /// Ends what is open in every direction, because no packet follows. Adds the events of some directions and returns
    /// whether there are more for the next call.
    pub fn end(&mut self, events: &mut Vec<EventRow>) -> bool {
        let last = self.directions.numbers().end;
        while self.ended < last && self.events.len() < ROWS_AT_ONCE {
            self.end_open(self.ended);
            self.ended += 1;
        }
        self.take_events(events);
        self.ended < last
    }

    fn take_events(&mut self, events: &mut Vec<EventRow>) {
        let happened = self.events.drain(..);
        events.extend(happened.map(|event| event_rows::event_row(&self.observer, &event)));
    }

    /// Adds the rows of steps so far.
    pub(crate) fn step_rows(&mut self, rows: &mut Vec<StepRow>) {
        if let Some(steps) = &mut self.steps {
            steps.rows(rows);
        }
    }

    /// Adds rows of connections that are gone or due, and of events; at the end (`all`) of every connection. Adds about
    /// [`ROWS_AT_ONCE`](crate::connections::ROWS_AT_ONCE) and returns whether there are more for the next call.
    pub fn rows(&mut self, all: bool, rows: &mut Vec<ConnectionRow>, events: &mut Vec<EventRow>) -> bool {
        let more = self.report(all, rows);
        self.take_events(events);
        more
    }
}
