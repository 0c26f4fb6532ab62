//! Draws the screen as a pure function of the view; one file for each part.

mod detail;
mod footer;
mod header;
mod help;
mod hosts;
mod incidents;
mod inside;
mod mesh;
mod overlay;
mod pen;
mod sla;
mod sort;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use detail::max_scroll as detail_scroll;
pub(crate) use help::max_scroll as help_scroll;
pub(crate) use table::tab_at;

use crate::glyphs::Glyphs;
use crate::layout::{self, MIN_SIZE};
use crate::pane::Pane;
use crate::theme::Tone;
use crate::view::{Layer, View};
use pen::Pen;
use ratatui::Frame;

/// Paints the view.
pub fn draw(view: &View, frame: &mut Frame<'_>) {
    let area = frame.area();
    let (theme, glyphs) = (view.options.theme, view.options.glyphs);
    let mut pen = Pen {
        buffer: frame.buffer_mut(),
        theme,
    };
    if layout::is_enough(area.width, area.height) {
        let areas = view.areas();
        header::draw(view, areas.header, &mut pen);
        let alone = areas.panes.len() == 1;
        for (pane, area) in areas.panes {
            match pane {
                Pane::Mesh => mesh::draw(view, area, &mut pen),
                Pane::Inside => inside::draw(view, area, &mut pen),
                _ => table::draw(view, pane, area, alone, &mut pen),
            }
        }
        match &view.layer {
            Layer::Tables | Layer::Filter(..) => {}
            Layer::Help(scroll) => help::draw(view, area, *scroll, &mut pen),
            Layer::Detail(scroll) => detail::draw(view, area, *scroll, &mut pen),
            Layer::Sort(column) => sort::draw(view, area, *column, &mut pen),
        }
        footer::draw(view, areas.footer, &mut pen);
    } else {
        let lines = [
            format!("{} x {} is too small", area.width, area.height),
            format!("rocescope top needs {} x {}", MIN_SIZE.0, MIN_SIZE.1),
        ];
        for (y, line) in (area.y..area.bottom()).zip(lines) {
            pen.text(area.x, y, &line, area.width, Tone::Notice);
        }
    }
    if glyphs == Glyphs::Ascii {
        for cell in &mut frame.buffer_mut().content {
            if !cell.symbol().is_ascii() {
                let drawn = glyphs.drawn(cell.symbol()).to_owned();
                cell.set_symbol(&drawn);
            }
        }
    }
}
