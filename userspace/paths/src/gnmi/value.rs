//! The values in an update: scalars, lists of scalars, and JSON documents with many leaves.

use super::message::{Path, PathElem, TypedValue, Update, Value};
use super::pattern::Kind;
use super::tree::{Found, Tree};
use crate::switch::{Gauge, whole};
use serde_json::Value as Json;

/// A value of a leaf.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(String),
}

/// Takes the number of a leaf, what its placeholders stand for, and its value.
pub(super) type Each<'a> = dyn FnMut(usize, &Found, Scalar) + 'a;

/// Passes on the values of an update that the mapping has leaves for.
///
/// # Errors
/// Why the update cannot be read.
pub(super) fn read(
    tree: &Tree,
    prefix: Option<&Path>,
    update: &Update,
    each: &mut Each<'_>,
) -> Result<(), &'static str> {
    let mut found = Found::new();
    let mut at = Tree::ROOT;
    let paths = prefix.into_iter().chain(&update.path);
    for PathElem { name, key } in paths.flat_map(|path| &path.elem) {
        match tree.step(at, name, &|wanted| key.get(wanted).cloned(), &mut found) {
            Some(node) => at = node,
            None => return Ok(()),
        }
    }
    let value = update.val.as_ref().and_then(|val| val.value.as_ref());
    match value.ok_or("the update has no value")? {
        Value::Json(text) | Value::JsonIetf(text) => {
            let json: Json = serde_json::from_slice(text).map_err(|_| "the value is no JSON")?;
            document(tree, at, &json, &mut found, each);
        }
        Value::Any(_) | Value::Proto(_) | Value::Bytes(_) => {
            return Err("the value has an encoding that was not asked for");
        }
        Value::LeafList(list) => {
            if let Some(leaf) = tree.leaf(at) {
                lanes(list.element.iter().filter_map(scalar), leaf, &mut found, each);
            }
        }
        _ => {
            if let (Some(leaf), Some(value)) = (tree.leaf(at), update.val.as_ref().and_then(scalar)) {
                each(leaf, &found, value);
            }
        }
    }
    Ok(())
}

/// Lanes of a module, at most: those of today have 16.
const MAX_LANES: usize = 64;

/// Several values of a leaf: each is one of a lane.
fn lanes(values: impl Iterator<Item = Scalar>, leaf: usize, found: &mut Found, each: &mut Each<'_>) {
    for (lane, value) in values.take(MAX_LANES).enumerate() {
        found.push((Kind::Other, lane.to_string()));
        each(leaf, found, value);
        found.pop();
    }
}

/// The leaves of a JSON document at a node.
fn document(tree: &Tree, at: usize, json: &Json, found: &mut Found, each: &mut Each<'_>) {
    match json {
        Json::Object(members) => {
            for (name, member) in members {
                // The entries of a list have their keys as members.
                let entries = match member {
                    Json::Array(entries) if entries.iter().any(Json::is_object) => entries.as_slice(),
                    _ => std::slice::from_ref(member),
                };
                for entry in entries {
                    let before = found.len();
                    if let Some(node) = tree.step(at, name, &|wanted| key(entry, wanted), found) {
                        document(tree, node, entry, found, each);
                    }
                    found.truncate(before);
                }
            }
        }
        Json::Array(values) => {
            if let Some(leaf) = tree.leaf(at) {
                lanes(values.iter().filter_map(json_scalar), leaf, found, each);
            }
        }
        _ => {
            if let (Some(leaf), Some(value)) = (tree.leaf(at), json_scalar(json)) {
                each(leaf, found, value);
            }
        }
    }
}

/// The value of a key in an entry of a list.
fn key(entry: &Json, wanted: &str) -> Option<String> {
    let members = entry.as_object()?;
    let is_wanted = |name: &str| name.split_once(':').is_some_and(|(_, name)| name == wanted);
    let with_module = || members.iter().find(|(name, _)| is_wanted(name)).map(|(_, value)| value);
    match members.get(wanted).or_else(with_module)? {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        Json::Bool(is) => Some(is.to_string()),
        _ => None,
    }
}

fn json_scalar(json: &Json) -> Option<Scalar> {
    match json {
        Json::String(text) => Some(Scalar::of(text)),
        Json::Bool(is) => Some(Scalar::Bool(*is)),
        Json::Number(number) => {
            let whole = number.as_u64().map(Scalar::Unsigned);
            let negative = || number.as_i64().map(Scalar::Signed);
            whole.or_else(negative).or_else(|| number.as_f64().map(Scalar::Float))
        }
        _ => None,
    }
}

