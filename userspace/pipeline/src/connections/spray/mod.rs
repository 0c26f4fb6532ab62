//! Requests whose order shows nothing, because the fabric sprays them.
//!
//! | module | what it does |
//! |---|---|
//! | `direction` | processes its requests |
//! | `pass` | a sender that transmits PSNs once more |
//! | `answers` | its acknowledgements and NAKs |
//! | `times` | the times within which it decides |
//! | `losses` | what was lost of it |
//! | `state` | what such a direction needs beside its tracker |

pub(crate) mod answers;
pub(crate) mod direction;
pub(crate) mod losses;
pub(crate) mod pass;
pub(crate) mod state;
pub(crate) mod times;
