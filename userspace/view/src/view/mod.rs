//! What is shown, and what a key does to it.

mod act;
mod cells;
mod typed;

use crate::filter::Matcher;
use crate::glyphs::Glyphs;
use crate::header::{Header, Own};
use crate::keys::Keys;
use crate::layout;
use crate::pane::{Listing, Pane};
use crate::recent::{Recent, Shown};
use crate::series::Series;
use crate::sort;
use crate::theme::Theme;
use core::net::IpAddr;
use rocescope_diagnose::mesh::Matrix;
use rocescope_model::filter::FilterError;
use rocescope_model::human::Rates;
use rocescope_model::{EventRow, FlowRow, MeshRows, WindowRows};
use std::collections::HashSet;
use std::sync::Arc;

/// Window lengths, in windows of the source.
pub const LENGTHS: [u32; 5] = [1, 2, 5, 10, 60];

/// What the user chose before the first window.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Colours.
    pub theme: Theme,
    /// Characters.
    pub glyphs: Glyphs,
    /// Keys.
    pub keys: Keys,
    /// Bits or bytes a second.
    pub rates: Rates,
    /// Whether the source can go to any of its windows; else only those kept here can be gone back to.
    pub seekable: bool,
}

/// What is to be done beyond the view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    /// Nothing: the state has changed at most.
    Nothing,
    /// End the program.
    Quit,
    /// Put it to sleep.
    Suspend,
    /// Paint all cells again.
    Redraw,
    /// Hold the source, or let it go on.
    Pause(bool),
    /// Play so many times as fast as recorded.
    Speed(f64),
    /// Go to another window.
    Seek(Seek),
}

/// Where to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seek {
    /// So many windows on, or back.
    Windows(i64),
    /// So many minutes on, or back.
    Minutes(i64),
    /// So many windows of the mesh of probes on, or back.
    Meshes(i64),
    /// The first window.
    Begin,
    /// The last window.
    End,
}

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mouse {
    /// Pressed at this column and line.
    Press(u16, u16),
    /// Turned so many lines down, or up, there.
    Wheel(u16, u16, i16),
}

/// What lies over the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    /// Nothing.
    Tables,
    /// The keys; lines scrolled.
    Help(usize),
    /// Every field of the chosen row; lines scrolled.
    Detail(usize),
    /// The columns to sort by; the one under the bar.
    Sort(usize),
    /// A filter is typed; what is wrong with it.
    Filter(String, Option<FilterError>),
}

/// A flow as events name it.
pub(crate) type Named = (Option<IpAddr>, Option<IpAddr>, Option<u16>, Option<u32>);

/// The view. See the [crate's page](crate).
#[derive(Debug)]
pub struct View {
    pub(crate) options: Options,
    pub(crate) header: Header,
    pub(crate) recent: Recent,
    pub(crate) series: Series,
    pub(crate) shown: Option<Shown>,
    /// Flows with a sudden change in the windows shown.
    pub(crate) jitter: HashSet<Named>,
    /// The window that is held; nothing where the latest is shown.
    pub(crate) held: Option<u64>,
    /// Index into [`LENGTHS`].
    pub(crate) length: usize,
    /// The latest mesh of probes.
    mesh: Option<Arc<MeshRows>>,
    /// Which pair of the mesh shown stands where.
    pub(crate) matrix: Matrix,
    pub(crate) listings: [Listing; 5],
    pub(crate) focus: Pane,
    pub(crate) zoom: bool,
    pub(crate) filter: String,
    matchers: [Option<Matcher>; 5],
    pub(crate) layer: Layer,
    pub(crate) size: (u16, u16),
    /// One line for the user, until the next key.
    pub(crate) note: Option<String>,
    /// Packets lost in all windows that came, not only in those shown.
    pub(crate) lost_packets: u64,
}

impl View {
    /// A view without windows yet.
    #[must_use]
    pub fn new(header: Header, options: Options) -> Self {
        Self {
            options,
            header,
            recent: Recent::default(),
            series: Series::default(),
            shown: None,
            jitter: HashSet::new(),
            held: None,
            length: 0,
            mesh: None,
            matrix: Matrix::default(),
            listings: Pane::ALL.map(Listing::new),
            focus: Pane::Flows,
            zoom: false,
            filter: String::new(),
            matchers: [const { None }; 5],
            layer: Layer::Tables,
            size: layout::LEAST,
            note: None,
            lost_packets: 0,
        }
    }

    /// What only the source knows; it may change at any time.
    pub const fn header(&mut self) -> &mut Header {
        &mut self.header
    }

    /// What this process uses.
    pub const fn own(&mut self, own: Own) {
        self.header.own = Some(own);
    }

    /// The terminal has so many columns and lines.
    pub const fn resize(&mut self, width: u16, height: u16) {
        self.size = (width, height);
    }

    /// One line for the user, until the next key.
    pub fn note(&mut self, note: impl Into<String>) {
        self.note = Some(note.into());
    }

    /// Whether what is shown is held while windows go on.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// The table that has the keys.
    #[must_use]
    pub const fn focus(&self) -> Pane {
        self.focus
    }

    /// Sorts a pane by the column of this name, as the command line asks.
    ///
    /// # Errors
    /// The names there are, where this is none.
    pub fn sort(&mut self, pane: Pane, column: &str) -> Result<(), String> {
        let column = sort::column(pane.table(), column)?;
        self.listing_mut(pane).sort_by(column);
        self.arrange();
        Ok(())
    }

