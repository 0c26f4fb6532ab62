//! What stands in the way of a capture, and the command that mends it.
//!
//! | module | what it looks at |
//! |---|---|
//! | `host` | kernel, capabilities, limits, clocks |
//! | `program` | what the XDP program costs here, and what `CAP_PERFMON` is worth |
//! | `port` | an interface: driver, queues, offloads, moderation |
//!
//! Nothing is changed, but for a program that is attached and detached at once where that is asked for.

mod host;
mod port;
mod program;

pub use host::host;
pub use port::port;
pub use program::program;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Ok,
    /// A capture works, and loses speed or truth by it.
    Warn,
    /// No capture, or one that is wrong.
    Fail,
}

impl Level {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The interface it is about, if it is.
    pub interface: Option<String>,
    /// What was looked at: `kernel`, `mtu`.
    pub topic: &'static str,
    /// How bad it is.
    pub level: Level,
    /// One sentence.
    pub says: String,
    /// The command that mends it.
    pub mend: Option<String>,
}

impl Finding {
    fn new(topic: &'static str, level: Level, says: impl Into<String>) -> Self {
        Self {
            interface: None,
            topic,
            level,
            says: says.into(),
            mend: None,
        }
    }

    fn ok(topic: &'static str, says: impl Into<String>) -> Self {
        Self::new(topic, Level::Ok, says)
    }

    fn warn(topic: &'static str, says: impl Into<String>) -> Self {
        Self::new(topic, Level::Warn, says)
    }

    fn fail(topic: &'static str, says: impl Into<String>) -> Self {
        Self::new(topic, Level::Fail, says)
    }

    fn mend(self, command: impl Into<String>) -> Self {
        Self {
            mend: Some(command.into()),
            ..self
        }
    }
}
