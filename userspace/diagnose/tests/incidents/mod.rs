//! One cause is one incident, whichever analyses saw it.

mod captured;
mod changes;
mod history;
mod joined;
mod ports;
mod rows;
mod shared;
mod switches;
