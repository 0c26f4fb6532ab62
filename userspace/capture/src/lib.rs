//! Sources of frames: capture files, standard input, the generator.

pub mod generate;
