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
    pub message: String,
    /// The command that mends it.
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

    /// As it should be.
    #[must_use]
    pub fn ok(topic: &'static str, message: impl Into<String>) -> Self {
        Self::new(topic, Level::Ok, message)
    }

    /// A capture works, with less speed or truth.
    #[must_use]
    pub fn warn(topic: &'static str, message: impl Into<String>) -> Self {
        Self::new(topic, Level::Warn, message)
    }

    /// No capture, or a wrong one.
    #[must_use]
    pub fn fail(topic: &'static str, message: impl Into<String>) -> Self {
        Self::new(topic, Level::Fail, message)
    }

    /// With the command that fixes it.
    #[must_use]
    pub fn remedy(self, command: impl Into<String>) -> Self {
        Self {
            remedy: Some(command.into()),
            ..self
        }
    }
}
