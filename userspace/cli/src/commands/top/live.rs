//! Shows a live capture.

use super::feed::{Lines, TappedFeed};
use super::this_host::ThisHost;
use crate::arguments::TopArguments;
use crate::reload::reload;
use crate::requests;
use anyhow::Result;
use rocescope_engine::live::LiveCapture;
use rocescope_runtime::Signals;
use rocescope_runtime::host_name::host_name;
use rocescope_view::{Header, Losses, Motion, Pane};

pub(super) fn run(arguments: &TopArguments, signals: Signals) -> Result<()> {
    let request = requests::top(arguments, !arguments.no_connections)?;
    let (ender, lines) = (signals.ender(), Lines::default());
    let capture = LiveCapture::open(request, signals, reload(None)?, lines.notices())?;
    let header = Header {
        source: capture.origin().source.clone(),
        mode: capture.origin().mode.clone(),
        motion: Motion::Live,
        losses: Losses {
            live: true,
            ..Losses::default()
        },
        no_connections: arguments
            .no_connections
            .then(|| "connections are not followed: start without --no-connections".into()),
        no_loopback: Some(super::NO_LOOPBACK.into()),
        ..Header::default()
    };
    let mut feed = super::feed(arguments, header, false, Pane::Flows)?;
    lines.show_on(feed.begin(ender, Some(capture.drops()))?);
    let feed = TappedFeed::new(feed);
    let mut host = ThisHost::new(&host_name()?);
    let names = arguments.appearance.hosts.names();
    let tap = feed.tap(&names, arguments.measure.mirror_sampling, move |rows| {
        rows.windows.last().map(|window| host.read(window))
    });
    let captured = capture.run(Some(tap), None);
    let captured = captured.map_err(anyhow::Error::from);
    feed.finish(captured.and_then(|(report, outcome)| {
        outcome.check()?;
        Ok(report.check()?)
    }))
}
