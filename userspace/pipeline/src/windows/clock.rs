//! The clock of the pipeline: when windows end, by frames or by a clock that runs without them.

use super::Pipeline;
use super::close::ClosedWindows;
use crate::time::EventTime;
use crate::totals::FrameCounts;
use crate::window::Window;
use core::convert::Infallible;
use rocescope_model::WindowRows;
use rocescope_record::Counters;

/// Windows without frames that one turn may close: more than this passed without the capture, so no one knows
/// whether there were frames.
const MAX_IDLE: u64 = 3_600;

impl Pipeline {
    /// Moves the clock to `time_ns`. The counts of `counters` since the last turn belong to the window the clock was
    /// in. Closes finished windows; their rows wait in [`rows`](Self::rows).
    ///
    /// Runs that began before `time_ns` must have been published, the open ones flushed.
    pub fn turn(&mut self, time_ns: u64, counters: &Counters) {
        let Ok(()) = self.turn_by_window(time_ns, counters, &mut |_| Ok::<(), Infallible>(()));
    }

    /// Like [`turn`](Self::turn), but calls `each` with the rows after every closed window: a caller that writes and
    /// clears them there holds the sketches of only one window.
    ///
    /// # Errors
    /// The first error of `each`; later windows stay open.
    pub fn turn_by_window<E>(
        &mut self,
        time_ns: u64,
        counters: &Counters,
        each: &mut impl FnMut(&mut WindowRows) -> Result<(), E>,
    ) -> Result<(), E> {
        self.attribute(counters);
        let start_ns = time_ns.floor(self.settings.window_ns);
        self.clock_ns = Some(start_ns);
        if self.settings.live.is_some() {
            self.unclosed_ns.get_or_insert(start_ns);
        }
        self.current_ns = self.settings.window_ns;
        if let Some(connections) = &mut self.connections {
            connections.turn(time_ns);
            self.take_impaired_runs();
            self.connection_rows(false, each)?;
        }
        self.newest_ns = self.newest_ns.max(time_ns);
        let watermark = self.newest_ns.saturating_sub(self.settings.lateness_ns);
        let floor = watermark - watermark % self.settings.window_ns;
        if floor > self.floor_ns {
            self.floor_ns = floor;
            self.close_before(floor, each)?;
        }
        Ok(())
    }

    /// Like [`turn_by_window`](Self::turn_by_window) for counters that were read at `read_ns`, later than `time_ns`:
    /// frames that are not RoCEv2 may count in a window too early by the difference, which the rows state.
    ///
    /// # Errors
    /// Those of `turn_by_window`.
    pub fn turn_at_reading<E>(
        &mut self,
        time_ns: u64,
        read_ns: u64,
        counters: &Counters,
        each: &mut impl FnMut(&mut WindowRows) -> Result<(), E>,
    ) -> Result<(), E> {
        let window_ns = self.settings.window_ns;
        if let Some(clock_ns) = self.clock_ns {
            let counted_ns = read_ns.since(clock_ns.saturating_add(window_ns));
            let slack_ns = self.read_late_ns.max(counted_ns);
            let first = self.window_at(clock_ns);
            for (start_ns, window) in self.open.range_mut(first..) {
                if *start_ns < time_ns {
                    window.slack_ns = window.slack_ns.max(slack_ns);
                }
            }
        }
        self.read_late_ns = read_ns.since(time_ns);
        self.turn_by_window(time_ns, counters, each)
    }

    /// Closes all windows at the end of the capture.
    pub fn finish(&mut self, counters: &Counters) {
        let Ok(()) = self.finish_by_window(counters, &mut |_| Ok::<(), Infallible>(()));
    }

