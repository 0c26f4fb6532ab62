//! What keys do while something lies over the tables.

use super::{Effect, Layer, View};
use crate::keys::{Action, Key};

impl View {
    /// While a page or a list is open; nothing where the action is for the tables below.
    pub(super) fn act_on_layer(&mut self, action: Action) -> Option<Effect> {
        let page = usize::from(self.size.1.saturating_sub(8)).max(1);
        let is_help = matches!(self.layer, Layer::Help(_));
        let last_column = self.focus.table().columns.len() - 1;
        let (at, most) = match &mut self.layer {
            Layer::Help(line) | Layer::Detail(line) => (line, usize::MAX),
            Layer::Sort(column) => (column, last_column),
            Layer::Tables | Layer::Filter(..) => return None,
        };
        match action {
            Action::Down => *at = (*at + 1).min(most),
            Action::Up => *at = at.saturating_sub(1),
            Action::PageDown => *at = at.saturating_add(page).min(most),
            Action::PageUp => *at = at.saturating_sub(page),
            Action::Top => *at = 0,
            Action::Bottom => *at = most,
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
            // Time goes on behind a page of one row; whatever else is asked for needs the tables.
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

    /// Keeps the lines scrolled within what there is to scroll.
    fn limit_scroll(&mut self) {
        let most = match &self.layer {
            Layer::Help(_) => crate::draw::help_scroll(self),
            Layer::Detail(_) => crate::draw::detail_scroll(self),
            _ => return,
        };
        if let Layer::Help(line) | Layer::Detail(line) = &mut self.layer {
            *line = (*line).min(most);
        }
    }

    /// A key while a filter is typed.
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
