//! Whether a live capture falls behind its source.

/// Share of the source's buffer that is filled when the capture counts as behind.
const BEHIND: f64 = 0.5;
/// Share below which it has caught up again.
const CAUGHT_UP: f64 = 0.125;

/// Decides from the fill of the buffer between source and pipeline whether connections yield: from half full until an
/// eighth. The distance keeps them from switching at every look.
#[derive(Debug, Default)]
pub(super) struct Overload {
    is_behind: bool,
    peak: f64,
}

impl Overload {
    /// Takes the share of the buffer that is filled, 0 to 1; returns whether the capture is behind.
    pub(super) fn observe(&mut self, filled: f64) -> bool {
        let bound = if self.is_behind { CAUGHT_UP } else { BEHIND };
        self.is_behind = filled >= bound;
        self.peak = self.peak.max(filled);
        self.is_behind
    }

    /// The largest share so far.
    pub(super) const fn peak(&self) -> f64 {
        self.peak
    }
}

#[cfg(test)]
mod tests {
    use super::Overload;

    #[test]
    fn connections_yield_from_half_full_until_an_eighth() {
        let mut overload = Overload::default();
        for (filled, expected) in [
            (0.0, false),
            (0.49, false),
            (0.5, true),
            (0.3, true),
            (0.125, true),
            (0.12, false),
            (0.3, false),
            (1.0, true),
        ] {
            assert_eq!(overload.observe(filled), expected, "{filled}");
        }
        assert_eq!(overload.peak(), 1.0);
    }
}
