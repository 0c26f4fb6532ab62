//! What each action does.

use super::{Effect, LENGTHS, Layer, Mouse, Seek, View};
use crate::format;
use crate::header::Motion;
use crate::keys::{Action, Key};
use crate::layout::{self, Areas};
use crate::pane::{Pane, Slot};
use ratatui::layout::{Position, Rect};

impl View {
    /// Handles a key.
    pub fn key(&mut self, key: Key) -> Effect {
        self.note = None;
        if let Key::Alt(character) = key {
            self.key(Key::Esc);
            return self.key(Key::Char(character));
        }
        if let Layer::Filter(..) = self.layer {
            return self.type_filter(key);
        }
        match self.options.keys.action(key) {
            Some(action) => self.act(action),
            None => {
                let help = self.options.keys.of(Action::Help).next();
                let help = help.map_or_else(String::new, |key| key.to_string());
                self.note(format!("{key} does nothing; {help} shows the keys"));
                Effect::Nothing
            }
        }
    }

    /// Runs an action.
    pub fn act(&mut self, action: Action) -> Effect {
        match action {
            Action::Quit => return Effect::Quit,
            Action::Suspend => return Effect::Suspend,
            Action::Redraw => return Effect::Redraw,
            _ => {}
        }
        if self.layer != Layer::Tables
            && let Some(effect) = self.act_on_layer(action)
        {
            return effect;
        }
        match action {
            Action::Help => self.layer = Layer::Help(0),
            Action::NextPane => self.turn_to(1),
            Action::PreviousPane => self.turn_to(Pane::ALL.len() - 1),
            Action::Flows => self.focus = Pane::Flows,
            Action::Opcodes => self.focus = Pane::Opcodes,
            Action::Connections => self.focus = Pane::Connections,
            Action::Events => self.focus = Pane::Events,
            Action::Mesh => self.focus = Pane::Mesh,
            Action::Groups => self.focus = Pane::Groups,
            Action::Hosts => self.focus = Pane::Hosts,
            Action::Incidents => self.focus = Pane::Incidents,
            Action::Inside => self.focus = Pane::Inside,
            Action::GroupBy if self.focus == Pane::Groups => self.group_by(self.by.next()),
            Action::GroupBy => self.focus = Pane::Groups,
            Action::Zoom => self.zoom = !self.zoom,
            Action::Down => self.choose_by(1),
            Action::Up => self.choose_by(-1),
            Action::PageDown => self.choose_by(self.page()),
            Action::PageUp => self.choose_by(-self.page()),
            Action::Top => self.choose_by(i64::MIN),
            Action::Bottom => self.choose_by(i64::MAX),
            Action::NextTarget => self.turn_target(1),
            Action::PreviousTarget => self.turn_target(-1),
            Action::Detail => self.open_detail(),
            Action::Back => {
                // An empty filter is always valid.
                let _ = self.set_filter("");
            }
            Action::SortNext => self.sort_beside(1),
            Action::SortPrevious => self.sort_beside(-1),
            Action::Sort => self.layer = Layer::Sort(self.listing(self.focus).sort),
            Action::Reverse => {
                let listing = self.listing_mut(self.focus);
                listing.descending = !listing.descending;
                self.arrange();
            }
            Action::Filter => self.layer = Layer::Filter(self.filter.clone(), None),
            Action::Freeze => self.freeze(),
            Action::Units => self.options.rates = self.options.rates.other(),
            Action::Longer => self.lengthen(true),
            Action::Shorter => self.lengthen(false),
            Action::Pause => return self.pause(),
            Action::Slower => return self.change_speed(0.5),
            Action::Faster => return self.change_speed(2.0),
            Action::Earlier => return self.go(Seek::Windows(-1)),
            Action::Later => return self.go(Seek::Windows(1)),
            Action::MinuteEarlier => return self.go(Seek::Minutes(-1)),
            Action::MinuteLater => return self.go(Seek::Minutes(1)),
            Action::Begin => return self.go(Seek::Begin),
            Action::End => return self.go(Seek::End),
            Action::Quit | Action::Suspend | Action::Redraw => {}
        }
        Effect::Nothing
    }

    fn turn_to(&mut self, by: usize) {
        let mut at = self.focus as usize;
        // Flows always have a tab.
        for _ in Pane::ALL {
            at = (at + by) % Pane::ALL.len();
            if self.has_tab(Pane::ALL[at]) {
                break;
            }
        }
        self.focus = Pane::ALL[at];
    }

