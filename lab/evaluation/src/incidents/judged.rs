//! What was reported of planted faults.

use rocescope_diagnose::incidents::Incident;
use std::fmt;

/// A planted fault: its name, and whether an incident is it.
pub(crate) type Planted<'a> = (String, Box<dyn Fn(&Incident) -> bool + 'a>);

/// Something to run, with faults or without, and what is reported of it.
pub(crate) struct Run {
    pub(super) name: String,
    pub(super) judge: Box<dyn Fn() -> Judged + Send + Sync>,
}

impl Run {
    pub(crate) fn new(name: String, judge: impl Fn() -> Judged + Send + Sync + 'static) -> Self {
        Self {
            name,
            judge: Box::new(judge),
        }
    }
}

/// What was reported of the planted faults.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub(crate) planted: u64,
    pub(crate) right: u64,
    pub(crate) further: u64,
    pub(crate) wrong: Vec<String>,
}

impl Judged {
    /// Each fault must be one incident; all others are further ones.
    pub(crate) fn of(planted: &[Planted<'_>], mut left: Vec<Incident>) -> Self {
        let mut judged = Self {
            planted: planted.len() as u64,
            ..Self::default()
        };
        for (name, is_it) in planted {
            match left.iter().position(is_it) {
                Some(at) => {
                    left.remove(at);
                    judged.right += 1;
                }
                None => judged.wrong.push(format!("\n    not reported: {name}")),
            }
        }
        judged.further = left.len() as u64;
        let lines = left
            .iter()
            .map(|one| format!("\n    further: {} {}", one.class, one.sentence()));
        judged.wrong.extend(lines);
        judged
    }

    pub(crate) fn is_perfect(&self) -> bool {
        self.right == self.planted && self.further == 0
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.planted += other.planted;
        self.right += other.right;
        self.further += other.further;
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            planted,
            right,
            further,
            wrong,
        } = self;
        write!(f, "{right} of {planted} right, {further} further{}", wrong.concat())
    }
}
