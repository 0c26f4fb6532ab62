//! Messages of gNMI 0.10 (openconfig/gnmi, `gnmi.proto`): those of Capabilities and Subscribe.
#![expect(missing_docs, reason = "the specification names and explains them")]

use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum Encoding {
    Json = 0,
    Bytes = 1,
    Proto = 2,
    Ascii = 3,
    JsonIetf = 4,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CapabilityRequest {}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ModelData {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub organization: String,
    #[prost(string, tag = "3")]
    pub version: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CapabilityResponse {
    #[prost(message, repeated, tag = "1")]
    pub supported_models: Vec<ModelData>,
    #[prost(enumeration = "Encoding", repeated, tag = "2")]
    pub supported_encodings: Vec<i32>,
    #[prost(string, tag = "3")]
    pub gnmi_version: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct PathElem {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(map = "string, string", tag = "2")]
    pub key: HashMap<String, String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Path {
    #[prost(string, tag = "2")]
    pub origin: String,
    #[prost(message, repeated, tag = "3")]
    pub elem: Vec<PathElem>,
    #[prost(string, tag = "4")]
    pub target: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum ListMode {
    Stream = 0,
    Once = 1,
    Poll = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum SubscriptionMode {
    TargetDefined = 0,
    OnChange = 1,
    Sample = 2,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Subscription {
    #[prost(message, optional, tag = "1")]
    pub path: Option<Path>,
    #[prost(enumeration = "SubscriptionMode", tag = "2")]
    pub mode: i32,
    #[prost(uint64, tag = "3")]
    pub sample_interval: u64,
    #[prost(bool, tag = "4")]
    pub suppress_redundant: bool,
    #[prost(uint64, tag = "5")]
    pub heartbeat_interval: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SubscriptionList {
    #[prost(message, optional, tag = "1")]
    pub prefix: Option<Path>,
    #[prost(message, repeated, tag = "2")]
    pub subscription: Vec<Subscription>,
    #[prost(enumeration = "ListMode", tag = "5")]
    pub mode: i32,
    #[prost(bool, tag = "6")]
    pub allow_aggregation: bool,
    #[prost(enumeration = "Encoding", tag = "8")]
    pub encoding: i32,
    #[prost(bool, tag = "9")]
    pub updates_only: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Poll {}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Request {
    #[prost(message, tag = "1")]
    Subscribe(SubscriptionList),
    #[prost(message, tag = "3")]
    Poll(Poll),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SubscribeRequest {
    #[prost(oneof = "Request", tags = "1, 3")]
    pub request: Option<Request>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Decimal64 {
    #[prost(int64, tag = "1")]
    pub digits: i64,
    #[prost(uint32, tag = "2")]
    pub precision: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ScalarArray {
    #[prost(message, repeated, tag = "1")]
    pub element: Vec<TypedValue>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Value {
    #[prost(string, tag = "1")]
    StringVal(String),
    #[prost(int64, tag = "2")]
    IntVal(i64),
    #[prost(uint64, tag = "3")]
    UintVal(u64),
    #[prost(bool, tag = "4")]
    BoolVal(bool),
    #[prost(bytes = "vec", tag = "5")]
    BytesVal(Vec<u8>),
    #[prost(float, tag = "6")]
    FloatVal(f32),
    #[prost(message, tag = "7")]
    DecimalVal(Decimal64),
    #[prost(message, tag = "8")]
    LeaflistVal(ScalarArray),
    #[prost(bytes = "vec", tag = "10")]
    JsonVal(Vec<u8>),
    #[prost(bytes = "vec", tag = "11")]
    JsonIetfVal(Vec<u8>),
    #[prost(string, tag = "12")]
    AsciiVal(String),
    #[prost(bytes = "vec", tag = "13")]
    ProtoBytes(Vec<u8>),
    #[prost(double, tag = "14")]
    DoubleVal(f64),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct TypedValue {
    #[prost(oneof = "Value", tags = "1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14")]
    pub value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Update {
    #[prost(message, optional, tag = "1")]
    pub path: Option<Path>,
    #[prost(message, optional, tag = "3")]
    pub val: Option<TypedValue>,
    #[prost(uint32, tag = "4")]
    pub duplicates: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Notification {
    #[prost(int64, tag = "1")]
    pub timestamp: i64,
    #[prost(message, optional, tag = "2")]
    pub prefix: Option<Path>,
    #[prost(message, repeated, tag = "4")]
    pub update: Vec<Update>,
    #[prost(message, repeated, tag = "5")]
    pub delete: Vec<Path>,
    #[prost(bool, tag = "6")]
    pub atomic: bool,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Response {
    #[prost(message, tag = "1")]
    Update(Notification),
    #[prost(bool, tag = "3")]
    SyncResponse(bool),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SubscribeResponse {
    #[prost(oneof = "Response", tags = "1, 3")]
    pub response: Option<Response>,
}

impl From<Value> for TypedValue {
    fn from(value: Value) -> Self {
        Self { value: Some(value) }
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::UintVal(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::DoubleVal(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::StringVal(value.to_owned())
    }
}

impl From<Notification> for SubscribeResponse {
    fn from(notification: Notification) -> Self {
        Self {
            response: Some(Response::Update(notification)),
        }
    }
}

impl SubscribeResponse {
    /// Everything was sent once.
    #[must_use]
    pub const fn synchronized() -> Self {
        Self {
            response: Some(Response::SyncResponse(true)),
        }
    }
}
