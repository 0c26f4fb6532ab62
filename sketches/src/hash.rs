//! The one hash: a short sequence of 64-bit words to 64 bits.
//!
//! A flow key is a fixed number of words (48 bytes are six). It is hashed once a packet, and every sketch, on every
//! machine and in every version, works from the same [`FlowHash`]: sketches of two boxes merge only because their
//! hashes agree. The function is therefore frozen; the golden vectors at the end of this file fail when it changes.
//!
//! # Definition
//!
//! All arithmetic is modulo 2⁶⁴ unless stated otherwise, `^` is exclusive or, `>>` shifts in zeros.
//! Bytes become words as little-endian: byte `8·i + j` is bits `8·j ..` of word `i`.
//!
//! ```text
//! K0 = 0x9e3779b97f4a7c15      fractional bits of the golden ratio
//! K1 = 0x6a09e667f3bcc908      fractional bits of √2, √3, √5, √7 follow
//! K2 = 0xbb67ae8584caa73b
//! K3 = 0x3c6ef372fe94f82b
//! K4 = 0xa54ff53a5f1d36f1
//!
//! fold(a, b):  p = a · b as a 128-bit product
//!              return a ^ b ^ (p mod 2⁶⁴) ^ (p div 2⁶⁴)
//!
//! hash(w[0..n], seed):
//!     s = fold(seed ^ K0, n ^ K1)
//!     for each pair i = 0, 2, 4, … below n:
//!         s = fold(w[i] ^ K2, w[i+1] ^ s ^ K3)        w[n] = 0 when n is odd
//!     s = s ^ (s >> 32);   s = s · K4
//!     s = s ^ (s >> 29);   s = s · K0
//!     return s ^ (s >> 32)
//! ```
//!
//! The fold multiplies two words and keeps both halves of the product, which spreads every input bit over the whole
//! word. A plain product loses one factor if the other is zero; adding both factors back keeps the state, so no single
//! word can erase the rest of the key. It is not cryptographic: knowledge of the seed allows collisions.

/// A flow key reduced to 64 well mixed bits, by [`hash_words`] and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct FlowHash(pub u64);

const K0: u64 = 0x9e37_79b9_7f4a_7c15;
const K1: u64 = 0x6a09_e667_f3bc_c908;
const K2: u64 = 0xbb67_ae85_84ca_a73b;
const K3: u64 = 0x3c6e_f372_fe94_f82b;
const K4: u64 = 0xa54f_f53a_5f1d_36f1;

/// Hashes `words` under `seed`.
///
/// The number of words is part of what is hashed: `[1]` and `[1, 0]` differ.
///
/// ```
/// use rocescope_sketches::hash::{hash_words, FlowHash};
///
/// let key = [0x0000_ffff_0a00_0001, 0, 0x0000_ffff_0a00_0002, 0, 0xc000_0000_0011, 0];
/// assert_eq!(hash_words(&key, 0), FlowHash(0x76b3_2c23_50e7_e9ec));
/// assert_ne!(hash_words(&key, 0), hash_words(&key, 1));
/// ```
#[inline]
#[must_use]
pub const fn hash_words(words: &[u64], seed: u64) -> FlowHash {
    let mut state = fold(seed ^ K0, words.len() as u64 ^ K1);
    let mut rest = words;
    while let [even, odd, tail @ ..] = rest {
        state = fold(*even ^ K2, *odd ^ state ^ K3);
        rest = tail;
    }
    if let [last] = rest {
        state = fold(*last ^ K2, state ^ K3);
    }
    state = (state ^ (state >> 32)).wrapping_mul(K4);
    state = (state ^ (state >> 29)).wrapping_mul(K0);
    FlowHash(state ^ (state >> 32))
}

/// Both halves of the product of `a` and `b`, and both factors.
#[inline]
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    a ^ b ^ product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::vec::Vec;

    /// Six words as in a fabric: addresses that differ in a few low bits, few ports.
    fn roce_like(i: u64) -> [u64; 6] {
        let source = 0x000a_ffff | (i & 0x3f) << 56;
        let destination = 0x010a_ffff | (i >> 6 & 0x3f) << 56;
        [0, source, 0, destination, (0x11 + (i >> 12)) | (49_152 << 32), 0]
    }

    /// Computed by another implementation (Python) from the definition above.
    #[test]
    fn golden_vectors() {
        let ramp = [0, 1, 2, 3, 4, 5];
        assert_eq!(hash_words(&[], 0).0, 0xf8f2_4411_baf7_f0e3);
        assert_eq!(hash_words(&[0], 0).0, 0xe445_1703_068d_f9d7);
        assert_eq!(hash_words(&[0; 6], 0).0, 0x9c58_2ff6_00ae_8d49);
        assert_eq!(hash_words(&ramp, 0).0, 0x2ab1_5da3_4521_4057);
        assert_eq!(hash_words(&ramp, 1).0, 0x3f86_7aed_bf02_d280);
        assert_eq!(hash_words(&[u64::MAX; 6], u64::MAX).0, 0x1014_513d_7ad7_abb1);
    }

    #[test]
    fn a_word_that_cancels_a_constant_does_not_erase_the_key() {
        let hashes: HashSet<_> = (0..1000).map(|i| hash_words(&[i, i * 7, K2, 3, K2, 5], 9)).collect();
        assert_eq!(hashes.len(), 1000);
    }

    #[test]
    fn every_input_bit_flips_half_of_the_output_bits() {
        const KEYS: u64 = 256;
        let mut flips = Vec::from([[0u32; 64]; 6 * 64]);
        for i in 0..KEYS {
            let key = roce_like(i * 977);
            let hash = hash_words(&key, 0).0;
            for (bit, counts) in flips.iter_mut().enumerate() {
                let mut other = key;
                other[bit / 64] ^= 1 << (bit % 64);
                let changed = hash ^ hash_words(&other, 0).0;
                for (out, count) in counts.iter_mut().enumerate() {
                    *count += (changed >> out & 1) as u32;
                }
            }
        }
        // 24,576 binomial counts (256, ½): σ = 8, so 6 σ is never reached by a fair coin.
        for count in flips.iter().flatten() {
            assert!((128 - 48..=128 + 48).contains(count), "{count} flips of {KEYS}");
        }
    }

    #[test]
    fn keys_of_a_fabric_spread_evenly() {
        const KEYS: u64 = 1 << 18;
        let hashes: HashSet<u64> = (0..KEYS).map(|i| hash_words(&roce_like(i), 0).0).collect();
        assert_eq!(hashes.len() as u64, KEYS, "no collision is expected among 2¹⁸ of 2⁶⁴");
        for shift in [0, 24, 48] {
            let mut bins = Vec::from([0f64; 1 << 12]);
            for hash in &hashes {
                bins[(hash >> shift & 0xfff) as usize] += 1.0;
            }
            let chi2: f64 = bins.iter().map(|n| (n - 64.0) * (n - 64.0) / 64.0).sum();
            // χ² of 4,095 degrees of freedom: mean 4,095, σ = 90.5; five σ either side.
            assert!((3642.0..4548.0).contains(&chi2), "χ² {chi2} at bit {shift}");
        }
    }
}
