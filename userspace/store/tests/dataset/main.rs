//! Tests of the public interface: rows in, files on disk, rows out, and the possible errors between.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod compaction;
mod damage;
mod disk_fails;
mod filters;
mod flips;
mod follow;
mod format_1;
mod full_disk;
mod kill;
mod numbered;
mod query;
mod retention;
mod rotation;
mod roundtrip;
mod rows;
