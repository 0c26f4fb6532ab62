//! Takes the terminal and panics: what is left of it is for the test of the same name to see.
#![expect(clippy::panic, reason = "it is what this is for")]

use rocescope_view::screen::Screen;
use rocescope_view::{Header, Options, View};

fn main() -> std::io::Result<()> {
    let mut screen = Screen::enter(true)?;
    screen.draw(&View::new(Header::default(), Options::default()))?;
    panic!("seen by the user");
}
