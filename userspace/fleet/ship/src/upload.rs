//! One segment to the store: created there once and compared; only those of rollups are overwritten.

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use std::fmt;

/// How a segment came to be in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Came {
    /// It was copied now.
    Copied,
    /// It was there before, with the same bytes: a run that was killed had copied it.
    WasThere,
}

/// Why a segment is not in the store.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The store refused, or could not be reached.
    Store(Error),
    /// The store has other bytes under its name.
    Differs,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => f.write_str(error.to_string().lines().next().unwrap_or_default()),
            Self::Differs => f.write_str("the store has other bytes under this name"),
        }
    }
}

impl Failure {
    /// Whether another try may succeed. A store that refuses the credentials may accept them later, but an object of the
    /// same name stays.
    pub(crate) const fn may_pass(&self) -> bool {
        matches!(self, Self::Store(_))
    }
}

/// Copies the bytes of a segment, unless the store has them, and reads them back: the store has them when this returns. Other
/// bytes under its name stay unless they may be replaced.
///
/// # Errors
/// [`Failure`]; the store then has the segment as a whole, or not at all.
pub(crate) async fn upload(
    store: &dyn ObjectStore,
    to: &Path,
    bytes: &Bytes,
    may_replace: bool,
) -> Result<Came, Failure> {
    let put = async |mode| {
        let payload = PutPayload::from_bytes(bytes.clone());
        store.put_opts(to, payload, PutOptions::from(mode)).await
    };
    let mut came = match put(PutMode::Create).await {
        Ok(_) => Came::Copied,
        Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Came::WasThere,
        Err(error) => return Err(Failure::Store(error)),
    };
    let is_there = async || equals(store, to, bytes).await.map_err(Failure::Store);
    let mut is_equal = is_there().await?;
    if !is_equal && may_replace {
        put(PutMode::Overwrite).await.map_err(Failure::Store)?;
        came = Came::Copied;
        is_equal = is_there().await?;
    }
    match is_equal {
        true => Ok(came),
        false => Err(Failure::Differs),
    }
}

/// Whether the object has exactly these bytes.
async fn equals(store: &dyn ObjectStore, object: &Path, bytes: &[u8]) -> Result<bool, Error> {
    let mut parts = store.get(object).await?.into_stream();
    let mut rest = bytes;
    while let Some(part) = parts.next().await {
        match rest.strip_prefix(&part?[..]) {
            Some(left) => rest = left,
            None => return Ok(false),
        }
    }
    Ok(rest.is_empty())
}
