//! What a sender transmits again after a NAK: everything from there on, or only what is missing.

/// What a sender repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetransmissionScheme {
    Unknown,
    /// It transmits everything again from the PSN of the NAK on (IBTA volume 1, 9.7.5.1.1).
    GoBackN,
    /// It transmits only what was requested.
    SelectiveRepeat,
}

impl RetransmissionScheme {
    /// The name in rows.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::GoBackN => "go_back_n",
            Self::SelectiveRepeat => "selective_repeat",
        }
    }
}

/// The recoveries of a sender, by what followed the packet of the NAK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SenderRecoveries {
    went_back: u16,
    repeated_alone: u16,
}

impl SenderRecoveries {
    /// It transmitted packets again that were not requested.
    pub(crate) const fn went_back(&mut self) {
        self.went_back = self.went_back.saturating_add(1);
    }

    /// It transmitted what was requested, and continued with new packets although others were unacknowledged.
    pub(crate) const fn repeated_alone(&mut self) {
        self.repeated_alone = self.repeated_alone.saturating_add(1);
    }

    /// What it did more often.
    pub(crate) const fn scheme(self) -> RetransmissionScheme {
        if self.went_back > self.repeated_alone {
            RetransmissionScheme::GoBackN
        } else if self.repeated_alone > self.went_back {
            RetransmissionScheme::SelectiveRepeat
        } else {
            RetransmissionScheme::Unknown
        }
    }
}