    /// Whether a pane is offered: those that only some sources can fill are not until they have rows.
    pub(crate) fn has_tab(&self, pane: Pane) -> bool {
        let is_rare = matches!(pane, Pane::Mesh | Pane::Hosts | Pane::Inside);
        let rows = || self.shown.as_ref().map_or(0, |shown| pane.cells(shown).rows());
        !is_rare || pane == self.focus || rows() > 0
    }

    pub(crate) fn areas(&self) -> Areas {
        let has_alert = self.focus != Pane::Incidents && self.worst_incident().is_some();
        layout::areas(self.size.0, self.size.1, self.focus, (self.zoom, has_alert))
    }

    fn focused_area(&self) -> Option<Rect> {
        let mut panes = self.areas().panes.into_iter();
        panes.find_map(|(pane, area)| (pane == self.focus).then_some(area))
    }

    /// The number of visible rows.
    fn page(&self) -> i64 {
        let height = self.focused_area().map_or(1, |area| match self.focus {
            Pane::Mesh => self.mesh_plan(area).matrix.height,
            _ => layout::rows(area).height,
        });
        i64::from(height).max(1)
    }

    fn choose_by(&mut self, by: i64) {
        // First and last follow the sort order in every pane: in the mesh they are the worst and the best pair.
        if self.focus == Pane::Mesh && !matches!(by, i64::MIN | i64::MAX) {
            return self.step_down(by);
        }
        let place = self.listing(self.focus).cursor as i64;
        self.choose(self.focus, place.saturating_add(by).max(0) as usize);
    }

    pub(super) fn choose(&mut self, pane: Pane, place: usize) {
        if let Some(shown) = &self.shown {
            self.listings[pane as usize].choose(place, pane.cells(shown));
        }
    }

    fn open_detail(&mut self) {
        let Some(shown) = &self.shown else {
            return;
        };
        let listing = &mut self.listings[self.focus as usize];
        if listing.chosen().is_some() {
            listing.pin(self.focus.cells(shown));
            self.layer = Layer::Detail(0);
        }
    }

    /// Sorts by the next column on the screen.
    fn sort_beside(&mut self, by: i64) {
        let width = self.focused_area().map_or(self.size.0, |area| area.width);
        let listing = self.listing(self.focus);
        let slots: Vec<Slot> = match self.focus {
            // The matrix shows one metric at a time.
            Pane::Mesh => Pane::Mesh.slots().map(|(slot, _)| slot).collect(),
            _ => {
                let placed = layout::columns(listing, width, self.is_estimated());
                placed.iter().map(|placed| placed.slot).collect()
            }
        };
        let columns: Vec<usize> = slots
            .iter()
            .filter_map(|slot| match slot {
                Slot::Column(at) => Some(*at),
                _ => None,
            })
            .collect();
        let mut found = columns.iter();
        let at = found.position(|column| *column == listing.sort);
        let next = (at.unwrap_or(0) as i64 + by).rem_euclid(columns.len().max(1) as i64);
        if let Some(column) = columns.get(next as usize) {
            self.sort_by(self.focus, *column);
        }
    }

    pub(super) fn sort_by(&mut self, pane: Pane, column: usize) {
        self.listing_mut(pane).sort_by(column);
        self.arrange();
    }

    fn freeze(&mut self) {
        self.held = match (self.held, &self.shown) {
            (None, Some(shown)) => Some(shown.number),
            _ => None,
        };
        self.refresh();
    }

    fn pause(&mut self) -> Effect {
        match self.header.motion {
            Motion::Live | Motion::Ended => {
                self.freeze();
                Effect::Nothing
            }
            Motion::Paused => {
                self.held = None;
                self.refresh();
                Effect::Pause(false)
            }
            Motion::Speed(_) => Effect::Pause(true),
        }
    }

    fn change_speed(&mut self, by: f64) -> Effect {
        match self.header.motion {
            Motion::Speed(speed) if speed.is_finite() => Effect::Speed((speed * by).clamp(1.0 / 64.0, 4096.0)),
            Motion::Speed(_) if by < 1.0 => Effect::Speed(1.0),
            Motion::Speed(_) => Effect::Nothing,
            Motion::Live | Motion::Paused | Motion::Ended => {
                self.note("only a recording that plays has a speed");
                Effect::Nothing
            }
        }
    }

