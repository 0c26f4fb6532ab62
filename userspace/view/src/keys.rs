//! Keys and their actions. Both have names (`ctrl-c`, `next-pane`), so that a configuration can bind them.

use core::fmt;
use core::str::FromStr;

/// A key that a binding can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// A character, as typed.
    Char(char),
    /// A character while Control is held.
    Ctrl(char),
    /// A character while Alt is held; terminals send the same for Escape and the character in quick succession.
    Alt(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Tab while Shift is held.
    BackTab,
    /// Backspace.
    Backspace,
    /// Arrow to the left.
    Left,
    /// Arrow to the right.
    Right,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
}

/// Keys that have a name instead of a character.
const NAMED: [(&str, Key); 14] = [
    ("enter", Key::Enter),
    ("esc", Key::Esc),
    ("tab", Key::Tab),
    ("shift-tab", Key::BackTab),
    ("backspace", Key::Backspace),
    ("left", Key::Left),
    ("right", Key::Right),
    ("up", Key::Up),
    ("down", Key::Down),
    ("home", Key::Home),
    ("end", Key::End),
    ("page-up", Key::PageUp),
    ("page-down", Key::PageDown),
    ("space", Key::Char(' ')),
];

/// Why a key or a binding is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// No such key.
    #[error("unknown key `{0}`: expected a character, `ctrl-` and a character, or one of {names}", names = names())]
    Key(String),
    /// No such action.
    #[error("unknown action `{0}`; the actions are {all}", all = Action::names())]
    Action(String),
    /// A binding without its middle.
    #[error("`{0}` is not a binding: expected ACTION=KEY, such as quit=ctrl-q")]
    Binding(String),
}

fn names() -> String {
    NAMED.map(|(name, _)| name).join(", ")
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let character = |text: &str| {
            let mut characters = text.chars();
            let first = characters.next().filter(|first| !first.is_control());
            first.filter(|_| characters.next().is_none())
        };
        if let Some((_, key)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(*key);
        }
        let key = match text.strip_prefix("ctrl-") {
            Some(held) => character(held).map(Self::Ctrl),
            None => character(text).map(Self::Char),
        };
        key.ok_or_else(|| KeyError::Key(text.into()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, NAMED.iter().find(|(_, named)| named == self)) {
            (_, Some((name, _))) => f.write_str(name),
            (Self::Ctrl(character), None) => write!(f, "ctrl-{character}"),
            (Self::Alt(character), None) => write!(f, "alt-{character}"),
            (Self::Char(character), None) => write!(f, "{character}"),
            (_, None) => Ok(()),
        }
    }
}

macro_rules! actions {
    ($($(#[doc = $help:literal])+ $action:ident = $name:literal, $keys:literal;)+) => {
        /// What a key can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $($(#[doc = $help])+ $action,)+
        }

        impl Action {
            /// Every action, in the order of the help page.
            pub const ALL: &[Self] = &[$(Self::$action),+];

            /// Its name in a configuration.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$action => $name),+ }
            }

            /// What it does.
            #[must_use]
            pub const fn help(self) -> &'static str {
                match self { $(Self::$action => concat!($($help),+).trim_ascii()),+ }
            }

            /// Its default keys by name, separated by spaces.
            const fn keys(self) -> &'static str {
                match self { $(Self::$action => $keys),+ }
            }
        }
    };
}

actions! {
    /// Quit.
    Quit = "quit", "q ctrl-c";
    /// Show or hide this page.
    Help = "help", "?";
    /// Next pane.
    NextPane = "next-pane", "tab";
    /// Previous pane.
    PreviousPane = "previous-pane", "shift-tab";
    /// Top flows.
    Flows = "flows", "1";
    /// Opcode mix.
    Opcodes = "opcodes", "2";
    /// Connections.
    Connections = "connections", "3";
    /// Events.
    Events = "events", "4";
    /// The probe mesh and its problems.
    Mesh = "mesh", "5 m";
    /// Traffic by source, destination, queue pair or opcode.
    Groups = "groups", "6";
    /// Ports of hosts, from their counters.
    Hosts = "hosts", "7";
    /// What is wrong, where, since when, and what to do.
    Incidents = "incidents", "8 i";
    /// Loopback tests inside hosts, as a matrix.
    Inside = "inside", "9";
    /// Group by the next of these.
    GroupBy = "group-by", "b";
    /// Show this pane alone, or all panes.
    Zoom = "zoom", "z";
    /// Row below.
    Down = "down", "down j";
    /// Row above.
    Up = "up", "up k";
    /// A page down.
    PageDown = "page-down", "page-down ctrl-d";
    /// A page up.
    PageUp = "page-up", "page-up ctrl-u";
    /// First row.
    Top = "top", "home g";
    /// Last row.
    Bottom = "bottom", "end G";
    /// In the mesh, the probed NIC to the right.
    NextTarget = "next-target", "n";
    /// In the mesh, the probed NIC to the left.
    PreviousTarget = "previous-target", "p";
    /// Explain every field of the row.
    Detail = "detail", "enter";
    /// Close the page; clear the filter.
    Back = "back", "esc";
    /// Sort by the next column; next mesh metric.
    SortNext = "sort-next", "> .";
    /// Sort by the previous column; previous mesh metric.
    SortPrevious = "sort-previous", "< ,";
    /// Choose the column to sort by.
    Sort = "sort", "s";
    /// Reverse the order.
    Reverse = "reverse", "r";
    /// Show only rows that match a filter.
    Filter = "filter", "/";
    /// Freeze the screen; the capture continues.
    Freeze = "freeze", "f";
    /// Pause or resume the source.
    Pause = "pause", "space";
    /// Longer window.
    Longer = "longer", "+ =";
    /// Shorter window.
    Shorter = "shorter", "-";
    /// Rates in bits or bytes per second.
    Units = "units", "u";
    /// Previous window.
    Earlier = "earlier", "left h";
    /// Next window.
    Later = "later", "right l";
    /// A minute back.
    MinuteEarlier = "minute-earlier", "H";
    /// A minute forward.
    MinuteLater = "minute-later", "L";
    /// The first window.
    Begin = "begin", "B";
    /// The last window.
    End = "end", "E";
    /// Half the speed.
    Slower = "slower", "[";
    /// Twice the speed.
    Faster = "faster", "]";
    /// Repaint the screen.
    Redraw = "redraw", "ctrl-l";
    /// Suspend the program; `fg` resumes it.
    Suspend = "suspend", "ctrl-z";
}

