//! One flipped bit in a parcel of the spool: its rows are counted with a reason, and no other row is stored.

use crate::rig::{Rig, probes};
use rocescope_testkit::until;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Parcels with a flipped bit; as many whole ones are between them.
const FLIPS: u64 = 200;
const ROWS: u64 = 5;

#[test]
fn a_parcel_with_a_flipped_bit_is_counted_and_the_others_arrive() {
    let rig = Rig::new();
    let spool = rig.spool("h0");
    for n in 0..2 * FLIPS {
        spool.append(&probes("h0", n * ROWS..(n + 1) * ROWS)).unwrap();
    }
    let mut files: Vec<PathBuf> = fs::read_dir(rig.path("spool-h0"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "arrows"))
        .collect();
    files.sort();
    assert_eq!(files.len() as u64, 2 * FLIPS);
    let mut state = 7_u64;
    for path in files.iter().step_by(2) {
        let mut bytes = fs::read(path).unwrap();
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bit = (state >> 33) as usize % (bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(path, bytes).unwrap();
    }

    let server = rig.server();
    let sender = rig.sender("h0", server.address().port(), &spool);
    until("every parcel left the spool", || spool.counts().parcels == 0);
    sender.finish(Duration::from_secs(5));
    let counts = spool.counts();
    server.stop().unwrap();
    let whole = (0..2 * FLIPS).filter(|n| n % 2 == 1);
    let expected: Vec<u64> = whole.flat_map(|n| n * ROWS..(n + 1) * ROWS).collect();
    assert_eq!(rig.stored("h0"), expected);
    assert_eq!(counts.acknowledged_rows, FLIPS * ROWS, "{counts:?}");
    let noticed = counts.dropped_damaged_rows + counts.refused_rows;
    assert_eq!(noticed, FLIPS * ROWS, "{counts:?}");
    println!(
        "{:<20} {FLIPS:>4} flips: {FLIPS:>4} noticed: {} by the agent, {} by the collector",
        "spool",
        counts.dropped_damaged_rows / ROWS,
        counts.refused_rows / ROWS
    );
}
