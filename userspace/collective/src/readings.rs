//! How the rules of the paper are read where its text leaves a choice.

/// The weight between a paused port and the port that it waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shares {
    /// Part of the traffic into the downstream port that comes from the paused port.
    #[default]
    Downstream,
    /// As printed: the sum, over the ports that send to the downstream port, of the paused port's traffic divided by theirs.
    Printed,
    /// Part of the paused port's traffic that goes to the downstream port.
    Upstream,
}

/// What spreads to a port that waits for several others, in equation 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Spread {
    /// The sum.
    #[default]
    Sum,
    /// The largest.
    Max,
}

/// The weight of a step in equation 3.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Excess {
    /// How much longer it took than expected; 0 if it was faster.
    #[default]
    Clipped,
    /// The same, negative if it was faster.
    Signed,
    /// How long it took.
    Execution,
}

/// Which epochs of a report count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Epochs {
    /// The current one and the one before, each once, whatever the number of reports about it.
    #[default]
    Both,
    /// Only the current one.
    Current,
}

/// All choices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Readings {
    /// Weights between ports.
    pub shares: Shares,
    /// Equation 1.
    pub spread: Spread,
    /// Equation 3.
    pub excess: Excess,
    /// Epochs.
    pub epochs: Epochs,
}

impl Readings {
    /// Every choice as `NAME=VALUE`; the first value of a name is the default.
    pub const NAMES: [&str; 10] = [
        "shares=downstream",
        "shares=printed",
        "shares=upstream",
        "spread=sum",
        "spread=max",
        "excess=clipped",
        "excess=signed",
        "excess=execution",
        "epochs=both",
        "epochs=current",
    ];

    /// Changes the choice of this name; `None` if there is none.
    #[must_use]
    pub fn with(mut self, choice: &str) -> Option<Self> {
        match choice {
            "shares=downstream" => self.shares = Shares::Downstream,
            "shares=printed" => self.shares = Shares::Printed,
            "shares=upstream" => self.shares = Shares::Upstream,
            "spread=sum" => self.spread = Spread::Sum,
            "spread=max" => self.spread = Spread::Max,
            "excess=clipped" => self.excess = Excess::Clipped,
            "excess=signed" => self.excess = Excess::Signed,
            "excess=execution" => self.excess = Excess::Execution,
            "epochs=both" => self.epochs = Epochs::Both,
            "epochs=current" => self.epochs = Epochs::Current,
            _ => return None,
        }
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Readings;

    #[test]
    fn every_name_is_a_choice_and_the_first_of_each_is_the_default() {
        let mut seen = std::vec::Vec::new();
        for name in Readings::NAMES {
            let changed = Readings::default().with(name).unwrap();
            let first = name.split('=').next().unwrap();
            assert_eq!(changed == Readings::default(), !seen.contains(&first), "{name}");
            seen.push(first);
        }
        assert_eq!(Readings::default().with("shares=all"), None);
    }
}
