//! The metadata keys in the Parquet footer of a segment.
//!
//! The store writes the first four; its caller provides the others. All values are text.

/// Version of the layout: [`FORMAT_VERSION`](crate::FORMAT_VERSION).
pub const FORMAT: &str = "rocescope.format_version";
/// Checksums of every byte of the file.
pub const CHECKSUMS: &str = "rocescope.checksums";
/// Name of the table.
pub const TABLE: &str = "rocescope.table";
/// Name of the observer.
pub const OBSERVER: &str = "rocescope.observer";
/// Source of the frames: an interface, a file or `-`.
pub const SOURCE: &str = "rocescope.source";
/// Capture mode.
pub const MODE: &str = "rocescope.mode";
/// Clock of the timestamps.
pub const CLOCK_SOURCE: &str = "rocescope.clock_source";
/// Length of the windows.
pub const WINDOW_NS: &str = "rocescope.window_ns";
/// Elephant threshold.
pub const ELEPHANT_BPS: &str = "rocescope.elephant_bps";
/// Seed of the flow hash.
pub const FLOW_HASH_SEED: &str = "rocescope.flow_hash_seed";
/// Size of the Linear Counting bitmap.
pub const LINEAR_COUNTING_BITS: &str = "rocescope.linear_counting.bits";
/// Rows of a Count-Min sketch.
pub const COUNT_MIN_DEPTH: &str = "rocescope.count_min.depth";
/// Counters in a row of a Count-Min sketch.
pub const COUNT_MIN_WIDTH: &str = "rocescope.count_min.width";
/// Whether Count-Min sketches use conservative update.
pub const COUNT_MIN_CONSERVATIVE: &str = "rocescope.count_min.conservative";

/// Packets for each that the mirror delivers.
pub const MIRROR_SAMPLING: &str = "rocescope.mirror_sampling";

/// Resolution of a rollup.
pub const ROLLUP: &str = "rocescope.rollup";
/// The segments that a segment of a rollup is made of.
pub const ROLLUP_INPUTS: &str = "rocescope.rollup.inputs";

/// Every key with the meaning of its value, in the order of the documentation.
pub const KEYS: &[(&str, &str)] = &[
    (FORMAT, "Version of this format, an integer."),
    (
        CHECKSUMS,
        "`rocecrc1`, then CRC-32 sums: of the footer (with zeros for its own digits), of the bytes outside of footer \
         and columns, and of each column of each row group. `rocescope dataset verify` checks them all, readers those that they \
         read.",
    ),
    (TABLE, "Name of the table."),
    (OBSERVER, "Name of the observer, as in the column `observer`."),
    (
        SOURCE,
        "Source of the frames: interface, file name, `-` for standard input, or the merged datasets.",
    ),
    (
        MODE,
        "Capture mode: `xdp native`, `xdp generic`, `af_packet`, `rdma sniffer`, `file`, `stdin`, or `merge` of other datasets.",
    ),
    (
        CLOCK_SOURCE,
        "Clock that timestamped the frames; `file` for the timestamps of a capture file.",
    ),
    (WINDOW_NS, "Length of the windows in nanoseconds."),
    (
        ELEPHANT_BPS,
        "Elephant threshold: frame rate in bit/s from which a flow is an elephant.",
    ),
    (FLOW_HASH_SEED, "Seed of `flow_hash`, an integer."),
    (LINEAR_COUNTING_BITS, "Bits of the Linear Counting bitmap."),
    (COUNT_MIN_DEPTH, "Rows of the Count-Min sketches."),
    (COUNT_MIN_WIDTH, "Counters in a row of the Count-Min sketches."),
    (
        COUNT_MIN_CONSERVATIVE,
        "`true` if the sketches use conservative update: an update raises only the smallest counters of its key.",
    ),
    (
        MIRROR_SAMPLING,
        "Number of packets for each that the mirror delivers, as `--mirror-sampling` states; missing if it was not set.",
    ),
    (ROLLUP, "In segments of rollups: `1m`, `1h` or `1d`."),
    (
        ROLLUP_INPUTS,
        "In segments of rollups: a line for each segment of the finer resolution whose rows it has, with partition, bytes, \
         checksum and name.",
    ),
];
