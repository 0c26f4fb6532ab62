//! The chapter on sketches: the key byte for byte, its hash with golden vectors, every format.
//!
//! The golden vectors are text, because this crate has neither keys nor hashes; a test of the pipeline checks them
//! against both.

/// The chapter.
pub(super) const CHAPTER: &str = "
## Sketches

`rocescope dataset merge` merges the sketches of windows and observers, window by window, if their parameters
and hash seed, which are in the footer, are equal; it rejects different ones. The key of all sketches is
`flow_hash`, the 64-bit hash of a flow's key.

### The key

48 bytes, numbers little-endian:

| bytes | word | field |
|---|---|---|
| 0–15 | 0, 1 | source address as sent; IPv4 as IPv4-mapped IPv6, `::ffff:a.b.c.d` |
| 16–31 | 2, 3 | destination address, likewise |
| 32–35 | 4 | VXLAN network identifier; 2^32 - 1 if there is none |
| 36–39 | 4 | destination queue pair |
| 40–41 | 5 | UDP source port |
| 42–43 | 5 | VLAN ID of the outer tag; 65535 if there is none |
| 44–45 | 5 | VLAN ID of the inner tag; 65535 if there is none |
| 46–47 | 5 | 0 |

The hash reads them as six 64-bit words: byte `8 i + j` of the key is bits `8 j` to `8 j + 7` of word `i`.

### The hash

All arithmetic is modulo 2^64 unless stated otherwise, `^` is exclusive or, `>>` shifts in zeros.

    K0 = 0x9e3779b97f4a7c15
    K1 = 0x6a09e667f3bcc908
    K2 = 0xbb67ae8584caa73b
    K3 = 0x3c6ef372fe94f82b
    K4 = 0xa54ff53a5f1d36f1

    fold(a, b):  p = a * b as a 128-bit product
                 return a ^ b ^ (p mod 2^64) ^ (p div 2^64)

    hash(w[0..n], seed):                    n = 6 and seed = 0 for flows
        s = fold(seed ^ K0, n ^ K1)
        for each pair i = 0, 2, 4, ... below n:
            s = fold(w[i] ^ K2, w[i+1] ^ s ^ K3)
        s = s ^ (s >> 32);   s = s * K4
        s = s ^ (s >> 29);   s = s * K0
        return s ^ (s >> 32)

`flow_hash` is the result as a signed 64-bit number, the key of every sketch. `direction_key` is the result for the same flow
with a UDP source port of 0, as a signed 64-bit number. Two golden vectors:

| | first | second |
|---|---|---|
| source | 10.0.0.1 | fd00::1 |
| destination | 10.0.0.2 | fd00::2 |
| VXLAN network identifier | none | 4242 |
| destination queue pair | 0x11 | 0xabcdef |
| UDP source port | 49152 | 65535 |
| VLAN ids | none | 100, 7 |
| word 0 | `0x0000000000000000` | `0x00000000000000fd` |
| word 1 | `0x0100000affff0000` | `0x0100000000000000` |
| word 2 | `0x0000000000000000` | `0x00000000000000fd` |
| word 3 | `0x0200000affff0000` | `0x0200000000000000` |
| word 4 | `0x00000011ffffffff` | `0x00abcdef00001092` |
| word 5 | `0x0000ffffffffc000` | `0x000000070064ffff` |
| hash | `0x15c77a38e3af8578` | `0xe57d600f85e4b61a` |
| `flow_hash` | 1569357379918595448 | -1910265047148087782 |

### Linear Counting

`linear_counting`: a bitmap of 32,768 bits, 4,096 bytes. Bit `p` is bit `p mod 8` of byte `p div 8`,
the least significant being bit 0. A flow sets the bit `p = h div 2^49`, with the hash `h` as an
unsigned number: its upper 15 bits. With `m` bits of which `z` are zero the estimate is `-m ln(z / m)`.
Bitmaps of equal length and seed merge by bitwise or; Spark's `bitmap_or_agg` and `bitmap_count` read
them directly (both silently truncate longer bitmaps, hence the limit). Beyond about 280,000
flows a bitmap is full.

### HyperLogLog

`hll_flows`: an `HllSketch` of Apache DataSketches of type HLL_8 with `lgK` 14, updated with `flow_hash`
as a signed long. It is present if the window had more flows than the bitmap has bits. DataSketches
libraries and Spark's `hll_sketch_estimate` and `hll_union_agg` read it directly; in Spark,
`hll_sketch_agg(flow_hash, 14)` over `flows` creates one that merges with it. 16,424 bytes, numbers
little-endian:

| bytes | field |
|---|---|
| 0–7 | 10, 1, 7, 14, 0, 16, 0, 10: words of this header, version, family, `lgK`, unused, order of arrival unknown, lowest value, mode |
| 8–15 | 0.0: no estimate by order of arrival is stored, so equal flows give equal bytes |
| 16–23 | sum of `2^-r` over registers `r` below 32, a double |
| 24–31 | the same over registers from 32 on |
| 32–35 | registers that are 0 |
| 36–39 | 0 |
| 40– | 16,384 registers, one byte each |

With `(lo, hi)` the MurmurHash3 x64-128 of the key's eight little-endian bytes under the seed 9001, a
flow raises register `lo mod 16384` to at least 1 + the leading zero bits of `hi`, at most 63. Two
sketches merge into the maximum of each pair of registers.

### Count-Min

`count_min_packets`, `count_min_bytes`: the bytes of Spark's `CountMinSketch`, version 1, so
`CountMinSketch.readFrom` reads them. All numbers are big-endian:

| field | type | meaning |
|---|---|---|
| version | i32 | 1 |
| total | i64 | sum of all counts added |
| depth | i32 | rows |
| width | i32 | counters in a row |
| hashA | i64 × depth | multiplier of each row |
| table | i64 × depth × width | counters, row by row |

The counter of a key in a row, in wrapping 64-bit arithmetic with arithmetic shifts:

    h = hashA * key;  h += h >> 32;  h &= 2^31 - 1;  counter = h % width

A window whose rows of `flows` have all its packets, so that their `packets` - `error_packets` add up to at least
`roce_packets`, has neither sketch. They follow from these rows, byte for byte: add `packets` or `frame_bytes` of each under
its `flow_hash` to an empty table of depth 4, width 16,384 and the multipliers 1562431130, 117392763, 1467211248 and
102948884, which are those of Spark for the seed 42. `count_min` and the view `window_sketches` of
[sql](sql.md), `rocescope dataset merge` and `count_min_estimates` of the package for Spark do so. Stored windows are those that do
not list all their flows, because of `--flow-rows` or `--exact-flows`.

The estimate of a key is its smallest counter. It is never below the true count. Tables of equal depth,
width and multipliers merge by addition of their counters. If the footer states conservative update, the
counters are not sums: a merged table is still an upper bound, but a looser one than a single table with
all updates, and its footer states conservative update as well.

### Quantiles

No table contains a quantile sketch.

";
