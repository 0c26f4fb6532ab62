//! Merges the mirror sessions that the CPUs have seen.

use super::error::Error;
use super::object::take;
use aya::maps::{MapData, PerCpuArray};
use rocescope_record::mirror::{self, SETS, Session, SessionSet};

#[derive(Clone, Copy)]
#[repr(transparent)]
struct SetValue(SessionSet);
// SAFETY: `Session` is `bytemuck::Pod`, which is stricter.
unsafe impl aya::Pod for SetValue {}

/// The map of the kernel's program.
pub(super) struct Mirrors(PerCpuArray<MapData, SetValue>);

impl Mirrors {
    pub(super) fn new(programs: &mut aya::Ebpf) -> Result<Self, Error> {
        take(programs, "MIRRORS").map(Self)
    }

    /// Frames that mirrors numbered and that never arrived. During a capture the count may lag, but is
    /// never too high: the numbers are read before the counts.
    pub(super) fn lost(&self) -> Result<u64, Error> {
        let earlier = self.read()?;
        let mut parts: Vec<Session> = self
            .read()?
            .iter()
            .zip(&earlier)
            .filter(|(_, earlier)| !earlier.is_free())
            .map(|(now, earlier)| now.with_numbers_of(earlier))
            .collect();
        parts.sort_by_key(Session::key);
        let sessions = parts.chunk_by(|a, b| a.key() == b.key());
        Ok(sessions.map(|parts| mirror::lost(parts.iter())).sum())
    }

    /// All slots of all CPUs, always in the same order.
    fn read(&self) -> Result<Vec<Session>, Error> {
        let mut sessions = Vec::new();
        for at in 0..SETS as u32 {
            for set in self.0.get(&at, 0)?.iter() {
                sessions.extend(set.0);
            }
        }
        Ok(sessions)
    }
}
