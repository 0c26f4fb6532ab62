//! The pool of UDP source ports, drawn as flow labels.
//!
//! ECMP hashes the source port, so a pool of ports covers many paths. With verbs, only the flow label of the global route
//! header determines the port: 20 bits, which the driver folds into 14. Every backend draws ports in this way, so that
//! all can use the same ones.

use crate::types::Nanos;
use fastrand::Rng;

/// Returns the source port of a flow label, as the kernel and rdma-core compute it (`rdma_flow_label_to_udp_sport`):
/// 49152 or higher.
///
/// ```
/// use rocescope_probe::ports::source_port;
/// assert_eq!(source_port(0), 0xc000);
/// assert_eq!(source_port(0x4001), 0xc000);
/// assert_eq!(source_port(0xf_ffff), 0xffc0);
/// ```
#[must_use]
pub const fn source_port(flow_label: u32) -> u16 {
    let label = flow_label & 0xf_ffff;
    0xc000 | ((label & 0x3fff) ^ (label >> 14)) as u16
}

/// The maximum size of a pool: a quarter of all ports, so that drawing a free one takes few attempts.
pub const SIZE_MAX: usize = 4_096;

/// The ports that one NIC sends from.
///
/// Each stays for one period. They change one after the other, so that the paths of nearly all of them are known at any
/// time.
#[derive(Clone, Debug)]
pub struct Pool {
    ports: Vec<u16>,
    /// The next port to renew.
    oldest: usize,
    next_renewal: Nanos,
    /// Time between two renewals.
    step: Nanos,
}

impl Pool {
    /// Draws `size` ports, at least one and at most [`SIZE_MAX`], each renewed after `period`.
    pub fn new(size: usize, period: Nanos, now: Nanos, rng: &mut Rng) -> Self {
        let size = size.clamp(1, SIZE_MAX);
        let mut ports = Vec::with_capacity(size);
        while ports.len() < size {
            let port = fresh(&ports, rng);
            ports.push(port);
        }
        let step = Nanos((period.0 / size as i64).max(1));
        Self {
            ports,
            oldest: 0,
            next_renewal: now + step,
            step,
        }
    }

    /// The ports, in arbitrary order.
    #[must_use]
    pub fn ports(&self) -> &[u16] {
        &self.ports
    }

    /// The port in a slot, from 0.
    #[must_use]
    pub fn port(&self, place: u16) -> u16 {
        self.ports.get(usize::from(place)).copied().unwrap_or(0xc000)
    }

    /// Renews expired ports; returns whether there were any.
    pub fn renew(&mut self, now: Nanos, rng: &mut Rng) -> bool {
        let mut some = false;
        // After a pause each is renewed at most once.
        for _ in 0..self.ports.len() {
            if now < self.next_renewal {
                return some;
            }
            let port = fresh(&self.ports, rng);
            if let Some(place) = self.ports.get_mut(self.oldest) {
                *place = port;
            }
            self.oldest = (self.oldest + 1) % self.ports.len();
            self.next_renewal = self.next_renewal + self.step;
            some = true;
        }
        self.next_renewal = self.next_renewal.max(now + self.step);
        some
    }

    /// The clock was set.
    pub fn stepped(&mut self, by: Nanos) {
        self.next_renewal = self.next_renewal + by;
    }
}

/// Draws a port that is not in `taken`.
fn fresh(taken: &[u16], rng: &mut Rng) -> u16 {
    loop {
        let port = source_port(rng.u32(..1 << 20));
        if !taken.contains(&port) {
            return port;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use proptest::prelude::*;

    #[test]
    fn every_label_gives_a_dynamic_port_and_each_port_has_64_labels() {
        let mut met = vec![0u32; 1 << 14];
        for label in 0..1 << 20 {
            met[usize::from(source_port(label) - 0xc000)] += 1;
        }
        assert!(met.iter().all(|count| *count == 64));
    }

    #[test]
    fn a_port_stays_for_exactly_one_period() {
        let mut rng = Rng::with_seed(1);
        let mut pool = Pool::new(4, Nanos(400), Nanos(0), &mut rng);
        let first = pool.ports().to_vec();
        assert!(!pool.renew(Nanos(99), &mut rng));
        assert_eq!(pool.ports(), first);
        for (renewed, now) in [100, 200, 300, 400].into_iter().enumerate() {
            assert!(pool.renew(Nanos(now), &mut rng));
            let kept = pool.ports().iter().filter(|port| first.contains(port)).count();
            assert_eq!(kept, 3 - renewed);
        }
    }

    proptest! {
        #[test]
        fn ports_of_a_pool_always_differ(
            seed: u64, size in 1usize..64, times in proptest::collection::vec(0i64..10_000, 0..20)
        ) {
            let mut rng = Rng::with_seed(seed);
            let mut pool = Pool::new(size, Nanos(1_000), Nanos(0), &mut rng);
            let mut now = Nanos(0);
            for time in times {
                now = now + Nanos(time);
                pool.renew(now, &mut rng);
                let mut ports = pool.ports().to_vec();
                prop_assert_eq!(pool.port(size as u16 - 1), ports[size - 1]);
                ports.sort_unstable();
                ports.dedup();
                prop_assert_eq!(ports.len(), size);
            }
        }
    }
}
