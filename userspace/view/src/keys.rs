//! Which key means what. Keys and actions have names (`ctrl-c`, `next-pane`), so that a configuration can
//! bind one to the other.

use core::fmt;
use core::str::FromStr;

/// A key, with what is held down beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The key itself.
    pub code: Code,
    /// Control is held.
    pub ctrl: bool,
    /// Alt is held.
    pub alt: bool,
    /// Shift is held; never beside a [`Code::Char`], whose character says it.
    pub shift: bool,
}

/// A key without its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// A character, as typed.
    Char(char),
    /// A function key.
    F(u8),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
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
const NAMED: [(&str, Code); 15] = [
    ("enter", Code::Enter),
    ("esc", Code::Esc),
    ("tab", Code::Tab),
    ("backspace", Code::Backspace),
    ("delete", Code::Delete),
    ("left", Code::Left),
    ("right", Code::Right),
    ("up", Code::Up),
    ("down", Code::Down),
    ("home", Code::Home),
    ("end", Code::End),
    ("page-up", Code::PageUp),
    ("page-down", Code::PageDown),
    ("space", Code::Char(' ')),
    // What separates the parts of a name cannot stand for itself behind a modifier.
    ("minus", Code::Char('-')),
];

impl Key {
    /// The key alone.
    #[must_use]
    pub const fn plain(code: Code) -> Self {
        Self {
            code,
            ctrl: false,
            alt: false,
            shift: false,
        }
    }
}

/// Why a key or a binding is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// No such key.
    #[error(
        "`{0}` names no key: expected a character, `enter`, `space`, `f1`, `page-up` and the like, after `ctrl-`, `alt-` or `shift-`"
    )]
    Key(String),
    /// No such action.
    #[error("`{0}` names no action; they are: {all}", all = Action::names())]
    Action(String),
    /// A binding without its middle.
    #[error("`{0}` is no binding: expected ACTION=KEY, such as quit=ctrl-q")]
    Binding(String),
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let wrong = || KeyError::Key(text.into());
        let mut key = Self::plain(Code::Esc);
        let mut rest = text;
        loop {
            let (held, name) = match rest.split_once('-') {
                Some(("ctrl", name)) if !name.is_empty() => (&mut key.ctrl, name),
                Some(("alt", name)) if !name.is_empty() => (&mut key.alt, name),
                Some(("shift", name)) if !name.is_empty() => (&mut key.shift, name),
                _ => break,
            };
            if *held {
                return Err(wrong());
            }
            *held = true;
            rest = name;
        }
        let mut characters = rest.chars();
        key.code = match (characters.next(), characters.next()) {
            (Some(character), None) if !character.is_control() => Code::Char(character),
            (Some('f'), Some(_)) if let Ok(number @ 1..=24) = rest[1..].parse() => Code::F(number),
            _ => {
                let named = NAMED.iter().find(|(name, _)| *name == rest);
                named.ok_or_else(wrong)?.1
            }
        };
        if key.shift
            && let Code::Char(character) = key.code
        {
            // A terminal sends `A`, not shift and `a`.
            key.code = Code::Char(character.to_ascii_uppercase());
            key.shift = false;
        }
        Ok(key)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [
            (self.ctrl, "ctrl-"),
            (self.alt, "alt-"),
            (self.shift, "shift-"),
        ] {
            if held {
                f.write_str(name)?;
            }
        }
        let modified = self.ctrl || self.alt;
        match self.code {
            Code::Char('-') if !modified => f.write_str("-"),
            Code::F(number) => write!(f, "f{number}"),
            code => match NAMED.iter().find(|(_, named)| *named == code) {
                Some((name, _)) => f.write_str(name),
                None => match code {
                    Code::Char(character) => write!(f, "{character}"),
                    _ => Ok(()),
                },
            },
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

            /// Its keys unless bound otherwise, by name, separated by blanks.
            const fn keys(self) -> &'static str {
                match self { $(Self::$action => $keys),+ }
            }
        }
    };
}

actions! {
    /// End.
    Quit = "quit", "q ctrl-c";
    /// Show or hide this page.
    Help = "help", "? f1";
    /// Next pane.
    NextPane = "next-pane", "tab";
    /// Pane before.
    PreviousPane = "previous-pane", "shift-tab";
    /// Top flows.
    Flows = "flows", "1";
    /// Opcode mix.
    Opcodes = "opcodes", "2";
    /// Connections.
    Connections = "connections", "3";
    /// Events.
    Events = "events", "4";
    /// The mesh of probes, and what fails in it.
    Mesh = "mesh", "5 m";
    /// The pane alone on the screen, or all.
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
    /// Every field of the row, explained.
    Detail = "detail", "enter";
    /// Close what is open; drop the filter.
    Back = "back", "esc";
    /// Sort by the next column; the next figure of the mesh.
    SortNext = "sort-next", "> .";
    /// Sort by the column before; the figure before.
    SortPrevious = "sort-previous", "< ,";
    /// Choose the column to sort by, among all there are.
    Sort = "sort", "s";
    /// Turn the order round.
    Reverse = "reverse", "r";
    /// Show rows that match.
    Filter = "filter", "/";
    /// Hold what is shown; windows go on behind it.
    Freeze = "freeze", "f";
    /// Stop the source, or let it go on.
    Pause = "pause", "space";
    /// Longer window.
    Longer = "longer", "+ =";
    /// Shorter window.
    Shorter = "shorter", "-";
    /// Bits a second, or bytes.
    Units = "units", "u";
    /// A window back.
    Earlier = "earlier", "left h";
    /// A window on.
    Later = "later", "right l";
    /// A minute back.
    MinuteEarlier = "minute-earlier", "shift-left H";
    /// A minute on.
    MinuteLater = "minute-later", "shift-right L";
    /// The first window.
    Begin = "begin", "ctrl-left B";
    /// The last window.
    End = "end", "ctrl-right E";
    /// Half the speed.
    Slower = "slower", "[";
    /// Twice the speed.
    Faster = "faster", "]";
    /// Paint the screen anew.
    Redraw = "redraw", "ctrl-l";
    /// Put the program to sleep; `fg` wakes it.
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
                // A test holds that all of them are names of keys.
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

    /// Gives a key to an action; whatever it did before is forgotten, the action's other keys stay.
    pub fn bind(&mut self, action: Action, key: Key) {
        self.0.retain(|(bound, _)| *bound != key);
        self.0.push((key, action));
    }

    /// [`bind`](Self::bind), from text: `quit=ctrl-q`.
    ///
    /// # Errors
    /// [`KeyError`] where one of the two is not known.
    pub fn bind_text(&mut self, binding: &str) -> Result<(), KeyError> {
        let (action, key) = parse_binding(binding)?;
        self.bind(action, key);
        Ok(())
    }
}

/// Reads `quit=ctrl-q`.
///
/// # Errors
/// [`KeyError`] where one of the two is not known.
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
        for name in [
            "ctrl-c",
            "ctrl-alt-x",
            "shift-tab",
            "f12",
            "-",
            "ctrl-minus",
            "space",
            "ctrl-space",
            "é",
        ] {
            assert_eq!(name.parse::<Key>().unwrap().to_string(), name);
        }
        assert_eq!("shift-a".parse::<Key>(), "A".parse());
        for wrong in ["", "ctrl-", "ctrl-ctrl-c", "f0", "f25", "hyper-x", "ab"] {
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
