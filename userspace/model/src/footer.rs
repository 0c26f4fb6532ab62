//! The metadata keys that a segment carries in its Parquet footer.
//!
//! The store writes the first three by itself; the others come from whoever knows them. All values
//! are text.

/// Version of the layout: [`FORMAT_VERSION`](crate::FORMAT_VERSION).
pub const FORMAT: &str = "rocescope.format_version";
/// Name of the table.
pub const TABLE: &str = "rocescope.table";
/// Name of the capture point.
pub const OBSERVER: &str = "rocescope.observer";
/// Interface, file or `-` that the frames came from.
pub const SOURCE: &str = "rocescope.source";
/// How they were captured.
pub const MODE: &str = "rocescope.mode";
/// Clock of the times.
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
/// Whether Count-Min sketches were updated conservatively.
pub const COUNT_MIN_CONSERVATIVE: &str = "rocescope.count_min.conservative";

/// Every key with what its value says, in the order of the documentation.
pub const KEYS: &[(&str, &str)] = &[
    (FORMAT, "Version of this format, a whole number."),
    (TABLE, "Name of the table."),
    (
        OBSERVER,
        "Name of the capture point, as in the column `observer`.",
    ),
    (
        SOURCE,
        "Interface, file name, `-` for standard input, or the datasets merged.",
    ),
    (
        MODE,
        "`xdp native`, `xdp generic`, `af_packet`, `file`, `stdin`, or `merge` of other datasets.",
    ),
    (
        CLOCK_SOURCE,
        "Clock that stamped the frames; `file` for the times in a capture file.",
    ),
    (WINDOW_NS, "Length of the windows in nanoseconds."),
    (
        ELEPHANT_BPS,
        "Frame bits a second from which a flow is an elephant.",
    ),
    (FLOW_HASH_SEED, "Seed of `flow_hash`, a whole number."),
    (LINEAR_COUNTING_BITS, "Bits of the Linear Counting bitmap."),
    (COUNT_MIN_DEPTH, "Rows of the Count-Min sketches."),
    (
        COUNT_MIN_WIDTH,
        "Counters in a row of the Count-Min sketches.",
    ),
    (
        COUNT_MIN_CONSERVATIVE,
        "`true` where only the smallest counters of a key were raised.",
    ),
];