impl Action {
    fn names() -> String {
        let names: Vec<&str> = Self::ALL.iter().map(|action| action.name()).collect();
        names.join(", ")
    }
}

impl FromStr for Action {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let found = Self::ALL.iter().find(|action| action.name() == text);
        found.copied().ok_or_else(|| KeyError::Action(text.into()))
    }
}

/// Keys and what each does. A key does one thing; an action may have several keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys(Vec<(Key, Action)>);

impl Default for Keys {
    fn default() -> Self {
        let mut keys = Self(Vec::new());
        for action in Action::ALL {
            for name in action.keys().split(' ') {
                // A test checks that all of them are names of keys.
                if let Ok(key) = name.parse() {
                    keys.0.push((key, *action));
                }
            }
        }
        keys
    }
}

impl Keys {
    /// What a key does.
    #[must_use]
    pub fn action(&self, key: Key) -> Option<Action> {
        let found = self.0.iter().find(|(bound, _)| *bound == key);
        found.map(|(_, action)| *action)
    }

    /// The keys of an action.
    pub fn of(&self, action: Action) -> impl Iterator<Item = Key> {
        let of = self.0.iter().filter(move |(_, bound)| *bound == action);
        of.map(|(key, _)| *key)
    }

    /// Binds a key to an action. The key loses its former action; the action keeps its other keys.
    pub fn bind(&mut self, action: Action, key: Key) {
        self.0.retain(|(bound, _)| *bound != key);
        self.0.push((key, action));
    }

    /// [`bind`](Self::bind), from text: `quit=ctrl-q`.
    ///
    /// # Errors
    /// [`KeyError`] if one of the two is unknown.
    pub fn bind_text(&mut self, binding: &str) -> Result<(), KeyError> {
        let (action, key) = parse_binding(binding)?;
        self.bind(action, key);
        Ok(())
    }
}

/// Parses `quit=ctrl-q`.
///
/// # Errors
/// [`KeyError`] if one of the two is unknown.
pub fn parse_binding(binding: &str) -> Result<(Action, Key), KeyError> {
    let (action, key) = binding
        .split_once('=')
        .ok_or_else(|| KeyError::Binding(binding.into()))?;
    Ok((action.trim().parse()?, key.trim().parse()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_key_is_a_name_and_does_one_thing() {
        for action in Action::ALL {
            for name in action.keys().split(' ') {
                let key: Key = name.parse().unwrap();
                assert_eq!(Keys::default().action(key), Some(*action), "{name}");
                assert_eq!(key.to_string(), name);
            }
            assert_eq!(action.name().parse(), Ok(*action));
            assert!(action.help().ends_with('.'));
        }
    }

    #[test]
    fn names_come_back_from_keys() {
        for name in ["ctrl-c", "ctrl--", "shift-tab", "-", "space", "é"] {
            assert_eq!(name.parse::<Key>().unwrap().to_string(), name);
        }
        for wrong in ["", "ctrl-", "ctrl-ctrl-c", "f1", "shift-a", "ab"] {
            assert!(wrong.parse::<Key>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_bound_key_forgets_what_it_did() {
        let mut keys = Keys::default();
        keys.bind_text("freeze=q").unwrap();
        assert_eq!(keys.action("q".parse().unwrap()), Some(Action::Freeze));
        assert_eq!(keys.action("f".parse().unwrap()), Some(Action::Freeze));
        assert_eq!(keys.of(Action::Quit).count(), 1);
        assert!(keys.bind_text("explode=x").is_err());
        assert!(keys.bind_text("quit").is_err());
    }
}
