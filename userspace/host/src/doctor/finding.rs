//! A result of a check.

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

    /// As it should be.
    #[must_use]
    pub fn ok(topic: &'static str, says: impl Into<String>) -> Self {
        Self::new(topic, Level::Ok, says)
    }

    /// A capture works, with less speed or truth.
    #[must_use]
    pub fn warn(topic: &'static str, says: impl Into<String>) -> Self {
        Self::new(topic, Level::Warn, says)
    }

    /// No capture, or a wrong one.
    #[must_use]
    pub fn fail(topic: &'static str, says: impl Into<String>) -> Self {
        Self::new(topic, Level::Fail, says)
    }

    /// With the command that fixes it.
    #[must_use]
    pub fn mend(self, command: impl Into<String>) -> Self {
        Self {
            mend: Some(command.into()),
            ..self
        }
    }
}
