//! libibverbs, loaded when it is first called: a host without RDMA needs none of it, and building needs neither its headers
//! nor its library.
//!
//! Names, layouts and meanings are those of `infiniband/verbs.h` (rdma-core 32 and later, whose ABI is stable); its manual
//! pages are the reference. Declared is what the product uses. All functions are unsafe as in C: pointers must be those that
//! the library gave, and still be open.
//!
//! | module | contents |
//! |---|---|
//! | `types` | structures and constants |
//! | `library` | functions that the library exports |
//! | `devices` | the devices of the host, opened |
//! | `queue` | a completion queue with its timestamps |
//! | `inline` | functions that the header defines: calls through the tables of a device's driver |

mod devices;
mod error;
mod inline;
#[cfg(test)]
mod layout;
mod library;
mod queue;
#[expect(
    non_camel_case_types,
    missing_docs,
    missing_debug_implementations,
    reason = "declarations of C, which its manual pages explain"
)]
mod types;

pub use devices::{GID_TYPE_ROCE_V2, OpenDevice, devices, devices_named};
pub use error::{Error, check};
pub use inline::*;
pub use library::*;
pub use queue::{Completion, Queue, Stamping, nanos};
pub use types::*;
