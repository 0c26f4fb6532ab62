//! Checked reads of a frame's bytes.

/// Every header of a frame that is decoded ends within this many bytes of its beginning, a power of two: the kernel's
/// program holds no more of a frame.
pub const REACH: usize = 1024;

/// Bytes of one frame that can be read at an offset.
///
/// A slice in user space, a pair of packet pointers in the kernel. A read returns `None` if any byte of
/// it is beyond the captured end; it never panics.
pub trait Octets {
    /// `N` bytes from offset `at`.
    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]>;

    /// The same offset, unknown to the verifier.
    ///
    /// The kernel's verifier walks every path with every offset that it can distinguish: three paths to the
    /// network header, a dozen through it, and each again inside a tunnel. Where paths meet, this makes
    /// them equal for the verifier. In user space it does nothing.
    #[inline(always)]
    fn settle(&self, at: usize) -> usize {
        at
    }

    /// The first `bytes` bytes, for reads that need no further check; `None` if they are not all there.
    #[inline(always)]
    fn front(&self, bytes: usize) -> Option<impl Octets> {
        self.u8(bytes.checked_sub(1)?)?;
        Some(self)
    }

    /// One byte at offset `at`.
    #[inline(always)]
    fn u8(&self, at: usize) -> Option<u8> {
        self.read::<1>(at).map(|[byte]| byte)
    }

    /// A 16-bit number in network order.
    #[inline(always)]
    fn be16(&self, at: usize) -> Option<u16> {
        self.read(at).map(u16::from_be_bytes)
    }

    /// A 32-bit number in network order.
    #[inline(always)]
    fn be32(&self, at: usize) -> Option<u32> {
        self.read(at).map(u32::from_be_bytes)
    }
}

impl Octets for [u8] {
    #[inline(always)]
    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.get(at..)?.first_chunk::<N>().copied()
    }

    #[inline(always)]
    fn front(&self, bytes: usize) -> Option<impl Octets> {
        self.get(..bytes)
    }
}

impl<O: Octets + ?Sized> Octets for &O {
    #[inline(always)]
    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        (**self).read(at)
    }

    #[inline(always)]
    fn settle(&self, at: usize) -> usize {
        (**self).settle(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_beyond_the_end_is_none_and_never_a_panic() {
        let bytes: &[u8] = &[1, 2, 3, 4, 5];
        assert_eq!(bytes.be32(1), Some(0x0203_0405));
        assert_eq!(bytes.be32(2), None);
        assert_eq!(bytes.u8(5), None);
        assert_eq!(bytes.u8(usize::MAX), None);
        assert_eq!(bytes.read::<2>(usize::MAX - 1), None);
    }
}
