//! Run records: what crosses from the capture to the pipeline, and the cache that makes them.
#![no_std]
