//! The result of a check.

/// The severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing to fix.
    Ok,
    /// A capture works, but slower or less exactly.
    Warn,
    /// A capture fails or gives wrong results.
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

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The interface, for a check of an interface.
    pub interface: Option<String>,
    /// What was checked: `kernel`, `mtu`.
    pub topic: &'static str,
    /// The severity.
    pub level: Level,
    /// One sentence, for an operator.
    pub message: String,
    /// The command that fixes it.
    pub remedy: Option<String>,
}

impl Finding {
    fn new(topic: &'static str, level: Level, message: impl Into<String>) -> Self {
        Self {
            interface: None,
            topic,
            level,
            message: message.into(),
            remedy: None,
        }
    }

    /// Nothing to fix.
    #[must_use]
    pub fn ok(topic: &'static str, message: impl Into<String>) -> Self {
        Self::new(topic, Level::Ok, message)
    }

    /// A capture works, but slower or less exactly.
    #[must_use]
    pub fn warn(topic: &'static str, message: impl Into<String>) -> Self {
        Self::new(topic, Level::Warn, message)
    }

    /// A capture fails or gives wrong results.
    #[must_use]
    pub fn fail(topic: &'static str, message: impl Into<String>) -> Self {
        Self::new(topic, Level::Fail, message)
    }

    /// Adds the command that fixes it.
    #[must_use]
    pub fn remedy(self, command: impl Into<String>) -> Self {
        Self {
            remedy: Some(command.into()),
            ..self
        }
    }
}
