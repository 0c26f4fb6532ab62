//! A screen from tmux: characters with their colours.

/// The style of a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// One of the 256 colours; `None` for the terminal's default.
    pub(super) color: Option<u8>,
    /// The same for the background.
    pub(super) paper: Option<u8>,
    pub(super) bold: bool,
    pub(super) faint: bool,
    pub(super) reversed: bool,
}

/// Lines of characters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Screen {
    pub(super) lines: Vec<Vec<(char, Style)>>,
}

impl Screen {
    /// Parses text with SGR escape codes, the only ones that `tmux capture-pane -e` writes.
    pub(super) fn read(painted: &str) -> Self {
        let mut look = Style::default();
        let lines = painted.lines().map(|line| {
            let mut cells = Vec::new();
            for (at, part) in line.split('\u{1b}').enumerate() {
                let text = match part.strip_prefix('[').and_then(|rest| rest.split_once('m')) {
                    Some((codes, text)) if at > 0 => {
                        look.apply(codes);
                        text
                    }
                    _ => part,
                };
                cells.extend(text.chars().map(|character| (character, look)));
            }
            cells
        });
        Self { lines: lines.collect() }
    }
}

impl Style {
    fn apply(&mut self, codes: &str) {
        let mut codes = codes.split(';').map(|code| code.parse().unwrap_or(0_u8));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.faint = true,
                7 => self.reversed = true,
                22 => (self.bold, self.faint) = (false, false),
                27 => self.reversed = false,
                30..=37 => self.color = Some(code - 30),
                38 => {
                    // `38;5;N`; the view uses no other form of colour.
                    self.color = codes.nth(1);
                }
                39 => self.color = None,
                40..=47 => self.paper = Some(code - 40),
                48 => self.paper = codes.nth(1),
                49 => self.paper = None,
                90..=97 => self.color = Some(code - 90 + 8),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_hold_until_they_are_reset() {
        let screen = Screen::read("a\u{1b}[1m\u{1b}[38;5;80mb\nc\u{1b}[0md");
        let look = Style {
            color: Some(80),
            bold: true,
            ..Style::default()
        };
        let plain = Style::default();
        assert_eq!(screen.lines[0], [('a', plain), ('b', look)]);
        assert_eq!(screen.lines[1], [('c', look), ('d', plain)]);
    }
}
