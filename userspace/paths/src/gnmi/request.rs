//! What a switch is asked: first what it can do, then for each subscription on its own, so that one that it does not serve
//! leaves the others.

use super::mapping::Mapping;
use super::message::{
    CapabilityRequest, CapabilityResponse, Encoding, ONCE, Path, SAMPLE, STREAM, SubscribeRequest, Subscription,
    SubscriptionList,
};
use super::pattern;
use prost::Message;
use std::time::Duration;

/// The method that reports what a switch can do.
pub const CAPABILITIES: &str = "/gnmi.gNMI/Capabilities";
/// The method that subscribes.
pub const SUBSCRIBE: &str = "/gnmi.gNMI/Subscribe";

/// The question for [`CAPABILITIES`].
#[must_use]
pub fn capabilities() -> Vec<u8> {
    CapabilityRequest {}.encode_to_vec()
}

/// The subscriptions of mappings.
#[derive(Debug, Clone)]
pub struct Requests {
    mappings: Vec<Mapping>,
    /// `None`: values are asked for once.
    interval: Option<Duration>,
}

impl Requests {
    /// Subscribes to values at an interval; without one, they are asked for once.
    #[must_use]
    pub const fn new(mappings: Vec<Mapping>, interval: Option<Duration>) -> Self {
        Self { mappings, interval }
    }

    /// The path of each request, in the order of [`messages`](Self::messages).
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let subscriptions = self.mappings.iter().flat_map(|mapping| &mapping.subscriptions);
        subscriptions.map(|(path, _)| path.as_str())
    }

    pub(super) fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    /// The place of the mapping of each request.
    pub(super) fn places(&self) -> Vec<usize> {
        let places = self.mappings.iter().enumerate();
        places
            .flat_map(|(at, mapping)| vec![at; mapping.subscriptions.len()])
            .collect()
    }

    /// The messages for [`SUBSCRIBE`], as the answer to [`capabilities`] has it: `None` if the switch does not know the
    /// question.
    ///
    /// # Errors
    /// The answer is none, or the switch has none of the encodings.
    pub fn messages(&self, answer: Option<&[u8]>) -> Result<Vec<Vec<u8>>, String> {
        let known = answer.map(CapabilityResponse::decode).transpose();
        let known = known.map_err(|error| format!("no answer about capabilities: {error}"))?;
        let mut messages = Vec::new();
        for mapping in &self.mappings {
            let encoding = encoding(known.as_ref(), mapping.encoding)?;
            messages.extend(mapping.subscriptions.iter().map(|(_, path)| {
                let subscription = Subscription {
                    path: Some(pattern::asked(path)),
                    mode: SAMPLE,
                    sample_interval: self.interval.map_or(0, nanoseconds),
                };
                let list = SubscriptionList {
                    prefix: (!mapping.target.is_empty()).then(|| Path {
                        target: mapping.target.clone(),
                        ..Path::default()
                    }),
                    subscription: vec![subscription],
                    mode: if self.interval.is_some() { STREAM } else { ONCE },
                    encoding: encoding as i32,
                };
                SubscribeRequest { subscribe: Some(list) }.encode_to_vec()
            }));
        }
        Ok(messages)
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The wanted encoding if the switch has it, otherwise the first that it has: scalars need the least reading.
fn encoding(known: Option<&CapabilityResponse>, wanted: Option<Encoding>) -> Result<Encoding, String> {
    let Some(known) = known else {
        return Ok(wanted.unwrap_or(Encoding::JsonIetf));
    };
    let has = |encoding: &Encoding| known.supported_encodings.contains(&(*encoding as i32));
    let mut candidates = wanted
        .into_iter()
        .chain([Encoding::Proto, Encoding::JsonIetf, Encoding::Json]);
    candidates.find(has).ok_or_else(|| {
        format!(
            "gNMI {} of the switch has neither PROTO nor JSON_IETF nor JSON",
            known.version
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{CapabilityResponse, Encoding, encoding};

    #[test]
    fn the_encoding_is_one_that_the_switch_has() {
        let with = |encodings: &[Encoding]| CapabilityResponse {
            supported_encodings: encodings.iter().map(|encoding| *encoding as i32).collect(),
            version: "0.10.0".into(),
        };
        use Encoding::{Json, JsonIetf, Proto};
        let all = with(&[Json, JsonIetf, Proto]);
        assert_eq!(encoding(Some(&all), None), Ok(Proto));
        assert_eq!(encoding(Some(&all), Some(JsonIetf)), Ok(JsonIetf));
        assert_eq!(encoding(Some(&with(&[Json])), Some(JsonIetf)), Ok(Json));
        assert_eq!(encoding(None, None), Ok(JsonIetf));
        assert!(encoding(Some(&with(&[])), None).unwrap_err().contains("gNMI 0.10.0"));
    }
}
