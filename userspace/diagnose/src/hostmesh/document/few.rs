//! Probes that were lost in windows without a verdict: few, but not none, so they are stated.

use alloc::format;
use alloc::string::String;
use rocescope_model::SlaRow;
use rocescope_model::human::{grouped, plural};

/// The drops of windows without a verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FewDrops {
    /// Windows that lost probes and have no verdict.
    pub windows: u64,
    /// Probes that timed out in them, or whose answer was corrupt.
    pub drops: u64,
    /// All probes of these windows.
    pub probes: u64,
}

impl FewDrops {
    /// Adds a window.
    pub const fn add(&mut self, window: &SlaRow) {
        let drops = window.timeouts + window.corrupt;
        if drops > 0 && window.verdicts == 0 {
            self.windows += 1;
            self.drops += drops;
            self.probes += window.probes;
        }
    }

    /// The drops of these windows.
    pub fn of<'a>(windows: impl IntoIterator<Item = &'a SlaRow>) -> Self {
        let mut few = Self::default();
        windows.into_iter().for_each(|window| few.add(window));
        few
    }

    /// In words; `None` if nothing was lost in them.
    #[must_use]
    pub fn sentence(self) -> Option<String> {
        let [drops, probes] = [self.drops, self.probes].map(grouped);
        let each = match self.windows {
            0 => return None,
            1 => "",
            _ => " in each",
        };
        let windows = plural(self.windows, "window");
        Some(format!(
            "{drops} of {probes} probes lost in {windows}, too few{each} for a verdict"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(probes: u64, timeouts: u64, corrupt: u64, verdicts: u64) -> SlaRow {
        SlaRow {
            probes,
            timeouts,
            corrupt,
            verdicts,
            ..SlaRow::default()
        }
    }

    #[test]
    fn what_was_lost_without_a_verdict_is_stated() {
        let whole = [window(4_000, 0, 0, 0), window(4_000, 500, 0, 2)];
        assert_eq!(FewDrops::of(&whole).sentence(), None);
        let one = [window(4_000, 2, 0, 0), window(4_000, 500, 0, 2)];
        let sentence = FewDrops::of(&one).sentence();
        assert_eq!(
            sentence.as_deref(),
            Some("2 of 4,000 probes lost in 1 window, too few for a verdict")
        );
        let two = [window(4_000, 1, 1, 0), window(4_000, 0, 0, 0), window(4_001, 0, 1, 0)];
        let sentence = FewDrops::of(&two).sentence();
        assert_eq!(
            sentence.as_deref(),
            Some("3 of 8,001 probes lost in 2 windows, too few in each for a verdict")
        );
    }
}
