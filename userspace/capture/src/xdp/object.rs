//! The embedded object, and its programs and maps by name.

use super::error::Error;
use aya::Ebpf;
use aya::maps::Map;
use aya::programs::Xdp;

/// The object that `cargo xtask ebpf` built.
pub static OBJECT: &[u8] = aya::include_bytes_aligned!("../../../../ebpf/rocescope.bpf.o");

/// Environment variable that names another object for the tests.
pub const OBJECT_VARIABLE: &str = "ROCESCOPE_OBJECT";

pub(super) const PROGRAM: &str = "rocescope";
pub(super) const FLUSH: &str = "rocescope_flush";

pub(super) fn program_mut<'a>(programs: &'a mut Ebpf, name: &'static str) -> Result<&'a mut Xdp, Error> {
    let program = programs.program_mut(name).ok_or(Error::Missing(name))?;
    Ok(program.try_into()?)
}

pub(super) fn take<M: TryFrom<Map>>(programs: &mut Ebpf, name: &'static str) -> Result<M, Error>
where
    Error: From<M::Error>,
{
    let map = programs.take_map(name).ok_or(Error::Missing(name))?;
    Ok(map.try_into()?)
}

/// Calls `use_it` with a copy of `object` that is aligned for the loader.
pub(super) fn aligned<T>(object: &[u8], use_it: impl FnOnce(&[u8]) -> Result<T, Error>) -> Result<T, Error> {
    let mut words = vec![0u64; object.len().div_ceil(8)];
    let bytes = bytemuck::cast_slice_mut::<u64, u8>(&mut words);
    let (bytes, _) = bytes.split_at_mut(object.len());
    bytes.copy_from_slice(object);
    use_it(bytes)
}
