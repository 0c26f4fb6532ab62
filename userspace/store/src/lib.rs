//! The Parquet dataset: write, seal, repair, scan.
