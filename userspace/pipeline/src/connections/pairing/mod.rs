//! Which direction a run belongs to, and which two directions are one connection.
//!
//! | module | what it does |
//! |---|---|
//! | `key` | identifies a direction |
//! | `table` | finds the direction of a run |
//! | `peer_candidates` | pairs directions from PSNs alone |
//! | `pair` | joins two directions |
//! | `setup` | CM datagrams and TCP handshakes |
//! | `cm` | what CM shows of a connection |

pub(crate) mod cm;
pub(crate) mod key;
pub(crate) mod pair;
pub(crate) mod peer_candidates;
pub(crate) mod setup;
pub(crate) mod table;
