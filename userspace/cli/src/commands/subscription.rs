//! The subscription of a capture box: thresholds from the controller, taken as windows end.

use super::membership;
use crate::arguments::SubscriptionArguments;
use crate::status;
use anyhow::{Context, Result};
use rocescope_collector::control::Member;
use rocescope_collector::control::message::{Flow, Role, SmallFlows};
use rocescope_collector::{Files, Sender, sender};
use rocescope_engine::intake::Tap;
use rocescope_engine::signals::Reloader;
use rocescope_model::{FlowRow, WindowRows};
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
            small_flows: _,
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
                name(&self.member, &rows.small_flows);
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

/// Names the small flows of the last window to the controller.
fn name(member: &Member, flows: &[FlowRow]) {
    let Some(last) = flows.last() else {
        return;
    };
    let of_last = flows.iter().filter(|flow| flow.window_start_ns == last.window_start_ns);
    let flow = |row: &FlowRow| {
        Some(Flow {
            src: row.src,
            dst: row.dst,
            udp_src_port: row.udp_src_port?,
            dst_qpn: row.dst_qpn,
            flow_hash: row.flow_hash,
            packets: row.packets,
            frame_bytes: row.frame_bytes,
        })
    };
    member.name_flows(SmallFlows {
        window_start_ns: last.window_start_ns,
        window_ns: last.window_ns,
        flows: of_last.filter_map(flow).collect(),
    });
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
