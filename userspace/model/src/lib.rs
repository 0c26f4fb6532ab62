//! Every table of the dataset and its columns, once.
#![no_std]
