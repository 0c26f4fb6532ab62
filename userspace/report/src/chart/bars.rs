//! Shares and sizes: a row for each item, a bar for each value, its uncertain part paler.

use super::drawing::{Canvas, RowNames, frame, number};
use super::scale::{Linear, label, prefix};
use maud::{Markup, html};
use rocescope_model::{Unit, Value, human};

/// Room after the longest bar for its value.
const ROOM: f64 = 92.0;
const TOP: f64 = 4.0;
/// Height of a row besides its bars, of a bar, and of the axis.
const GAP: f64 = 8.0;
const BAR: f64 = 12.0;
const AXIS: f64 = 24.0;

/// A row.
#[derive(Debug)]
pub struct Item {
    /// Name of the row.
    pub name: String,
    /// Additional text of the tooltip.
    pub words: String,
    /// Lower and upper bound of each bar.
    pub bounds: Vec<(f64, f64)>,
}

/// Rows of bars, of the same unit.
#[derive(Debug)]
pub struct Bars {
    /// Unit of all values.
    pub unit: Unit,
    /// Name of each bar of a row.
    pub names: Vec<&'static str>,
    /// The rows.
    pub items: Vec<Item>,
}

impl Bars {
    pub(super) fn legend(&self) -> Vec<(String, &'static str)> {
        if self.names.len() < 2 {
            return Vec::new();
        }
        let names = self.names.iter().enumerate();
        names.map(|(at, name)| (format!("c{at}"), *name)).collect()
    }

    pub(super) fn svg(&self, title: &str, canvas: Canvas) -> Markup {
        let names = RowNames::on(canvas);
        let (left, right) = (names.left(), canvas.right());
        let row = GAP + names.height() + BAR * self.names.len().max(1) as f64;
        let bottom = TOP + row * self.items.len() as f64;
        let bounds = self.items.iter().flat_map(|item| &item.bounds);
        let greatest = bounds.map(|(_, max)| *max).fold(0.0, f64::max);
        let (factor, unit) = prefix(self.unit, greatest);
        let axis = Linear::to(greatest / factor, f64::from(canvas.labels().min(5)));
        let end = right - ROOM;
        let x = |value: f64| left + (value / factor / axis.end).clamp(0.0, 1.0) * (end - left);
        let content = html! {
            @for tick in &axis.ticks {
                @let at = number(x(tick * factor));
                line.grid x1=(at) x2=(at) y1=(number(TOP)) y2=(number(bottom)) {}
                text.tick x=(at) y=(number(bottom + 17.0)) text-anchor="middle" { (label(*tick)) }
            }
            text.unit x=(number(right)) y=(number(bottom + 17.0)) text-anchor="end" { (unit) }
            @for (at, item) in self.items.iter().enumerate() {
                @let start = TOP + row * at as f64;
                @let top = start + names.height() + GAP / 2.0;
                g.item {
                    title { (item.name) "\n" (item.words) }
                    rect.hit x="0" y=(number(start)) width=(number(right)) height=(number(row)) {}
                    (names.label(&item.name, start, top + (row - names.height() - GAP) / 2.0))
                    @for (bar, (min, max)) in item.bounds.iter().enumerate() {
                        (self.bar(bar, (left, top + BAR * bar as f64), (x(*min), x(*max)), *max))
                    }
                }
            }
        };
        frame(canvas, "bars", title, bottom + AXIS, &content)
    }

    fn bar(&self, number_of: usize, (left, y): (f64, f64), (min, max): (f64, f64), value: f64) -> Markup {
        let class = format!("c{number_of}");
        let height = number(BAR - 2.0);
        let top = number(y + 1.0);
        html! {
            rect.bar.(class) x=(number(left)) y=(top) height=(height) width=(number((min - left).max(0.8))) {}
            @if max - min > 0.4 {
                rect.doubt.(class) x=(number(min)) y=(top) height=(height) width=(number(max - min)) {}
            }
            text.value x=(number(max + 6.0)) y=(number(y + BAR - 2.0)) {
                (human::readable(&Value::F64(value), self.unit))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bars, Canvas, Item};
    use rocescope_model::Unit;

    #[test]
    fn what_is_uncertain_is_a_bar_of_its_own() {
        let item = |bounds: (f64, f64)| Item {
            name: "<flow>".into(),
            words: String::new(),
            bounds: vec![bounds],
        };
        let bars = Bars {
            unit: Unit::Bytes,
            names: vec!["bytes"],
            items: vec![item((50.0, 50.0)), item((20.0, 40.0))],
        };
        let svg = bars.svg("flows", Canvas::Wide).into_string();
        assert_eq!(svg.matches("class=\"bar c0\"").count(), 2);
        assert_eq!(svg.matches("class=\"doubt c0\"").count(), 1);
        assert!(svg.contains("&lt;flow&gt;") && !svg.contains("<flow>"));
        assert!(bars.legend().is_empty());
    }
}
