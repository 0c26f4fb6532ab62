//! The operator's view of finished windows on a terminal.
//!
//! [`View`] is a state machine without clock, files or threads: it takes windows, keys and sizes, and returns an
//! [`Effect`]. [`draw()`] paints it into any ratatui frame. So a test presses keys and reads the screen in
//! microseconds, and the screen is a function of the rows. Only [`screen`], [`player`], [`show`] and [`control`]
//! use a real terminal, threads and the clock.
//!
//! Columns, headings, units and explanations come from the registry in `rocescope-model`: the view shows, sorts and
//! explains a column that is added there without a change here.
//!
//! | module | what it holds |
//! |---|---|
//! | [`view`] | [`View`]: what is shown, and what each key does |
//! | [`keys`] | [`Keys`]: which key triggers which [`Action`], by name |
//! | [`header`] | [`Header`]: what only the source of the windows knows: its name, mode, losses |
//! | [`recent`] | the latest windows, and several of them merged into one |
//! | [`series`] | rates of each flow in the latest windows, for sparklines |
//! | [`pane`] | [`Pane`]: a table, its columns, order and selection |
//! | [`filter`], [`sort`] | which rows are shown, and in which order |
//! | [`theme`], [`glyphs`], [`format`](mod@format) | colours, characters, numbers |
//! | [`zone`] | UTC or local time |
//! | [`layout`] | positions on the screen, for drawing and for the mouse |
//! | [`incidents`] | the incidents at the time of a window |
//! | [`inside`] | loopback tests inside hosts, and what they show |
//! | [`mesh`] | layout of the mesh pane, and the text about verdicts and a pair |
//! | [`mod@draw`] | draws the screen; one file for each part |
//! | [`screen`] | enters, restores and reads the terminal |
//! | [`once`] | windows as text, JSON and CSV, without a terminal |
//! | [`player`] | sends the windows of a source to the drawing thread when they are due |
//! | [`control`] | requests from the keys to a source, and its pace |
//! | [`show`] | the drawing loop |

pub mod control;
pub mod draw;
pub mod filter;
pub mod format;
pub mod glyphs;
pub mod header;
pub mod incidents;
pub mod inside;
pub mod keys;
pub mod layout;
pub mod mesh;
pub mod once;
mod owned;
pub mod pane;
pub mod player;
pub mod recent;
pub mod screen;
pub mod series;
pub mod show;
mod so_far;
pub mod sort;
pub mod theme;
pub mod view;
pub mod zone;

pub use control::{Control, Next, Stopped};
pub use draw::draw;
pub use filter::Matcher;
pub use glyphs::Glyphs;
pub use header::{Header, Losses, Motion, Newest, ProcessUsage};
pub use keys::{Action, Key, Keys};
pub use pane::Pane;
pub use player::{Notes, Player};
pub use show::{Process, ProcessError, ShowError, Stage};
pub use theme::{Theme, Tone};
pub use view::{Effect, Mouse, Options, Seek, View};
