//! Acknowledgements, NAKs and responses.
//!
//! | module | what it does |
//! |---|---|
//! | `answers` | processes a run of them |
//! | `recovery` | responses that were requested again: lost, late or stale |
//! | `rounds` | what each such request made due |
//! | `requester` | the response that the requester expects, from the order at the tap |
//! | `asked_again` | the peer requests responses again |

pub(crate) mod answers;
pub(crate) mod asked_again;
pub(crate) mod recovery;
pub(crate) mod requester;
pub(crate) mod rounds;
