//! Who pauses a link, and for how long.
//!
//! A pause frame asks for a time in quanta of 512 bit times, so how long that is depends on the speed of the link, which a tap does
//! not know: each counts up to the next frame of the same port and priority, and at most for its quanta at 10 Gbit/s, the slowest
//! link that RoCEv2 has. A port that goes on pausing sends the next frame before that.

use crate::time::EventTime;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use rocescope_model::human;
use rocescope_model::{EventRow, Text, Time, Unit, Value};
use rocescope_wire::Pause;

/// A quantum at 10 Gbit/s, in picoseconds.
const QUANTUM_PS: u64 = 51_200;
/// Ports and priorities that are kept apart. The frames of more count together.
const MAX_KEYS: usize = 1_024;

/// The interface of the tap, the port that pauses, and the priority; `None` is all of them.
type Key = (u32, [u8; 6], Option<u8>);
const OTHERS: Key = (0, [0; 6], None);

/// Pauses that go on.
#[derive(Debug, Default)]
pub(crate) struct Pauses(BTreeMap<Key, (u64, u16)>);

/// The pauses of a window.
#[derive(Debug, Default)]
pub(crate) struct WindowPauses(BTreeMap<Key, Sum>);

#[derive(Debug, Default)]
struct Sum {
    first_ns: u64,
    frames: u64,
    paused_ns: u64,
}

impl Pauses {
    /// Adds a frame that passed an interface at this time.
    pub(crate) fn add(&mut self, time_ns: u64, interface: u32, pause: &Pause, window: &mut WindowPauses) {
        let of_all = pause.is_of_all.then_some((None, pause.priorities[0]));
        let each = (0..8)
            .zip(pause.priorities)
            .map(|(priority, quanta)| (Some(priority), quanta));
        let each = each.filter(|_| !pause.is_of_all);
        for (priority, quanta) in of_all.into_iter().chain(each) {
            let Some(quanta) = quanta else { continue };
            let mut key = (interface, pause.sender, priority);
            if self.0.len() >= MAX_KEYS && !self.0.contains_key(&key) {
                key = OTHERS;
            }
            let before = self.0.insert(key, (time_ns, quanta));
            let paused_ns = before.map_or(0, |(before_ns, quanta)| {
                let asked_ns = u64::from(quanta) * QUANTUM_PS / 1_000;
                time_ns.since(before_ns).min(asked_ns)
            });
            let sum = window.0.entry(key).or_default();
            if sum.frames == 0 {
                sum.first_ns = time_ns;
            }
            sum.frames += 1;
            sum.paused_ns += paused_ns;
        }
    }
}

impl WindowPauses {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// A row for each port and priority.
    pub(crate) fn rows(&self, observer: &Text) -> impl Iterator<Item = EventRow> {
        self.0.iter().map(|(key, sum)| {
            let time = Time(sum.first_ns.min(i64::MAX as u64) as i64);
            let who = name(key);
            let paused = human::readable(&Value::I64(sum.paused_ns as i64), Unit::Nanoseconds);
            let frames = human::plural(sum.frames, "pause frame");
            EventRow {
                observer: observer.clone(),
                time,
                time_ns: time.0,
                kind: Text::from_static(EventRow::PAUSE),
                detail: format!("{who} paused its link for {paused} or less, with {frames}").into(),
                syndrome: Some(who.into()),
                value: Some(sum.paused_ns as f64),
                count: sum.frames,
                ..EventRow::default()
            }
        })
    }
}

/// Such as `b8:3f:d2:00:00:03 priority 3`.
fn name(key: &Key) -> String {
    if *key == OTHERS {
        return "further ports".into();
    }
    let (_, [a, b, c, d, e, f], priority) = key;
    let port = format!("{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}");
    match priority {
        Some(priority) => format!("{port} priority {priority}"),
        None => format!("{port} all priorities"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn pause(priority: usize, quanta: u16) -> Pause {
        let mut priorities = [None; 8];
        priorities[priority] = Some(quanta);
        Pause {
            sender: [0xb8, 0x3f, 0xd2, 0, 0, 3],
            priorities,
            is_of_all: false,
        }
    }

    fn rows(frames: &[(u64, Pause)]) -> Vec<(String, u64, f64)> {
        let (mut pauses, mut window) = (Pauses::default(), WindowPauses::default());
        for (time_ns, frame) in frames {
            pauses.add(*time_ns, 0, frame, &mut window);
        }
        let observer = Text::from_static("box");
        let rows = window.rows(&observer);
        rows.map(|row| (row.syndrome.unwrap().as_str().into(), row.count, row.value.unwrap()))
            .collect()
    }

    #[test]
    fn a_pause_lasts_until_the_next_frame_or_until_its_quanta_are_over() {
        let seen = rows(&[
            (0, pause(3, 0xffff)),
            (500_000, pause(3, 0xffff)),
            // It ends.
            (700_000, pause(3, 0)),
            (5_000_000, pause(3, 100)),
            // 100 quanta are 5,120 ns at 10 Gbit/s.
            (9_000_000, pause(3, 0xffff)),
        ]);
        assert_eq!(seen, [("b8:3f:d2:00:00:03 priority 3".into(), 5, 705_120.0)]);
    }

    #[test]
    fn a_frame_for_all_is_one_of_all() {
        let all = Pause {
            priorities: [Some(7); 8],
            is_of_all: true,
            ..pause(0, 0)
        };
        let seen = rows(&[(0, all), (10, all), (20, pause(1, 4))]);
        let names: Vec<&str> = seen.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(
            names,
            ["b8:3f:d2:00:00:03 all priorities", "b8:3f:d2:00:00:03 priority 1"]
        );
        assert_eq!((seen[0].1, seen[0].2), (2, 10.0));
    }

    #[test]
    fn ports_beyond_the_bound_count_together() {
        let (mut pauses, mut window) = (Pauses::default(), WindowPauses::default());
        for port in 0..2_000u16 {
            let [a, b] = port.to_be_bytes();
            let sender = [2, 0, 0, 0, a, b];
            pauses.add(0, 0, &Pause { sender, ..pause(3, 1) }, &mut window);
        }
        let rows: Vec<EventRow> = window.rows(&Text::default()).collect();
        assert_eq!(rows.len(), MAX_KEYS + 1);
        assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), 2_000);
        assert_eq!(rows[0].syndrome.as_deref(), Some("further ports"));
    }
}
