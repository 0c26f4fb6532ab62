//! The progress bar.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// The position in a capture file; hidden if standard error is not a terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for `length` bytes, or a counter if the length is unknown.
    #[must_use]
    pub fn new(length: Option<u64>, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self {
                bar: ProgressBar::hidden(),
            };
        }
        let (bar, template) = match length {
            Some(length) => (
                ProgressBar::new(length),
                "{wide_bar} {percent:>3} %  {bytes_per_sec}  {eta} left",
            ),
            None => (ProgressBar::no_length(), "{bytes} read  {bytes_per_sec}"),
        };
        // A bar in the default style is better than none.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(4));
        Self { bar }
    }

    /// Sets the number of bytes read so far.
    pub fn at(&self, bytes: u64) {
        self.bar.set_position(bytes);
    }

    /// Removes the bar.
    pub fn done(&self) {
        self.bar.finish_and_clear();
    }
}
