//! `changes`: what differs between two spans. Computed when they are compared; not stored.

use crate::Text;
use crate::row::table;

table! {
    /// One row for each figure that two spans have in a table, the largest change of each table first.
    ChangeRow = "changes" [derived] {
        /// The table of the figure.
        compared: Text, None, [same], show "Table";
        /// What the figure measures.
        figure: Text, None, [same], show "Figure";
        /// Unit of `a` and `b`.
        unit: Text, None, [same], show "Unit";
        /// Whether `a` and `b` are counts for each second.
        per_second: bool, None, [none], show "Per second";
        /// Its value in the first span; null if unknown.
        a: Option<f64>, None, [none], show "A";
        /// Its value in the second span; null if unknown.
        b: Option<f64>, None, [none], show "B";
        /// `more`, `less`, `new`, `gone` or `unknown`.
        change: Text, None, [same], show "Change";
        /// `b` minus `a`, as a share of `a`; null for `new` and `unknown`.
        relative_ratio: Option<f64>, Ratio, [none], show "Relative";
    }
}
