//! Box plots: minimum, quartiles and maximum of a distribution, a row for each.

use super::drawing::{Canvas, RowNames, frame, number};
use super::scale::{Linear, label, prefix};
use maud::{Markup, html};
use rocescope_model::{Unit, Value, human};

/// Room after the longest row for its median.
const ROOM: f64 = 92.0;
const TOP: f64 = 6.0;
const ROW: f64 = 26.0;
const BOX: f64 = 14.0;
const AXIS: f64 = 24.0;

/// A row.
#[derive(Debug)]
pub struct Spread {
    /// Name of the row.
    pub name: String,
    /// Number of values.
    pub count: usize,
    /// Minimum, quartiles and maximum.
    pub quartiles: [f64; 5],
}

impl Spread {
    /// The distribution of values; `None` without any.
    pub(crate) fn of(name: String, mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        // Between neighbours, as R and NumPy do by default.
        let at = |share: f64| {
            let place = share * last as f64;
            let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        Some(Self {
            name,
            count: values.len(),
            quartiles: [0.0, 0.25, 0.5, 0.75, 1.0].map(at),
        })
    }
}

/// Rows of the same unit.
#[derive(Debug)]
pub struct Boxes {
    /// Unit of all values.
    pub unit: Unit,
    /// The rows.
    pub rows: Vec<Spread>,
}

impl Boxes {
    pub(super) fn svg(&self, title: &str, canvas: Canvas) -> Markup {
        let names = RowNames::on(canvas);
        let (left, right, row_height) = (names.left(), canvas.right(), ROW + names.height());
        let greatest = self.rows.iter().map(|row| row.quartiles[4]).fold(0.0, f64::max);
        let (factor, unit) = prefix(self.unit, greatest);
        let axis = Linear::to(greatest / factor, f64::from(canvas.labels().min(5)));
        let end = right - ROOM;
        let x = |value: f64| left + (value / factor / axis.end).clamp(0.0, 1.0) * (end - left);
        let bottom = TOP + row_height * self.rows.len() as f64;
        let readable = |value: f64| human::readable(&Value::F64(value), self.unit);
        let content = html! {
            @for tick in &axis.ticks {
                @let at = number(x(tick * factor));
                line.grid x1=(at) x2=(at) y1=(number(TOP)) y2=(number(bottom)) {}
                text.tick x=(at) y=(number(bottom + 17.0)) text-anchor="middle" { (label(*tick)) }
            }
            text.unit x=(number(right)) y=(number(bottom + 17.0)) text-anchor="end" { (unit) }
            @for (at, row) in self.rows.iter().enumerate() {
                @let start = TOP + row_height * at as f64;
                @let middle = start + names.height() + ROW / 2.0;
                @let [min, low, median, high, max] = row.quartiles.map(x);
                g.item {
                    title {
                        (row.name) "\n" (row.count) " flows\nmaximum " (readable(row.quartiles[4]))
                        "\n3rd quartile " (readable(row.quartiles[3])) "\nmedian " (readable(row.quartiles[2]))
                        "\n1st quartile " (readable(row.quartiles[1])) "\nminimum " (readable(row.quartiles[0]))
                    }
                    rect.hit x="0" y=(number(start)) width=(number(right)) height=(number(row_height)) {}
                    (names.label(&row.name, start, middle))
                    line.whisker x1=(number(min)) x2=(number(low)) y1=(number(middle)) y2=(number(middle)) {}
                    line.whisker x1=(number(high)) x2=(number(max)) y1=(number(middle)) y2=(number(middle)) {}
                    @for at in [min, max] {
                        line.whisker x1=(number(at)) x2=(number(at)) y1=(number(middle - 4.0)) y2=(number(middle + 4.0)) {}
                    }
                    rect.box x=(number(low)) y=(number(middle - BOX / 2.0)) width=(number((high - low).max(1.0)))
                        height=(number(BOX)) {}
                    line.median x1=(number(median)) x2=(number(median)) y1=(number(middle - BOX / 2.0))
                        y2=(number(middle + BOX / 2.0)) {}
                    text.value x=(number(max + 8.0)) y=(number(middle + 4.0)) { (readable(row.quartiles[2])) }
                }
            }
        };
        frame(canvas, "boxes", title, bottom + AXIS, &content)
    }
}

#[cfg(test)]
mod tests {
    use super::{Boxes, Canvas, Spread};
    use rocescope_model::Unit;

    #[test]
    fn quartiles_lie_between_neighbours() {
        let spread = Spread::of("flows".into(), vec![4.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!(spread.quartiles, [1.0, 1.75, 2.5, 3.25, 4.0]);
        assert_eq!(Spread::of("one".into(), vec![7.0]).unwrap().quartiles, [7.0; 5]);
        assert!(Spread::of("none".into(), Vec::new()).is_none());
        let boxes = Boxes {
            unit: Unit::BitsPerSecond,
            rows: vec![spread],
        };
        let svg = boxes.svg("Throughput", Canvas::Wide).into_string();
        assert_eq!(
            (
                svg.matches("<rect class=\"box\"").count(),
                svg.matches("class=\"whisker\"").count()
            ),
            (1, 4)
        );
        assert!(svg.contains("median 2.50 bit/s"), "{svg}");
    }
}
