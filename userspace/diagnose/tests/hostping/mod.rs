//! Hostping: topology files and matrices.

mod measured;
mod topology;
