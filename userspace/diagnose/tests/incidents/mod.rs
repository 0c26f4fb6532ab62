//! One cause is one incident, whichever analyses saw it.

mod joined;
mod rows;