    fn lengthen(&mut self, longer: bool) {
        if self.focus == Pane::Mesh {
            self.note("the analysis sets the length of mesh windows: `rocescope diagnose mesh --window`");
            return;
        }
        let Some(shown) = &self.shown else {
            return;
        };
        let window_ns = shown.rows.windows.first().map_or_else(
            || shown.total.window_ns / i64::from(LENGTHS[self.length]),
            |window| window.window_ns,
        );
        let (at, kept) = (
            self.length,
            self.recent
                .newest()
                .map_or(0, |newest| newest + 1 - self.recent.oldest()),
        );
        if longer && at + 1 == LENGTHS.len() {
            self.note("this is the longest: the view keeps no more windows");
        } else if !longer && at == 0 {
            let window = format::length(window_ns);
            self.note(format!(
                "{window} is the window of the source: use --window for a shorter one"
            ));
        } else {
            self.length = if longer { at + 1 } else { at - 1 };
            self.refresh();
            let (asked, had) = (
                LENGTHS[self.length],
                self.shown.as_ref().map_or(0, |shown| shown.windows),
            );
            if had < asked as usize {
                self.note(format!(
                    "{asked} windows requested; {kept} are kept, {had} of them in that time"
                ));
            }
        }
    }

    /// Moves in time; if the source cannot, among the windows kept.
    fn go(&mut self, seek: Seek) -> Effect {
        if self.options.seekable {
            // A window of probes is as long as many windows of captured traffic.
            return Effect::Seek(match (self.focus, seek) {
                (Pane::Mesh, Seek::Windows(by)) => Seek::Meshes(by),
                (_, seek) => seek,
            });
        }
        let (Some(newest), Some(shown)) = (self.recent.newest(), &self.shown) else {
            return Effect::Nothing;
        };
        let (oldest, at) = (self.recent.oldest(), shown.number);
        if seek == Seek::Windows(1) && at == newest {
            self.held = None;
            // A live source and one that has ended cannot step.
            return match self.header.motion {
                Motion::Paused | Motion::Speed(_) => Effect::Seek(seek),
                Motion::Live | Motion::Ended => Effect::Nothing,
            };
        }
        let window_ns = |number| {
            let windows = self.recent.get(number).map(|rows| &rows.windows);
            windows.and_then(|windows| Some(windows.first()?.window_ns))
        };
        let a_minute = 60_000_000_000 / window_ns(at).unwrap_or(1).max(1);
        let by = match seek {
            Seek::Windows(by) | Seek::Meshes(by) => by,
            Seek::Minutes(by) => by.saturating_mul(a_minute.max(1)),
            Seek::Begin => i64::MIN,
            Seek::End => i64::MAX,
        };
        if by < 0 && at == oldest {
            self.note("this is the earliest window kept");
        }
        let kept = at.saturating_add_signed(by).clamp(oldest, newest);
        // The end follows the latest window again.
        self.held = (seek != Seek::End).then_some(kept);
        self.refresh();
        Effect::Nothing
    }

    /// Handles a mouse action.
    pub fn mouse(&mut self, mouse: Mouse) -> Effect {
        self.note = None;
        let (Mouse::Press(x, y) | Mouse::Wheel(x, y, _)) = mouse;
        if let (true, Mouse::Wheel(.., lines)) = (self.layer != Layer::Tables, mouse) {
            let action = if lines > 0 { Action::Down } else { Action::Up };
            return self.act(action);
        }
        let areas = self.areas();
        let hit = areas
            .panes
            .iter()
            .find(|(_, area)| area.contains(Position::new(x, y)) && self.layer == Layer::Tables);
        let Some((pane, area)) = hit.copied() else {
            return Effect::Nothing;
        };
        self.focus = pane;
        let rows = layout::rows(area);
        match mouse {
            Mouse::Wheel(.., lines) => self.choose_by(i64::from(lines)),
            Mouse::Press(..) if y == area.y && areas.panes.len() == 1 => {
                if let Some(tab) = crate::draw::tab_at(self, x) {
                    self.focus = tab;
                }
            }
            Mouse::Press(..) if pane == Pane::Mesh => {
                if let Some(cell) = self.mesh_plan(area).cell_at(x, y) {
                    self.choose_cell(cell);
                }
            }
            Mouse::Press(..) if y == area.y + 1 => {
                let listing = self.listing(pane);
                let columns = layout::columns(listing, area.width, self.is_estimated());
                let on = columns
                    .iter()
                    .find(|column| (column.x..=column.x + column.width).contains(&(x - area.x)));
                match on.map(|column| column.slot) {
                    Some(Slot::Column(at)) if at == listing.sort => {
                        return self.act(Action::Reverse);
                    }
                    Some(Slot::Column(at)) => self.sort_by(pane, at),
                    _ => {}
                }
            }
            Mouse::Press(..) if rows.contains(Position::new(x, y)) => {
                let listing = self.listing(pane);
                let place = listing.first(rows.height.into()) + usize::from(y - rows.y);
                if place < listing.order.len() {
                    self.choose(pane, place);
                }
            }
            Mouse::Press(..) => {}
        }
        Effect::Nothing
    }
}
