//! A string that is cheap to clone: the rows of one window repeat the same names thousands of times.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

/// A name in a row: static, or shared by all rows that contain it. Cloning never copies the characters.
///
/// ```
/// use rocescope_model::Text;
///
/// let observer: Text = String::from("rail-3").into();
/// assert_eq!(&*observer.clone(), "rail-3");
/// ```
#[derive(Clone)]
pub struct Text(Repr);

#[derive(Clone)]
enum Repr {
    Static(&'static str),
    Shared(Arc<str>),
}

impl Text {
    /// Creates a `Text` from a static name.
    #[must_use]
    pub const fn from_static(name: &'static str) -> Self {
        Self(Repr::Static(name))
    }

    /// Returns the characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Static(name) => name,
            Repr::Shared(name) => name,
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::from_static("")
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<&'static str> for Text {
    fn from(name: &'static str) -> Self {
        Self::from_static(name)
    }
}

impl From<String> for Text {
    fn from(name: String) -> Self {
        Self(Repr::Shared(name.into()))
    }
}

impl From<Arc<str>> for Text {
    fn from(name: Arc<str>) -> Self {
        Self(Repr::Shared(name))
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        str::hash(self, state);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
