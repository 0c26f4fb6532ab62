//! The operator's view of finished windows on a terminal.
//!
//! [`View`] is a state machine without clock, file or thread: windows, keys and sizes go in, and what is
//! to be done about them comes out as an [`Effect`]. [`draw()`] paints it into any ratatui frame. So a test
//! presses keys and reads the screen in microseconds, and everything that is shown is a function of the
//! rows. The modules that touch a real terminal, threads and the clock are [`screen`], [`player`] and what
//! it is made of.
//!
//! Columns, headings, units and explanations come from the registry in `rocescope-model`: a column
//! added there can be sorted by, shown and explained here without a change.
//!
//! | module | what it holds |
//! |---|---|
//! | [`view`] | [`View`]: what is shown, and what a key does to it |
//! | [`keys`] | [`Keys`]: which key means which [`Action`], by name |
//! | [`header`] | [`Header`]: what only the source of the windows knows |
//! | [`recent`] | the latest windows, and several of them merged into one |
//! | [`series`] | rates of the latest windows, flow by flow, for sparklines |
//! | [`pane`] | [`Pane`]: a table, its columns, order and selection |
//! | [`filter`], [`sort`] | which rows are shown, and in which order |
//! | [`theme`], [`glyphs`], [`format`](mod@format) | colours, characters, numbers |
//! | [`layout`] | what stands where, for drawing and for the mouse |
//! | [`mesh`] | the same within the mesh, and what is told of a pair and of the verdicts |
//! | [`mod@draw`] | one file a part of the screen |
//! | [`screen`] | the terminal: entered, restored, read |
//! | [`player`] | windows of a source on their way to the thread that draws |
//! | [`control`] | what the keys ask of a source, and the pace at which it plays |
//! | [`show`] | the loop that draws |

pub mod control;
pub mod draw;
pub mod filter;
pub mod format;
pub mod glyphs;
pub mod header;
pub mod keys;
pub mod layout;
pub mod mesh;
pub mod pane;
pub mod player;
pub mod recent;
pub mod screen;
pub mod series;
pub mod show;
pub mod sort;
pub mod theme;
pub mod view;

pub use control::{Control, Next, Stopped};
pub use draw::draw;
pub use filter::Matcher;
pub use glyphs::Glyphs;
pub use header::{Header, Losses, Motion, Own};
pub use keys::{Action, Key, Keys};
pub use pane::Pane;
pub use player::{Notes, Player};
pub use show::{Process, ProcessError, ShowError, Stage};
pub use theme::{Theme, Tone};
pub use view::{Effect, Mouse, Options, Seek, View};
