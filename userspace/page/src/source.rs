//! Where rows come from.

use rocescope_model::WindowRows;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Windows of a capture that wait for the page; more are dropped.
const WAITING: usize = 64;

/// What wakes the thread that keeps rows.
#[derive(Debug)]
pub(crate) enum Message {
    /// Windows of a capture.
    Rows(Box<WindowRows>),
    /// A viewer asked for a view that is not rendered yet.
    Asked,
}

/// Takes the rows of a capture, which it never delays.
#[derive(Debug, Clone)]
pub struct Feed {
    sender: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
}

pub(crate) fn feed() -> (Feed, Receiver<Message>) {
    let (sender, receiver) = sync_channel(WAITING);
    let feed = Feed {
        sender,
        dropped: Arc::default(),
    };
    (feed, receiver)
}

impl Feed {
    /// Takes the rows of windows that have ended, without their sketches. If the page is behind, it misses them.
    pub fn rows(&self, rows: &WindowRows) {
        let rows = WindowRows {
            windows: rows
                .windows
                .iter()
                .map(rocescope_model::Row::without_sketches)
                .collect(),
            flows: rows.flows.clone(),
            opcodes: rows.opcodes.clone(),
            events: rows.events.clone(),
            connections: rows.connections.clone(),
            pdcs: rows.pdcs.clone(),
            ..WindowRows::default()
        };
        if self.sender.try_send(Message::Rows(Box::new(rows))).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns how often the page was behind and missed the rows of windows.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Wakes the thread; if it has messages, it is awake.
    pub(crate) fn asked(&self) {
        let _ = self.sender.try_send(Message::Asked);
    }
}