fn scalar(value: &TypedValue) -> Option<Scalar> {
    Some(match value.value.as_ref()? {
        Value::String(text) | Value::Ascii(text) => Scalar::of(text),
        Value::Int(value) => Scalar::Signed(*value),
        Value::Uint(value) => Scalar::Unsigned(*value),
        Value::Bool(is) => Scalar::Bool(*is),
        Value::Float(value) => Scalar::of(&value.to_string()),
        Value::Double(value) => Scalar::Float(*value),
        Value::Decimal(decimal) => Scalar::of(&format!("{}e-{}", decimal.digits, decimal.precision)),
        _ => return None,
    })
}

impl Scalar {
    /// A text, which may be a number: JSON has those of 64 bits, and decimal ones, as texts (RFC 7951).
    fn of(text: &str) -> Self {
        let unsigned = text.parse().ok().map(Self::Unsigned);
        let signed = || text.parse().ok().map(Self::Signed);
        let float = || text.parse().ok().map(Self::Float);
        let other = || Self::Text(text.to_owned());
        unsigned.or_else(signed).or_else(float).unwrap_or_else(other)
    }

    /// It as a text.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Unsigned(value) => value.to_string(),
            Self::Signed(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Bool(is) => is.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// It as the value of a counter, multiplied.
    pub(super) fn count(&self, scale: f64) -> Result<u64, &'static str> {
        let value = match self {
            Self::Unsigned(value) if scale == 1.0 => return Ok(*value),
            Self::Signed(value) if scale == 1.0 => {
                return u64::try_from(*value).map_err(|_| "the value of a counter is negative");
            }
            other => other.number()? * scale,
        };
        whole(value).ok_or("the value of a counter is negative")
    }

    #[expect(clippy::cast_precision_loss, reason = "only counters are exact above 2^53")]
    fn number(&self) -> Result<f64, &'static str> {
        let value = match self {
            Self::Unsigned(value) => *value as f64,
            Self::Signed(value) => *value as f64,
            Self::Float(value) => *value,
            Self::Bool(is) => f64::from(u8::from(*is)),
            Self::Text(_) => return Err(NO_NUMBER),
        };
        value.is_finite().then_some(value).ok_or(NO_NUMBER)
    }

    /// It as the value of a gauge, multiplied: names of states and speeds are values too.
    pub(super) fn gauge(&self, gauge: Gauge, scale: f64) -> Result<f64, &'static str> {
        let Self::Text(text) = self else {
            return Ok(self.number()? * scale);
        };
        let name = text.rsplit_once(':').map_or(text.as_str(), |(_, name)| name);
        match gauge {
            Gauge::Up => Ok(f64::from(u8::from(name.eq_ignore_ascii_case("up")))),
            Gauge::Speed => speed(name).ok_or(NO_NUMBER),
            _ => Err(NO_NUMBER),
        }
    }
}

const NO_NUMBER: &str = "the value is no number";

/// Bit/s of a speed as OpenConfig names it: `SPEED_400GB`, `SPEED_10MB`.
fn speed(name: &str) -> Option<f64> {
    let name = name.strip_prefix("SPEED_")?;
    let (digits, unit) = name.split_at(name.find(|c: char| !c.is_ascii_digit())?);
    let unit = match unit {
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return None,
    };
    Some(f64::from(digits.parse::<u32>().ok()?) * unit)
}

#[cfg(test)]
mod tests {
    use super::{Scalar, speed};
    use crate::switch::Gauge;

    #[test]
    fn texts_are_numbers_states_and_speeds() {
        assert_eq!(Scalar::of("18446744073709551615").count(1.0), Ok(u64::MAX));
        assert_eq!(Scalar::of("-1").count(1.0), Err("the value of a counter is negative"));
        assert_eq!(Scalar::of("7").count(1_000.0), Ok(7_000));
        assert_eq!(Scalar::of("-2.50").gauge(Gauge::RxPower, 1.0), Ok(-2.5));
        assert_eq!(Scalar::of("-250e-2"), Scalar::Float(-2.5));
        assert_eq!(Scalar::of("x:UP").gauge(Gauge::Up, 1.0), Ok(1.0));
        assert_eq!(Scalar::of("LOWER_LAYER_DOWN").gauge(Gauge::Up, 1.0), Ok(0.0));
        assert_eq!(
            Scalar::of("UP").gauge(Gauge::RxPower, 1.0),
            Err("the value is no number")
        );
        assert_eq!(
            Scalar::of("-inf").gauge(Gauge::RxPower, 1.0),
            Err("the value is no number")
        );
        assert_eq!(speed("SPEED_1600GB"), Some(1.6e12));
        assert_eq!(speed("SPEED_UNKNOWN"), None);
    }
}