    /// Like [`finish`](Self::finish), window by window: see [`turn_by_window`](Self::turn_by_window).
    ///
    /// # Errors
    /// The first error of `each`.
    pub fn finish_by_window<E>(
        &mut self,
        counters: &Counters,
        each: &mut impl FnMut(&mut WindowRows) -> Result<(), E>,
    ) -> Result<(), E> {
        self.attribute(counters);
        if let Some(connections) = &mut self.connections {
            connections.finish();
        }
        self.take_impaired_runs();
        if self.pdcs.newest_ns() > 0 {
            let at = self.window_at(self.pdcs.newest_ns());
            if let Some((_, window)) = self.open.get_mut(at) {
                self.pdcs.finish(&mut window.pdcs);
            }
        }
        // What was open to the end may be losses, which belong to the last window.
        self.end_connections(each)?;
        self.take_impaired_runs();
        if self.closed.is_behind(self.delivery()) {
            self.window_at(self.newest_ns);
        }
        self.close_before(u64::MAX, each)?;
        self.connection_rows(true, each)?;
        self.closed.finish(&self.settings);
        Ok(())
    }

    /// Closes the windows that end at or before `floor_ns`.
    fn close_before<E>(
        &mut self,
        floor_ns: u64,
        each: &mut impl FnMut(&mut WindowRows) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(start_ns) = self.next_to_close(floor_ns) {
            let found = self.open.pop_front_if(|(start, _)| *start == start_ns);
            let window = found.map(|(_, window)| window).or_else(|| self.spare.take());
            let mut window = window.unwrap_or_else(|| Window::new(&self.settings));
            let delivery = self.delivery();
            self.closed
                .close(start_ns, &mut window, &self.settings, &mut self.spray, delivery);
            self.spare = Some(window);
            if let Some(unclosed_ns) = &mut self.unclosed_ns {
                *unclosed_ns = start_ns + self.settings.window_ns;
            }
            each(&mut self.closed.rows)?;
        }
        Ok(())
    }

    /// Start of the earliest window that ends at or before `floor_ns` and is not closed: with frames, or of a live
    /// source, up to the window of the newest time.
    fn next_to_close(&mut self, floor_ns: u64) -> Option<u64> {
        let window_ns = self.settings.window_ns;
        let front = self.open.front().map(|(start, _)| *start);
        let front = front.filter(|start| start.saturating_add(window_ns) <= floor_ns);
        let newest_end_ns = self.newest_ns.floor(window_ns) + window_ns;
        let end_ns = front.unwrap_or_else(|| floor_ns.min(newest_end_ns));
        let unclosed_ns = self.unclosed_ns.as_mut().filter(|start| **start < end_ns);
        match unclosed_ns {
            Some(unclosed_ns) if end_ns.since(*unclosed_ns) / window_ns <= MAX_IDLE => Some(*unclosed_ns),
            Some(unclosed_ns) => {
                *unclosed_ns = end_ns;
                front
            }
            None => front,
        }
    }

    /// Ends what is open in connections, and passes the events to `each` if there are many.
    fn end_connections<E>(&mut self, each: &mut impl FnMut(&mut WindowRows) -> Result<(), E>) -> Result<(), E> {
        let Some(connections) = &mut self.connections else {
            return Ok(());
        };
        let ClosedWindows { rows, total, .. } = &mut self.closed;
        let mut more = true;
        while more {
            let before = rows.events.len();
            more = connections.end(&mut rows.events);
            total.events += (rows.events.len() - before) as u64;
            if more {
                each(rows)?;
            }
        }
        Ok(())
    }

    /// Takes the rows of connections, and passes them to `each` if there are many.
    fn connection_rows<E>(
        &mut self,
        all: bool,
        each: &mut impl FnMut(&mut WindowRows) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(connections) = &mut self.connections else {
            return Ok(());
        };
        let ClosedWindows { rows, total, .. } = &mut self.closed;
        connections.step_rows(&mut rows.steps);
        let mut more = true;
        while more {
            let before = rows.events.len();
            more = connections.rows(all, &mut rows.connections, &mut rows.events);
            total.events += (rows.events.len() - before) as u64;
            if more {
                each(rows)?;
            }
        }
        Ok(())
    }

    fn attribute(&mut self, counters: &Counters) {
        let mut counted = FrameCounts::of(counters);
        counted.mirror_lost = counted.mirror_lost.max(self.counted.mirror_lost);
        if counted != self.counted {
            let at = self.window_at(self.clock_ns.unwrap_or(0));
            if let Some((_, window)) = self.open.get_mut(at) {
                window.totals.classes.add_between(&self.counted, &counted);
            }
            self.counted = counted;
        }
    }
}
