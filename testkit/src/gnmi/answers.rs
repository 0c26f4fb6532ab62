//! What a switch sends for a subscription: each value on its own, or a JSON document for each node that the path names.

use super::message::{Encoding, Notification, Path, PathElem, TypedValue, Update, Value};
use super::path::is_below;
use serde_json::{Map, Value as Json, json};

/// The notification with the values at or below a path.
pub(super) fn notification(values: &[(Path, Value)], top: &Path, encoding: Encoding, timestamp: i64) -> Notification {
    let below = values.iter().filter(|(path, _)| is_below(path, top));
    let update = match encoding {
        Encoding::Json | Encoding::JsonIetf => documents(below, top.elem.len(), encoding),
        _ => below
            .map(|(path, value)| Update {
                path: Some(path.clone()),
                val: Some(value.clone().into()),
                duplicates: 0,
            })
            .collect(),
    };
    Notification {
        timestamp,
        update,
        ..Notification::default()
    }
}

/// A document for each node at this depth.
fn documents<'a>(below: impl Iterator<Item = &'a (Path, Value)>, depth: usize, encoding: Encoding) -> Vec<Update> {
    let mut nodes: Vec<(Vec<PathElem>, Json)> = Vec::new();
    for (path, value) in below {
        let (top, rest) = path.elem.split_at(depth);
        let at = nodes.iter().position(|(node, _)| node == top).unwrap_or_else(|| {
            nodes.push((top.to_vec(), Json::Object(Map::new())));
            nodes.len() - 1
        });
        let mut node = &mut nodes[at].1;
        for PathElem { name, .. } in rest {
            if !node.is_object() {
                *node = Json::Object(Map::new());
            }
            node = node.as_object_mut().unwrap().entry(name.clone()).or_insert(Json::Null);
        }
        *node = scalar(value);
    }
    let update = |(elem, json): (Vec<PathElem>, Json)| {
        let text = json.to_string().into_bytes();
        let value = match encoding {
            Encoding::JsonIetf => Value::JsonIetfVal(text),
            _ => Value::JsonVal(text),
        };
        Update {
            path: Some(Path {
                elem,
                ..Path::default()
            }),
            val: Some(TypedValue::from(value)),
            duplicates: 0,
        }
    };
    nodes.into_iter().map(update).collect()
}

/// As RFC 7951 has it: numbers of 64 bits are texts.
fn scalar(value: &Value) -> Json {
    match value {
        Value::UintVal(value) => json!(value.to_string()),
        Value::IntVal(value) => json!(value.to_string()),
        Value::DoubleVal(value) => json!(value.to_string()),
        Value::BoolVal(is) => json!(is),
        Value::StringVal(text) => json!(text),
        other => panic!("{other:?} as JSON"),
    }
}
