//! Writes text into the cells of a buffer.

use crate::theme::{Theme, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A buffer and its theme.
pub(super) struct Pen<'a> {
    pub(super) buffer: &'a mut Buffer,
    pub(super) theme: Theme,
}

/// A piece of a line.
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) tone: Tone,
    /// Without room for all pieces, those of the lowest priority are left out first.
    pub(super) priority: u8,
}

pub(super) fn piece(text: impl Into<String>, tone: Tone, priority: u8) -> Piece {
    Piece {
        text: text.into(),
        tone,
        priority,
    }
}

impl Pen<'_> {
    /// Writes at most `width` cells; returns the column after the text.
    pub(super) fn text(&mut self, x: u16, y: u16, text: &str, width: u16, tone: Tone) -> u16 {
        if y >= self.buffer.area.bottom() || x >= self.buffer.area.right() {
            return x;
        }
        let style = self.theme.style(tone);
        self.buffer.set_stringn(x, y, text, width.into(), style).0
    }

    /// Writes a number in `tone` and its unit faint.
    pub(super) fn amount(&mut self, x: u16, y: u16, text: &str, tone: Tone) -> u16 {
        let all = text.chars().count() as u16;
        match text.split_once(' ') {
            Some((number, unit)) if tone != Tone::Chosen => {
                let x = self.text(x, y, number, all, tone);
                self.text(x + 1, y, unit, all, Tone::Faint)
            }
            _ => self.text(x, y, text, all, tone),
        }
    }

    /// Sets the style of an area.
    pub(super) fn paint(&mut self, area: Rect, tone: Tone) {
        let style = self.theme.style(tone);
        self.buffer.set_style(area, style);
    }

    /// Empties an area.
    pub(super) fn clear(&mut self, area: Rect) {
        for position in area.intersection(self.buffer.area).positions() {
            self.buffer[position].reset();
        }
    }

    /// Writes pieces from the left and the right edge, two cells apart; drops the lowest priorities until they fit.
    pub(super) fn line(&mut self, area: Rect, mut left: Vec<Piece>, mut right: Vec<Piece>) {
        let width = |pieces: &[Piece]| {
            let widths = pieces.iter().map(|piece| piece.text.chars().count() + 2);
            widths.sum::<usize>()
        };
        while width(&left) + width(&right) > usize::from(area.width) {
            let lowest = left.iter().chain(&right).map(|piece| piece.priority).min();
            let Some(lowest) = lowest else {
                return;
            };
            let keep = |piece: &Piece| piece.priority != lowest;
            left.retain(keep);
            right.retain(keep);
        }
        let mut x = area.x + 1;
        for piece in &left {
            x = self.text(x, area.y, &piece.text, area.width, piece.tone) + 2;
        }
        let mut x = (area.right() + 1).saturating_sub(width(&right) as u16);
        for piece in &right {
            x = self.text(x, area.y, &piece.text, area.width, piece.tone) + 2;
        }
    }
}
