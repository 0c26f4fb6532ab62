//! Where a dataset is: a directory, or a prefix in an object store, with the credentials in the environment.

use object_store::local::LocalFileSystem;
use object_store::{ObjectStore, parse_url_opts};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::{env, fmt, io};
use url::Url;

pub use object_store::path::Path;

/// A directory or a prefix in an object store.
#[derive(Clone)]
pub struct Place {
    /// Its address; ends in `/`.
    pub url: Url,
    /// The store that holds it.
    pub store: Arc<dyn ObjectStore>,
    /// The prefix of its objects in the store.
    pub prefix: Path,
    /// The directory, if it is one.
    pub directory: Option<PathBuf>,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.url.as_str()).finish()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.directory {
            Some(directory) => directory.display().fmt(f),
            None => self.url.as_str().trim_end_matches('/').fmt(f),
        }
    }
}

impl Place {
    /// Opens a directory that exists, or `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX`, `az://CONTAINER/PREFIX`. Nothing is
    /// sent yet.
    ///
    /// # Errors
    /// The directory does not exist; the address has another scheme, or its store lacks a setting.
    pub fn open(text: &str) -> Result<Self, Error> {
        match text.split_once("://") {
            Some(("file", path)) => Self::directory(FilePath::new(path)),
            Some(_) => Self::prefix(text),
            None => Self::directory(FilePath::new(text)),
        }
    }

    fn directory(root: &FilePath) -> Result<Self, Error> {
        let shown = || root.display().to_string();
        let directory = root.canonicalize().map_err(|error| Error::Directory(shown(), error))?;
        if !directory.is_dir() {
            return Err(Error::NoDirectory(shown()));
        }
        let url = Url::from_directory_path(&directory).map_err(|()| Error::NoDirectory(shown()))?;
        Ok(Self {
            url,
            store: Arc::new(LocalFileSystem::new()),
            prefix: Path::from_absolute_path(&directory).map_err(|error| Error::Store(shown(), error.into()))?,
            directory: Some(directory),
        })
    }

    fn prefix(text: &str) -> Result<Self, Error> {
        let mut url = Url::parse(text).map_err(|error| Error::Address(text.to_owned(), error))?;
        if !url.path().ends_with('/') {
            let path = format!("{}/", url.path());
            url.set_path(&path);
        }
        // Names such as AWS_ACCESS_KEY_ID; a store ignores those of others.
        let settings = env::vars().map(|(name, value)| (name.to_ascii_lowercase(), value));
        let (store, prefix) = parse_url_opts(&url, settings).map_err(|error| Error::Store(text.to_owned(), error))?;
        Ok(Self {
            url,
            store: Arc::from(store),
            prefix,
            directory: None,
        })
    }
}

/// Why a place cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory cannot be read.
    #[error("{0}: {1}")]
    Directory(String, io::Error),
    /// It is a file.
    #[error("{0} is no directory")]
    NoDirectory(String),
    /// The text is no address.
    #[error("{0}: {1}")]
    Address(String, url::ParseError),
    /// The scheme is unknown, or the store lacks a setting.
    #[error("{0}: {1}")]
    Store(String, object_store::Error),
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn directories_and_addresses_end_in_a_slash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let place = Place::open(path).unwrap();
        assert_eq!(
            place.to_string(),
            folder.path().canonicalize().unwrap().to_str().unwrap()
        );
        assert!(place.url.as_str().ends_with('/'));
        let bucket = Place::open("s3://fabric/rail3").unwrap();
        assert_eq!(bucket.url.as_str(), "s3://fabric/rail3/");
        assert_eq!(bucket.prefix.as_ref(), "rail3");
        assert_eq!(bucket.to_string(), "s3://fabric/rail3");
    }

    #[test]
    fn wrong_places_are_one_line() {
        for wrong in ["/nowhere", "/dev/null", "ftp://host/x", "s3:///"] {
            let error = Place::open(wrong).unwrap_err().to_string();
            assert!(error.contains(wrong) && error.lines().count() == 1, "{error}");
        }
    }
}
