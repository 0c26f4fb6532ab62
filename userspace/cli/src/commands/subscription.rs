//! The subscription of a capture box: thresholds from the controller, taken as windows end.

use super::membership;
use crate::arguments::SubscriptionArguments;
use crate::status;
use anyhow::{Context, Result};
use rocescope_collector::control::Member;
use rocescope_collector::control::message::Role;
use rocescope_collector::{Files, Sender, sender};
use rocescope_engine::intake::Tap;
use rocescope_engine::signals::Reloader;
use rocescope_model::WindowRows;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A subscription that has not connected: that waits until the capture has dropped its privileges.
pub(super) struct Subscription {
    settings: sender::Settings,
    member: Arc<Member>,
    reloader: Reloader,
}

impl Subscription {
    /// The subscription, if a controller is set.
    pub(super) fn open(arguments: &SubscriptionArguments, observer: &str, reloader: Reloader) -> Option<Self> {
        let SubscriptionArguments {
            collector: Some(url),
            cert: Some(certificate),
            key: Some(key),
            ca: Some(authority),
            control_file: Some(file),
        } = arguments.clone()
        else {
            return None;
        };
        let files = Files {
            certificate,
            key,
            authority,
        };
        Some(Self {
            settings: sender::Settings::new(url, files, observer),
            member: membership::open(Role::Capture, &file),
            reloader,
        })
    }

    /// What the reload reports to.
    pub(super) fn member(&self) -> Arc<Member> {
        Arc::clone(&self.member)
    }

    /// Takes part in the capture: receives the rows of every window, and passes them on to `next`.
    ///
    /// # Errors
    /// The URL or the certificates are invalid.
    pub(super) fn tap(self, mut next: Option<Tap>) -> Result<Tap> {
        let files = self.settings.files.clone();
        files.client().context("the controller")?;
        let mut sender = None;
        let mut reported = None;
        Ok(Box::new(move |rows: &mut WindowRows| {
            if !rows.windows.is_empty() {
                if sender.is_none() {
                    sender = self.connect();
                }
                if self.member.take().is_some() {
                    self.reloader.request();
                }
                if let Some(sender) = &sender {
                    report(sender, &mut reported);
                }
            }
            match &mut next {
                Some(next) => next(rows),
                None => ControlFlow::Continue(()),
            }
        }))
    }

    fn connect(&self) -> Option<Sender> {
        let member = Some(Arc::clone(&self.member));
        match Sender::start_with(None, member, self.settings.clone()) {
            Ok(sender) => Some(sender),
            Err(error) => {
                status!("{error}");
                None
            }
        }
    }
}

/// Reports a change of the connection.
fn report(sender: &Sender, reported: &mut Option<(bool, Option<bool>)>) {
    let status = sender.status();
    let now = (status.connected, status.is_controlled);
    if *reported == Some(now) {
        return;
    }
    match (now, status.last_error) {
        ((true, Some(false)), _) => status!("the collector is no controller: the capture keeps its own configuration"),
        ((true, _), _) => status!("controller connected"),
        ((false, _), Some(why)) => status!("controller unreachable; the capture goes on as it is: {why}"),
        ((false, _), None) => return,
    }
    *reported = Some(now);
}
