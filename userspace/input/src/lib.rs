//! Files and streams, plain or compressed, as bytes and as text: what users give to a command.
//!
//! The first bytes, not the name, identify the compression: gzip, Zstandard, xz, bzip2 and LZ4 frames. Memory has a bound,
//! whatever a file states of itself.
//!
//! | module | what it does |
//! |---|---|
//! | `stream` | a stream of bytes, uncompressed |
//! | `text` | a whole file as text |
//! | `zstd`, `lz4` | consecutive frames of these formats |

mod lz4;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod zstd;

pub use stream::{FORMATS, Input, InputError, open};
pub use text::{bytes, text, text_of_at_most, to_text};
