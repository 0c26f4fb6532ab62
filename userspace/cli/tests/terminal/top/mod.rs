//! `rocescope top` as its users see it: tmux presses keys and reads the screen of the real program.
//!
//! | module | what it holds |
//! |---|---|
//! | `session` | one session at both sizes: sort, filter, freeze, detail, quit; the picture |
//! | `restored` | signals, suspension and small terminals leave the terminal as it was |
//! | `dataset` | stepping through a dataset |
//! | `mesh` | the mesh of probes of a dataset |
//! | `plain` | pipes are refused; `--once` prints |
//! | `live` | an interface in a network namespace |
//! | `terminal`, `input` | tmux; captures and datasets |

mod dataset;
mod input;
mod live;
mod mesh;
mod plain;
mod restored;
mod session;
mod terminal;
