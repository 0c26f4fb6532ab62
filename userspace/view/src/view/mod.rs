//! What is shown, and what each key does.

mod act;
mod cells;
mod typed;

use crate::filter::Matcher;
use crate::glyphs::Glyphs;
use crate::header::{Header, ProcessUsage};
use crate::incidents;
use crate::inside::Inside;
use crate::keys::Keys;
use crate::layout;
use crate::owned;
use crate::pane::{Listing, Pane};
use crate::recent::{Recent, Shown};
use crate::series::Series;
use crate::so_far::SoFar;
use crate::sort;
use crate::theme::Theme;
use crate::zone::Zone;
use core::net::IpAddr;
use rocescope_diagnose::mesh::Matrix;
use rocescope_diagnose::owners::Owners;
use rocescope_model::filter::FilterError;
use rocescope_model::hosts::Hosts;
use rocescope_model::human::Rates;
use rocescope_model::time::SECOND_NS;
use rocescope_model::{EventRow, FlowRow, GroupBy, HostPortRow, IncidentRow, MeshRows, WindowRows};
use std::collections::HashSet;
use std::sync::Arc;

/// Lengths of the window shown, in windows of the source.
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
    /// Bits or bytes per second.
    pub rates: Rates,
    /// UTC or local time.
    pub zone: Zone,
    /// Names of addresses.
    pub hosts: Arc<Hosts>,
    /// Whether the source can go to any of its windows; if not, the view goes back to the windows it keeps.
    pub seekable: bool,
}

/// What the caller has to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    /// Nothing, or draw the changed state.
    Nothing,
    /// Quit the program.
    Quit,
    /// Suspend the program.
    Suspend,
    /// Repaint all cells.
    Redraw,
    /// Pause or resume the source.
    Pause(bool),
    /// Play at this multiple of the recorded speed.
    Speed(f64),
    /// Go to another window.
    Seek(Seek),
}

/// Where to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seek {
    /// Windows forward; negative: back.
    Windows(i64),
    /// Minutes forward; negative: back.
    Minutes(i64),
    /// Windows of the probe mesh forward; negative: back.
    Meshes(i64),
    /// The first window.
    Begin,
    /// The last window.
    End,
}

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mouse {
    /// Pressed at a column and line.
    Press(u16, u16),
    /// Scrolled at a column and line, by lines down; negative: up.
    Wheel(u16, u16, i16),
}

/// What covers the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    /// Nothing.
    Tables,
    /// The help page; lines scrolled.
    Help(usize),
    /// All fields of the selected row; lines scrolled.
    Detail(usize),
    /// The columns to sort by; the selected one.
    Sort(usize),
    /// The filter as it is typed, and its error.
    Filter(String, Option<FilterError>),
}

