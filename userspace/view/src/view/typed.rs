//! What keys do while a page or the filter is open.

use super::{Effect, Layer, View};
use crate::keys::{Action, Key};

impl View {
    /// Runs an action on the open page or list; `None` if it is meant for the tables.
    pub(super) fn act_on_layer(&mut self, action: Action) -> Option<Effect> {
        let page = usize::from(self.size.1.saturating_sub(8)).max(1);
        let is_help = matches!(self.layer, Layer::Help(_));
        let last_column = self.focus.table().columns.len() - 1;
        let (at, max) = match &mut self.layer {
            Layer::Help(line) | Layer::Detail(line) => (line, usize::MAX),
            Layer::Sort(column) => (column, last_column),
            Layer::Tables | Layer::Filter(..) => return None,
        };
        match action {
            Action::Down => *at = (*at + 1).min(max),
            Action::Up => *at = at.saturating_sub(1),
            Action::PageDown => *at = at.saturating_add(page).min(max),
            Action::PageUp => *at = at.saturating_sub(page),
            Action::Top => *at = 0,
            Action::Bottom => *at = max,
            Action::Detail => {
                let column = *at;
                if let Layer::Sort(_) = self.layer {
                    self.sort_by(self.focus, column);
                }
                self.layer = Layer::Tables;
            }
            Action::Back => self.layer = Layer::Tables,
            Action::Help if is_help => self.layer = Layer::Tables,
            Action::Sort if matches!(self.layer, Layer::Sort(_)) => self.layer = Layer::Tables,
            // These act while a page stays open; all others close it.
            Action::Freeze
            | Action::Pause
            | Action::Units
            | Action::Longer
            | Action::Shorter
            | Action::Slower
            | Action::Faster
            | Action::Earlier
            | Action::Later
            | Action::MinuteEarlier
            | Action::MinuteLater
            | Action::Begin
            | Action::End => return None,
            _ => {
                self.layer = Layer::Tables;
                return None;
            }
        }
        self.limit_scroll();
        Some(Effect::Nothing)
    }

    /// Limits the scroll position to the length of the page.
    fn limit_scroll(&mut self) {
        let max = match &self.layer {
            Layer::Help(_) => crate::draw::help_scroll(self),
            Layer::Detail(_) => crate::draw::detail_scroll(self),
            _ => return,
        };
        if let Layer::Help(line) | Layer::Detail(line) = &mut self.layer {
            *line = (*line).min(max);
        }
    }

    /// Handles a key while a filter is typed.
    pub(super) fn type_filter(&mut self, key: Key) -> Effect {
        let Layer::Filter(text, wrong) = &mut self.layer else {
            return Effect::Nothing;
        };
        match key {
            Key::Ctrl('c') => return Effect::Quit,
            Key::Ctrl('u') => text.clear(),
            Key::Ctrl('w') => {
                let kept = text.trim_end().rfind(' ').map_or(0, |at| at + 1);
                text.truncate(kept);
            }
            Key::Char(character) => text.push(character),
            Key::Backspace => {
                text.pop();
            }
            Key::Esc => {
                self.layer = Layer::Tables;
                return Effect::Nothing;
            }
            Key::Enter => {
                let text = text.clone();
                match self.set_filter(&text) {
                    Ok(()) => self.layer = Layer::Tables,
                    Err(error) => self.layer = Layer::Filter(text, Some(error)),
                }
                return Effect::Nothing;
            }
            _ => return Effect::Nothing,
        }
        *wrong = None;
        Effect::Nothing
    }
}
