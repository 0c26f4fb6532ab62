//! Parameters that must be equal in all datasets, read from the footers of their segments.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::footer;

/// Keys whose values must be equal.
const EQUAL: [&str; 6] = [
    footer::WINDOW_NS,
    footer::ELEPHANT_BPS,
    footer::FLOW_HASH_SEED,
    footer::LINEAR_COUNTING_BITS,
    footer::COUNT_MIN_DEPTH,
    footer::COUNT_MIN_WIDTH,
];

/// The parameters of a segment, or of several that agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    values: [Option<String>; EQUAL.len()],
    conservative: bool,
}

/// Two segments were made with different parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} is {theirs} in one dataset and {ours} in another: only datasets with equal values can be merged")]
pub struct Differs {
    /// The footer's key.
    pub key: &'static str,
    /// Its value in the datasets read before.
    pub ours: String,
    /// Its value in the dataset to add.
    pub theirs: String,
}

impl Parameters {
    /// The parameters in a footer.
    pub fn of<'a>(footer: impl Fn(&str) -> Option<&'a str>) -> Self {
        Self {
            values: EQUAL.map(|key| footer(key).map(ToString::to_string)),
            conservative: footer(footer::COUNT_MIN_CONSERVATIVE) == Some("true"),
        }
    }

    /// Adds the parameters of another segment. Count-Min tables with conservative update do merge, to an upper bound;
    /// the result is conservative.
    ///
    /// # Errors
    /// [`Differs`] names the first parameter that differs.
    pub fn join(&mut self, other: &Self) -> Result<(), Differs> {
        let both = self.values.iter().zip(&other.values);
        for (key, (ours, theirs)) in EQUAL.iter().zip(both) {
            if ours != theirs {
                let text = |value: &Option<String>| value.as_deref().unwrap_or("unknown").into();
                return Err(Differs {
                    key,
                    ours: text(ours),
                    theirs: text(theirs),
                });
            }
        }
        self.conservative |= other.conservative;
        Ok(())
    }

    /// The elephant threshold; infinite if there is none.
    #[must_use]
    pub fn elephant_bps(&self) -> f64 {
        let [_, elephant, ..] = &self.values;
        let value = elephant.as_ref().and_then(|value| value.parse().ok());
        value.unwrap_or(f64::INFINITY)
    }

    /// The footer of the merged dataset.
    #[must_use]
    pub fn footer(&self) -> Vec<(String, String)> {
        let known = EQUAL.iter().zip(&self.values);
        let mut pairs: Vec<(String, String)> = known
            .filter_map(|(key, value)| Some(((*key).into(), value.clone()?)))
            .collect();
        let conservative = self.conservative.to_string();
        pairs.push((footer::COUNT_MIN_CONSERVATIVE.into(), conservative));
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::Parameters;
    use alloc::string::ToString;
    use rocescope_model::footer;

    fn parameters(width: &'static str, conservative: &'static str) -> Parameters {
        Parameters::of(move |key| match key {
            footer::COUNT_MIN_WIDTH => Some(width),
            footer::COUNT_MIN_CONSERVATIVE => Some(conservative),
            footer::ELEPHANT_BPS => Some("5000000"),
            _ => None,
        })
    }

    #[test]
    fn conservative_tables_merge_and_are_marked() {
        let mut joined = parameters("64", "false");
        joined.join(&parameters("64", "true")).unwrap();
        let conservative = (footer::COUNT_MIN_CONSERVATIVE.into(), "true".into());
        assert!(joined.footer().contains(&conservative));
        assert_eq!(joined.elephant_bps(), 5e6);
    }

    #[test]
    fn other_parameters_are_named() {
        let error = parameters("64", "false").join(&parameters("65", "false"));
        assert_eq!(
            error.unwrap_err().to_string(),
            "rocescope.count_min.width is 65 in one dataset and 64 in another: only datasets with equal values can be merged"
        );
    }
}