/// A flow as events identify it.
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
    /// The window that is frozen; `None` shows the latest.
    pub(crate) held: Option<u64>,
    /// Index into [`LENGTHS`].
    pub(crate) length: usize,
    /// The latest probe mesh.
    mesh: Option<Arc<MeshRows>>,
    /// The latest ports of hosts.
    host_ports: Arc<Vec<HostPortRow>>,
    /// All incidents that are known, the worst first.
    incidents: Vec<IncidentRow>,
    /// The latest loopback tests inside hosts.
    inside: Arc<Inside>,
    /// Whose queue pairs are.
    owners: Arc<Owners>,
    /// The pairs of the mesh by row and column.
    pub(crate) matrix: Matrix,
    pub(crate) listings: [Listing; Pane::ALL.len()],
    /// What the groups are by.
    pub(crate) by: GroupBy,
    pub(crate) focus: Pane,
    pub(crate) zoom: bool,
    pub(crate) filter: String,
    matchers: [Option<Matcher>; Pane::ALL.len()],
    pub(crate) layer: Layer,
    pub(crate) size: (u16, u16),
    /// One line for the user, until the next key.
    pub(crate) note: Option<String>,
    /// Losses in all windows so far, not only in those shown.
    pub(crate) so_far: SoFar,
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
            host_ports: Arc::default(),
            incidents: Vec::new(),
            inside: Arc::default(),
            owners: Arc::default(),
            matrix: Matrix::default(),
            listings: Pane::ALL.map(Listing::new),
            focus: Pane::Flows,
            zoom: false,
            filter: String::new(),
            matchers: [const { None }; Pane::ALL.len()],
            by: GroupBy::default(),
            layer: Layer::Tables,
            size: layout::MIN_SIZE,
            note: None,
            so_far: SoFar::default(),
        }
    }

    /// What only the source knows; it may change at any time.
    pub const fn header(&mut self) -> &mut Header {
        &mut self.header
    }

    /// What this process uses.
    pub const fn own(&mut self, own: ProcessUsage) {
        self.header.own = Some(own);
    }

    /// Sets the columns and lines of the terminal.
    pub const fn resize(&mut self, width: u16, height: u16) {
        self.size = (width, height);
    }

    /// One line for the user, until the next key.
    pub fn note(&mut self, note: impl Into<String>) {
        self.note = Some(note.into());
    }

    /// Whether the screen is frozen while windows continue.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// The pane that receives the keys.
    #[must_use]
    pub const fn focus(&self) -> Pane {
        self.focus
    }

    /// Sorts a pane by the column of this name.
    ///
    /// # Errors
    /// The valid names, if this is not one.
    pub fn sort(&mut self, pane: Pane, column: &str) -> Result<(), String> {
        let column = sort::column(pane.table(), column)?;
        self.listing_mut(pane).sort_by(column);
        self.arrange();
        Ok(())
    }

    /// Groups traffic by this, in the pane of groups.
    pub fn group_by(&mut self, by: GroupBy) {
        self.by = by;
        self.focus = Pane::Groups;
        self.refresh();
    }

    /// Adds a finished window.
    pub fn window(&mut self, rows: WindowRows) {
        self.keep(rows);
        if self.held.is_none() {
            self.refresh();
        } else if self.held.is_some_and(|held| held < self.recent.oldest()) {
            self.held = Some(self.recent.oldest());
            self.note("the frozen window is no longer kept: this is the earliest one");
            self.refresh();
        }
    }

    /// The source moved: replaces all windows by these, the latest last.
    pub fn replace(&mut self, windows: Vec<WindowRows>) {
        self.recent = Recent::default();
        self.series = Series::default();
        self.so_far = SoFar::default();
        self.held = None;
        for rows in windows {
            self.keep(rows);
        }
        self.refresh();
    }

    fn keep(&mut self, rows: WindowRows) {
        rows.windows.iter().for_each(|window| self.so_far.add(window));
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

    /// Merges the windows that are shown.
    pub(crate) fn refresh(&mut self) {
        let last = self.held.or_else(|| self.recent.newest());
        let before = self.shown.take();
        self.shown = last.and_then(|last| self.recent.shown(last, LENGTHS[self.length]));
        // A frozen screen keeps its mesh and its ports.
        let before = before.filter(|_| self.held.is_some()).unwrap_or_default();
        let (mesh, ports) = (before.mesh, before.host_ports);
        let inside = match before.inside.rows.is_empty() {
            true => Arc::clone(&self.inside),
            false => before.inside,
        };
        let mesh = match mesh.window_ns {
            0 => self.mesh.clone().unwrap_or_default(),
            _ => mesh,
        };
        let host_ports = match ports.is_empty() {
            true => Arc::clone(&self.host_ports),
            false => ports,
        };
        let of_ports = host_ports.first().map(|port| (port.window_start_ns, port.window_ns));
        let of_mesh = (mesh.window_ns > 0).then_some((mesh.start_ns, mesh.window_ns));
        let of_tests = inside
            .rows
            .last()
            .map(|row| (row.window_start_ns, whole_seconds(row.window_ns)));
        let other = of_ports
            .or(of_mesh)
            .or(of_tests)
            .map(|(start_ns, window_ns)| Shown::empty(start_ns, window_ns));
        self.shown = self.shown.take().or(other).map(|shown| Shown {
            mesh,
            host_ports,
            inside,
            ..shown
        });
        if let Some(shown) = &mut self.shown {
            let start_ns = shown.total.window_start_ns;
            let end_ns = start_ns.saturating_add(shown.total.window_ns);
            shown.incidents = incidents::at(&self.incidents, start_ns, end_ns);
            shown.connections.owners = owned::owners(&shown.connections.rows, &self.owners);
            shown.groups = self.by.rows(&shown.total, &shown.rows.flows, &shown.rows.opcodes);
        }
        self.jitter.clear();
        if let Some(shown) = &self.shown {
            let from = shown.total.window_start_ns;
            let to = from + shown.total.window_ns;
            let within = |event: &&EventRow| &*event.kind == "jitter" && (from..to).contains(&event.time_ns);
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

    /// Filters and sorts the rows of every pane.
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

    /// The worst open incident, and the number of open ones.
    pub(crate) fn worst_incident(&self) -> Option<(&IncidentRow, usize)> {
        let shown = self.shown.as_ref()?;
        let open = shown.incidents.iter().filter(|row| incidents::is_open(row));
        let (worst, number) = (open.clone().next()?, open.count());
        Some((worst, number))
    }

    pub(crate) const fn listing(&self, pane: Pane) -> &Listing {
        &self.listings[pane as usize]
    }

    pub(crate) const fn listing_mut(&mut self, pane: Pane) -> &mut Listing {
        &mut self.listings[pane as usize]
    }

    pub(crate) fn flow_has_jitter(&self, row: &FlowRow) -> bool {
        !self.jitter.is_empty()
            && self
                .jitter
                .contains(&(Some(row.src), Some(row.dst), row.udp_src_port, Some(row.dst_qpn)))
    }

    /// Whether the filter applies to this pane.
    pub(crate) const fn is_filtered(&self, pane: Pane) -> bool {
        self.matchers[pane as usize].is_some()
    }

    /// Shows only rows that match; all rows for an empty text. A filter applies to flows, connections, events and the
    /// mesh; a filter that is set in the opcode pane applies only there.
    ///
    /// # Errors
    /// [`FilterError`] if the filter is invalid for the focused pane. Other panes for which it is invalid show all rows.
    pub fn set_filter(&mut self, text: &str) -> Result<(), FilterError> {
        let (focus, hosts) = (self.focus, Arc::clone(&self.options.hosts));
        let read = |pane: Pane| match text.trim() {
            "" => Ok(None),
            _ if (pane == Pane::Opcodes) != (focus == Pane::Opcodes) => Ok(None),
            text => Matcher::read(text, pane.table(), &hosts).map(Some),
        };
        let focused = read(focus)?;
        let mut matchers = Pane::ALL.map(|pane| read(pane).ok().flatten());
        matchers[focus as usize] = focused;
        self.matchers = matchers;
        text.trim().clone_into(&mut self.filter);
        self.arrange();
        Ok(())
    }

    /// Whether sizes of the flows shown may exceed the true values.
    pub(crate) fn is_estimated(&self) -> bool {
        let Some(shown) = &self.shown else {
            return false;
        };
        let mut flows = shown.rows.flows.iter();
        !shown.total.flows_exact && flows.any(|row| row.error_frame_bytes > 0)
    }
}

/// A length in whole seconds, at least one.
fn whole_seconds(ns: i64) -> i64 {
    ns.max(1).saturating_add(SECOND_NS - 1) / SECOND_NS * SECOND_NS
}
