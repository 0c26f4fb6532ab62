//! Big-endian words of datagrams.

/// Why a datagram cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    Short,
    Version,
    AgentAddress,
    SampleLength,
    RecordLength,
    HeaderLength,
}

impl Unreadable {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Version => "version",
            Self::AgentAddress => "agent_address",
            Self::SampleLength => "sample_length",
            Self::RecordLength => "record_length",
            Self::HeaderLength => "header_length",
        }
    }
}

/// Big-endian words of a slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'a>(pub(super) &'a [u8]);

impl<'a> Words<'a> {
    pub(super) fn word(&mut self) -> Result<u32, Unreadable> {
        let (word, rest) = self.0.split_first_chunk().ok_or(Unreadable::Short)?;
        self.0 = rest;
        Ok(u32::from_be_bytes(*word))
    }

    pub(super) fn skip(&mut self, words: usize) -> Result<(), Unreadable> {
        self.0 = self.0.get(words * 4..).ok_or(Unreadable::Short)?;
        Ok(())
    }

    /// The next two words.
    pub(super) fn long(&mut self) -> Result<u64, Unreadable> {
        Ok(u64::from(self.word()?) << 32 | u64::from(self.word()?))
    }

    /// The next text: its length, its bytes, and bytes up to the next word.
    pub(super) fn text(&mut self) -> Result<&'a [u8], Unreadable> {
        let length = self.word()?;
        let text = self.bytes(length, Unreadable::Short)?;
        // The last text of a record may lack its filling.
        let filling = length.wrapping_neg() % 4;
        if let Some(rest) = self.0.get(filling as usize..) {
            self.0 = rest;
        }
        Ok(text)
    }

    /// The next bytes, for which `or` names a wrong length.
    pub(super) fn bytes(&mut self, length: u32, or: Unreadable) -> Result<&'a [u8], Unreadable> {
        let length = usize::try_from(length).map_err(|_| or)?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(or)?;
        self.0 = rest;
        Ok(bytes)
    }
}
