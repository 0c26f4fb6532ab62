//! A switch with a gNMI server: tests set its values, and decide when it sends them, ends its streams and cuts its
//! connections. Nothing in it depends on time.
//!
//! | module | contents |
//! |---|---|
//! | [`message`] | the messages of gNMI, written a second time: an error in those of the product shows |
//! | `path` | paths as texts |
//! | `answers` | what the switch sends for a subscription |
//! | `server` | connections and methods |

mod answers;
pub mod message;
mod path;
mod server;

pub use path::path;
pub use server::Switch;

use crate::Signed;
use message::{Encoding, ListMode, Request, SubscribeRequest, Subscription, SubscriptionList};
use prost::Message as _;

/// What a switch is like.
#[derive(Debug, Default)]
pub struct Options<'a> {
    /// User and password that it requires.
    pub login: Option<(&'a str, &'a str)>,
    /// Its certificate; without, connections are not encrypted.
    pub certificate: Option<&'a Signed>,
    /// The encodings that it has; without any, it does not know the question.
    pub encodings: &'a [Encoding],
    /// Paths that it does not serve.
    pub unserved: &'a [&'a str],
}

/// The message that subscribes to a path.
pub fn subscribe(to: &str, mode: ListMode, encoding: Encoding) -> Vec<u8> {
    let list = SubscriptionList {
        subscription: vec![Subscription {
            path: Some(path(to)),
            ..Subscription::default()
        }],
        mode: mode as i32,
        encoding: encoding as i32,
        ..SubscriptionList::default()
    };
    let request = Some(Request::Subscribe(list));
    SubscribeRequest { request }.encode_to_vec()
}
