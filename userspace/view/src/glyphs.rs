//! Characters beyond ASCII, and their ASCII replacements.

/// Which characters may be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Glyphs {
    /// All of Unicode.
    #[default]
    Unicode,
    /// ASCII only.
    Ascii,
}

/// Eighths of a cell, from the smallest to the whole.
const RISING: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const RISING_ASCII: [&str; 8] = [".", ".", ":", "-", "=", "+", "*", "#"];
const GROWING: [&str; 8] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];

impl Glyphs {
    /// One step of a sparkline: `share` is 0 to 1; a share above 0 never looks like 0.
    #[must_use]
    pub fn spark(self, share: f32) -> &'static str {
        if share.is_nan() || share <= 0.0 {
            return if share == 0.0 { self.floor() } else { " " };
        }
        let steps = match self {
            Self::Unicode => &RISING,
            Self::Ascii => &RISING_ASCII,
        };
        let at = (share.min(1.0) * 8.0).ceil() as usize;
        steps[at.clamp(1, 8) - 1]
    }

    /// Zero, as opposed to unknown.
    const fn floor(self) -> &'static str {
        match self {
            Self::Unicode => "·",
            Self::Ascii => "_",
        }
    }

    /// A bar of `share` of `width` cells.
    #[must_use]
    pub fn bar(self, share: f64, width: usize) -> String {
        let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
        // A small share must not look like 0.
        let eighths = eighths.max(usize::from(share > 0.0));
        match self {
            Self::Unicode => {
                let mut bar = "█".repeat(eighths / 8);
                if let Some(rest) = (eighths % 8).checked_sub(1) {
                    bar.push_str(GROWING[rest]);
                }
                bar
            }
            Self::Ascii => "#".repeat(eighths.div_ceil(8)),
        }
    }

    /// What to draw for `symbol`.
    #[must_use]
    pub fn drawn(self, symbol: &str) -> &str {
        if self == Self::Unicode || symbol.is_ascii() {
            return symbol;
        }
        match symbol {
            "µ" => "u",
            "±" | "≈" | "…" => "~",
            "≤" => "<",
            "≥" => ">",
            "–" | "−" | "─" => "-",
            "│" => "|",
            "┌" | "┐" | "└" | "┘" | "╭" | "╮" | "╰" | "╯" => "+",
            "▲" => "^",
            "▼" => "v",
            "▶" | "›" => ">",
            "×" => "x",
            "·" => ".",
            _ => "?",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Glyphs;

    #[test]
    fn sparks_distinguish_zero_unknown_and_small() {
        let unicode = Glyphs::Unicode;
        assert_eq!(unicode.spark(0.0), "·");
        assert_eq!(unicode.spark(f32::NAN), " ");
        assert_eq!(unicode.spark(0.001), "▁");
        assert_eq!(unicode.spark(0.5), "▄");
        assert_eq!(unicode.spark(7.0), "█");
    }

    #[test]
    fn bars_end_in_eighths() {
        assert_eq!(Glyphs::Unicode.bar(0.5, 5), "██▌");
        assert_eq!(Glyphs::Unicode.bar(2.0, 3), "███");
        assert_eq!(Glyphs::Ascii.bar(0.01, 3), "#");
        assert_eq!(Glyphs::Ascii.bar(0.0, 3), "");
    }
}
