//! All contenders, in three groups.

mod asap;
mod cardinality;
mod cuckoo_heavy_keeper;
mod datasketches;
mod elastic;
mod exact;
mod heavykeeper;
mod ours;
mod space_saving;

use crate::contender::Entry;

/// The memory limit of every heavy hitter algorithm, keys included.
pub const TOP_BYTES: usize = 200_000;

/// How many flows?
pub const DISTINCT: &[Entry] = &[
    Entry {
        name: "**Linear Counting, 1 row**",
        make: ours::linear_counting::<1>,
    },
    Entry {
        name: "**Linear Counting, 2 rows**",
        make: ours::linear_counting::<2>,
    },
    Entry {
        name: "datasketches HLL-8, 2¹²",
        make: datasketches::hll,
    },
    Entry {
        name: "asap_sketchlib HLL (HIP), 2¹²",
        make: asap::hll,
    },
    Entry {
        name: "cardinality-estimator",
        make: cardinality::estimator,
    },
    Entry {
        name: "hashbrown set",
        make: exact::fast_set,
    },
    Entry {
        name: "std set",
        make: exact::std_set,
    },
];

/// How large is this flow?
pub const SIZES: &[Entry] = &[
    Entry {
        name: "**Count-Min 4 × 16,384, plain**",
        make: ours::count_min_plain,
    },
    Entry {
        name: "**Count-Min 4 × 16,384, conservative**",
        make: ours::count_min_conservative,
    },
    Entry {
        name: "datasketches CountMin 4 × 16,384",
        make: datasketches::count_min,
    },
    Entry {
        name: "asap_sketchlib CountMin 4 × 16,384",
        make: asap::count_min,
    },
    Entry {
        name: "hashbrown map",
        make: exact::fast_map,
    },
    Entry {
        name: "std map",
        make: exact::std_map,
    },
];

/// Which flows are largest?
pub const TOP: &[Entry] = &[
    Entry {
        name: "**HeavyHitters, 1 lane**",
        make: ours::heavy_hitters::<1>,
    },
    Entry {
        name: "**HeavyHitters, 2 lanes**",
        make: ours::heavy_hitters::<2>,
    },
    Entry {
        name: "**HeavyHitters, 1 lane, 4 shards merged**",
        make: ours::heavy_hitters_in_shards,
    },
    Entry {
        name: "Space-Saving, stream summary",
        make: space_saving::contender,
    },
    Entry {
        name: "Cuckoo HeavyKeeper",
        make: cuckoo_heavy_keeper::contender,
    },
    Entry {
        name: "Elastic, heavy and light",
        make: elastic::contender,
    },
    Entry {
        name: "heavykeeper BucketedTopK",
        make: heavykeeper::bucketed,
    },
    Entry {
        name: "heavykeeper CuckooTopK",
        make: heavykeeper::cuckoo,
    },
    Entry {
        name: "datasketches FrequentItems",
        make: datasketches::frequent_items,
    },
    Entry {
        name: "asap_sketchlib SpaceSaving",
        make: asap::space_saving,
    },
    Entry {
        name: "hashbrown map, sorted",
        make: exact::fast_map,
    },
];
