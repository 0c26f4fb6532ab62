//! Colours: each has one meaning in every pane.

use ratatui::style::{Color, Modifier, Style};

/// The colours of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Bright on dark.
    #[default]
    Dark,
    /// Dark on bright.
    Light,
    /// No colours: bold, faint and reversed text instead.
    Plain,
}

/// What a piece of text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Numbers and names.
    Text,
    /// Labels, units, borders.
    Faint,
    /// Headings.
    Heading,
    /// The heading of the sort column, the focused pane.
    Focus,
    /// The selected row.
    Chosen,
    /// Amounts over time: sparklines and bars.
    Amount,
    /// As it should be.
    Good,
    /// Notable: congestion, estimates, a frozen screen.
    Notice,
    /// Lost, refused, broken.
    Bad,
}

impl Theme {
    /// The style of a tone.
    #[must_use]
    pub const fn style(self, tone: Tone) -> Style {
        let style = Style::new();
        match tone {
            Tone::Heading => return style.add_modifier(Modifier::BOLD),
            Tone::Text => return style,
            _ => {}
        }
        let color = match (self, tone) {
            (Self::Plain, Tone::Faint) => return style.add_modifier(Modifier::DIM),
            (Self::Plain, Tone::Bad | Tone::Chosen) => {
                return style.add_modifier(Modifier::REVERSED);
            }
            (Self::Plain, Tone::Focus | Tone::Notice) => return style.add_modifier(Modifier::BOLD),
            (Self::Plain, _) => return style,
            // Text on it keeps its own colours.
            (Self::Dark, Tone::Chosen) => return style.bg(Color::Indexed(239)),
            (Self::Light, Tone::Chosen) => return style.bg(Color::Indexed(252)),
            (Self::Dark, Tone::Faint) => Color::Indexed(245),
            (Self::Dark, Tone::Focus) => Color::Indexed(80),
            (Self::Dark, Tone::Amount) => Color::Indexed(74),
            (Self::Dark, Tone::Good) => Color::Indexed(114),
            (Self::Dark, Tone::Notice) => Color::Indexed(221),
            (Self::Dark, _) => Color::Indexed(203),
            (Self::Light, Tone::Faint) => Color::Indexed(242),
            (Self::Light, Tone::Focus) => Color::Indexed(24),
            (Self::Light, Tone::Amount) => Color::Indexed(31),
            (Self::Light, Tone::Good) => Color::Indexed(28),
            (Self::Light, Tone::Notice) => Color::Indexed(130),
            (Self::Light, _) => Color::Indexed(160),
        };
        let style = style.fg(color);
        match tone {
            Tone::Focus | Tone::Bad => style.add_modifier(Modifier::BOLD),
            _ => style,
        }
    }
}
