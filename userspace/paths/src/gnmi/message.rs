//! Messages of gNMI that a subscriber needs, as version 0.10 defines them (openconfig/gnmi, `gnmi.proto`).
//!
//! What is left out here is skipped when it is read: extensions, models, and what gNMI had before version 0.4.

use std::collections::BTreeMap;

/// Reads the capabilities of a switch.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct CapabilityRequest {}

/// What a switch can do.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct CapabilityResponse {
    /// Numbers of [`Encoding`].
    #[prost(int32, repeated, tag = "2")]
    pub(super) supported_encodings: Vec<i32>,
    #[prost(string, tag = "3")]
    pub(super) version: String,
}

/// How values are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Json = 0,
    Proto = 2,
    JsonIetf = 4,
}

/// The message of a subscriber: the first has the list of what it subscribes to.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SubscribeRequest {
    #[prost(message, optional, tag = "1")]
    pub(super) subscribe: Option<SubscriptionList>,
}

/// Modes of a list.
pub(super) const STREAM: i32 = 0;
pub(super) const ONCE: i32 = 1;
/// The mode of a subscription: values are sent at an interval.
pub(super) const SAMPLE: i32 = 2;

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SubscriptionList {
    #[prost(message, optional, tag = "1")]
    pub(super) prefix: Option<Path>,
    #[prost(message, repeated, tag = "2")]
    pub(super) subscription: Vec<Subscription>,
    #[prost(int32, tag = "5")]
    pub(super) mode: i32,
    /// A number of [`Encoding`].
    #[prost(int32, tag = "8")]
    pub(super) encoding: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Subscription {
    #[prost(message, optional, tag = "1")]
    pub(super) path: Option<Path>,
    #[prost(int32, tag = "2")]
    pub(super) mode: i32,
    /// Nanoseconds.
    #[prost(uint64, tag = "3")]
    pub(super) sample_interval: u64,
}

/// The message of a switch.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SubscribeResponse {
    #[prost(oneof = "Answer", tags = "1, 3")]
    pub(super) answer: Option<Answer>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Answer {
    #[prost(message, tag = "1")]
    Update(Notification),
    /// All values were sent once.
    #[prost(bool, tag = "3")]
    Synchronized(bool),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Notification {
    /// Nanoseconds since 1970.
    #[prost(int64, tag = "1")]
    pub(super) timestamp: i64,
    #[prost(message, optional, tag = "2")]
    pub(super) prefix: Option<Path>,
    #[prost(message, repeated, tag = "4")]
    pub(super) update: Vec<Update>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Update {
    #[prost(message, optional, tag = "1")]
    pub(super) path: Option<Path>,
    #[prost(message, optional, tag = "3")]
    pub(super) val: Option<TypedValue>,
    /// Values that the switch did not send, because this one came before they could be sent.
    #[prost(uint32, tag = "4")]
    pub(super) duplicates: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Path {
    #[prost(string, tag = "2")]
    pub(super) origin: String,
    #[prost(message, repeated, tag = "3")]
    pub(super) elem: Vec<PathElem>,
    #[prost(string, tag = "4")]
    pub(super) target: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PathElem {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(btree_map = "string, string", tag = "2")]
    pub(super) key: BTreeMap<String, String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TypedValue {
    #[prost(oneof = "Value", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14")]
    pub(super) value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Value {
    #[prost(string, tag = "1")]
    String(String),
    #[prost(int64, tag = "2")]
    Int(i64),
    #[prost(uint64, tag = "3")]
    Uint(u64),
    #[prost(bool, tag = "4")]
    Bool(bool),
    #[prost(bytes = "vec", tag = "5")]
    Bytes(Vec<u8>),
    #[prost(float, tag = "6")]
    Float(f32),
    #[prost(message, tag = "7")]
    Decimal(Decimal64),
    #[prost(message, tag = "8")]
    LeafList(ScalarArray),
    /// A message of another protocol, whose type it names.
    #[prost(bytes = "vec", tag = "9")]
    Any(Vec<u8>),
    #[prost(bytes = "vec", tag = "10")]
    Json(Vec<u8>),
    #[prost(bytes = "vec", tag = "11")]
    JsonIetf(Vec<u8>),
    #[prost(string, tag = "12")]
    Ascii(String),
    #[prost(bytes = "vec", tag = "13")]
    Proto(Vec<u8>),
    #[prost(double, tag = "14")]
    Double(f64),
}

/// `digits` divided by ten to the power of `precision`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Decimal64 {
    #[prost(int64, tag = "1")]
    pub(super) digits: i64,
    #[prost(uint32, tag = "2")]
    pub(super) precision: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ScalarArray {
    #[prost(message, repeated, tag = "1")]
    pub(super) element: Vec<TypedValue>,
}
