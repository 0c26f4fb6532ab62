//! libibverbs, loaded when it is first called: a host without RDMA needs none of it, and building needs neither its headers
//! nor its library.
//!
//! Names, layouts and meanings are those of `infiniband/verbs.h` (rdma-core 32 and later, whose ABI is stable); its manual
//! pages are the reference. Declared is what this crate uses. All functions are unsafe as in C: pointers must be those that
//! the library gave, and still be open.
//!
//! | module | contents |
//! |---|---|
//! | `types` | structures and constants |
//! | `library` | functions that the library exports |
//! | `inline` | functions that the header defines: calls through the tables of a device's driver |

mod inline;
#[cfg(test)]
mod layout;
mod library;
#[expect(
    non_camel_case_types,
    missing_docs,
    missing_debug_implementations,
    reason = "declarations of C, which its manual pages explain"
)]
mod types;

pub use inline::*;
pub use library::*;
pub use types::*;
