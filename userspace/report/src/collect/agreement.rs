//! Whether the tables of a window agree, and whether a window is stored once.

use rocescope_model::{FlowRow, OpcodeRow, WindowRow};
use std::collections::BTreeMap;

/// A window of an observer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Name of the observer.
    pub observer: String,
    /// Start of the window, in nanoseconds since 1970.
    pub start_ns: i64,
}

/// What the tables of a dataset contradict each other in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Windows compared.
    pub windows: u64,
    /// Windows whose rows in `opcodes` do not sum to those in `windows`.
    pub opcodes_differ: u64,
    /// Windows with packets, but without rows in `flows`.
    pub without_flows: u64,
    /// Rows of `windows` that repeat an earlier one with the same counts: the same frames, captured or merged twice.
    pub repeated: u64,
    /// The first window of each of these three.
    pub first: [Option<Place>; 3],
}

/// The rows of one observer.
#[derive(Default)]
struct Sums<'a> {
    windows: Vec<&'a WindowRow>,
    opcodes: [u64; 3],
    flows: u64,
}

impl Agreement {
    /// Compares the rows of one window, of all observers.
    pub fn window<'a>(
        &mut self,
        windows: impl IntoIterator<Item = &'a WindowRow>,
        flows: &'a [FlowRow],
        opcodes: &'a [OpcodeRow],
    ) {
        let mut observers: BTreeMap<&str, Sums<'_>> = BTreeMap::new();
        for row in windows {
            observers.entry(&row.observer).or_default().windows.push(row);
        }
        for row in opcodes {
            if let Some(sums) = observers.get_mut(&*row.observer) {
                let parts = [row.packets, row.frame_bytes, row.payload_bytes];
                sums.opcodes.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
            }
        }
        for row in flows {
            if let Some(sums) = observers.get_mut(&*row.observer) {
                sums.flows += 1;
            }
        }
        for (observer, sums) in observers {
            self.observer(observer, &sums);
        }
    }

    fn observer(&mut self, observer: &str, sums: &Sums<'_>) {
        let Some(first) = sums.windows.first() else {
            return;
        };
        let sum = |of: fn(&WindowRow) -> u64| sums.windows.iter().map(|row| of(row)).sum::<u64>();
        let expected = [
            sum(|row| row.roce_packets),
            sum(|row| row.frame_bytes),
            sum(|row| row.payload_bytes),
        ];
        let rows = sums.windows.iter().enumerate();
        let repeated = rows.filter(|(at, row)| sums.windows.iter().take(*at).any(|before| row.repeats(before)));
        let found = [
            u64::from(sums.opcodes != expected),
            u64::from(expected[0] > 0 && sums.flows == 0),
            repeated.count() as u64,
        ];
        self.windows += 1;
        let counts = [&mut self.opcodes_differ, &mut self.without_flows, &mut self.repeated];
        for ((count, first_place), found) in counts.into_iter().zip(&mut self.first).zip(found) {
            *count += found;
            if found > 0 && first_place.is_none() {
                *first_place = Some(Place {
                    observer: observer.to_owned(),
                    start_ns: first.window_start_ns,
                });
            }
        }
    }

    /// Whether there is no contradiction.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.opcodes_differ == 0 && self.without_flows == 0 && self.repeated == 0
    }

    /// Returns the sentence about repeated windows.
    #[must_use]
    pub fn repetition(&self) -> Option<String> {
        let only = Self {
            opcodes_differ: 0,
            without_flows: 0,
            ..self.clone()
        };
        only.problems().pop()
    }

    /// Returns one sentence for each kind of contradiction.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let texts = [
            (
                self.opcodes_differ,
                "whose opcodes do not sum to the window: rows of one table are missing or changed",
            ),
            (
                self.without_flows,
                "with packets but without flows: rows of `flows` are missing",
            ),
            (
                self.repeated,
                "stored twice with the same counts: the same frames were captured or merged twice, and all sums count \
                 them twice",
            ),
        ];
        let kinds = texts.iter().zip(&self.first);
        let found = kinds.filter(|((count, _), _)| *count > 0);
        let found = found.filter_map(|((count, text), first)| Some((*count, text, first.as_ref()?)));
        let sentences = found.map(|(count, text, first)| {
            let windows = rocescope_model::human::plural(count, "window");
            let (observer, start) = (&first.observer, rocescope_model::Time(first.start_ns));
            format!("{windows} {text}. The first is that of {observer} at {start}.")
        });
        sentences.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Agreement;
    use rocescope_model::{FlowRow, OpcodeRow, WindowRow};

    fn rows() -> (Vec<WindowRow>, Vec<FlowRow>, Vec<OpcodeRow>) {
        let window = WindowRow {
            frames: 7,
            roce_packets: 5,
            frame_bytes: 500,
            payload_bytes: 400,
            ..WindowRow::default()
        };
        let opcode = OpcodeRow {
            packets: 5,
            frame_bytes: 500,
            payload_bytes: 400,
            ..OpcodeRow::default()
        };
        (vec![window], vec![FlowRow::default()], vec![opcode])
    }

    #[test]
    fn equal_sums_agree() {
        let (windows, flows, opcodes) = rows();
        let mut agreement = Agreement::default();
        agreement.window(&windows, &flows, &opcodes);
        assert!(agreement.holds() && agreement.problems().is_empty());
    }

    #[test]
    fn missing_and_changed_rows_and_repeated_windows_are_named() {
        let (windows, flows, opcodes) = rows();
        let mut agreement = Agreement::default();
        agreement.window(&windows, &flows, &[]);
        agreement.window(&windows, &[], &opcodes);
        let twice = [windows.clone(), windows].concat();
        agreement.window(&twice, &flows, &[opcodes.clone(), opcodes].concat());
        assert_eq!(
            (agreement.opcodes_differ, agreement.without_flows, agreement.repeated),
            (1, 1, 1)
        );
        assert_eq!(agreement.problems().len(), 3);
    }
}