    /// A window has finished. Several at once become one after the other.
    pub fn window(&mut self, rows: WindowRows) {
        self.keep(rows);
        if self.held.is_none() {
            self.refresh();
        } else if self.held.is_some_and(|held| held < self.recent.oldest()) {
            self.held = Some(self.recent.oldest());
            self.note("what was held is no longer kept: this is the earliest window there is");
            self.refresh();
        }
    }

    /// The source stands elsewhere: these windows, the latest last, take the place of all before.
    pub fn replace(&mut self, windows: Vec<WindowRows>) {
        self.recent = Recent::default();
        self.series = Series::default();
        self.held = None;
        for rows in windows {
            self.keep(rows);
        }
        self.refresh();
    }

    fn keep(&mut self, rows: WindowRows) {
        let lost = rows.windows.iter().map(|window| window.lost_packets);
        self.lost_packets += lost.sum::<u64>();
        let has_window = !rows.windows.is_empty();
        self.recent.push(rows);
        if has_window
            && let Some(number) = self.recent.newest()
            && let Some(rows) = self.recent.get(number)
        {
            let flows: u64 = rows.windows.iter().map(|window| window.flows).sum();
            let whole = flows <= rows.flows.len() as u64;
            self.series.push(number, &rows.flows, whole);
        }
    }

    /// Puts together what is shown.
    pub(crate) fn refresh(&mut self) {
        let last = self.held.or_else(|| self.recent.newest());
        let before = self.shown.take().map(|before| before.mesh);
        self.shown = last.and_then(|last| self.recent.shown(last, LENGTHS[self.length]));
        // What is held stays, whatever has come since.
        let before = before.filter(|mesh| self.held.is_some() && mesh.window_ns > 0);
        if let Some(mesh) = before.or_else(|| self.mesh.clone().filter(|mesh| mesh.window_ns > 0)) {
            let shown = self.shown.take();
            self.shown = Some(Shown {
                mesh: Arc::clone(&mesh),
                ..shown.unwrap_or_else(|| Shown::of_mesh(&mesh))
            });
        }
        self.jitter.clear();
        if let Some(shown) = &self.shown {
            let (from, to) = (
                shown.total.window_start_ns,
                shown.total.window_start_ns + shown.total.window_ns,
            );
            let within =
                |event: &&EventRow| &*event.kind == "jitter" && (from..to).contains(&event.time_ns);
            self.jitter.extend(
                shown
                    .events
                    .iter()
                    .filter(within)
                    .map(|event| (event.src, event.dst, event.udp_src_port, event.dst_qpn)),
            );
        }
        self.arrange();
    }

    /// Orders the rows of every pane.
    pub(crate) fn arrange(&mut self) {
        let Self {
            shown,
            listings,
            matchers,
            ..
        } = self;
        if let Some(shown) = shown {
            for (listing, matcher) in listings.iter_mut().zip(matchers) {
                listing.arrange(listing.pane.cells(shown), matcher.as_ref());
            }
            let pairs = &listings[Pane::Mesh as usize].order;
            let pairs = pairs.iter().map(|pair| *pair as usize);
            self.matrix = Matrix::of(&shown.mesh.pairs, pairs);
        }
    }

    pub(crate) const fn listing(&self, pane: Pane) -> &Listing {
        &self.listings[pane as usize]
    }

    pub(crate) const fn listing_mut(&mut self, pane: Pane) -> &mut Listing {
        &mut self.listings[pane as usize]
    }

    pub(crate) fn flow_has_jitter(&self, row: &FlowRow) -> bool {
        !self.jitter.is_empty()
            && self.jitter.contains(&(
                Some(row.src),
                Some(row.dst),
                Some(row.udp_src_port),
                Some(row.dst_qpn),
            ))
    }

    /// Whether the filter means something for this pane.
    pub(crate) const fn is_filtered(&self, pane: Pane) -> bool {
        self.matchers[pane as usize].is_some()
    }

    /// Shows only rows that match; all where the text is empty. A filter is about flows, and holds for
    /// connections and events as well; the opcode mix is of all of them, so a filter holds for it only
    /// where it is the pane in focus, and then for nothing else.
    ///
    /// # Errors
    /// What is wrong, and where, if the filter makes no sense for the pane in focus; another for which it
    /// makes none shows all of its rows.
    pub fn set_filter(&mut self, text: &str) -> Result<(), FilterError> {
        let focus = self.focus;
        let read = |pane: Pane| match text.trim() {
            "" => Ok(None),
            _ if (pane == Pane::Opcodes) != (focus == Pane::Opcodes) => Ok(None),
            text => Matcher::read(text, pane.table()).map(Some),
        };
        let focused = read(focus)?;
        let mut matchers = Pane::ALL.map(|pane| read(pane).ok().flatten());
        matchers[focus as usize] = focused;
        self.matchers = matchers;
        text.trim().clone_into(&mut self.filter);
        self.arrange();
        Ok(())
    }

    /// Whether sizes of flows shown may exceed the truth.
    pub(crate) fn is_estimated(&self) -> bool {
        let Some(shown) = &self.shown else {
            return false;
        };
        let mut flows = shown.rows.flows.iter();
        !shown.total.flows_exact && flows.any(|row| row.error_frame_bytes > 0)
    }
}
