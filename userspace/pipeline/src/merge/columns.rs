//! How the cells of a column become one: from its unit and type, so that a column added to the
//! registry merges without a word here.

use rocescope_model::{Column, Row, Type, Unit, Value};

/// Two rows as one, cell by cell.
pub(super) fn add<R: Row + Clone>(ours: &R, theirs: &R) -> R {
    let read = R::read(|at| match R::TABLE.columns.get(at) {
        Some(column) => cell(column, ours.value(at), &theirs.value(at)),
        None => Value::Null,
    });
    // Every cell has the type of its column, and is null only where that may be: it always reads.
    read.unwrap_or_else(|_| ours.clone())
}

fn cell<'a>(column: &Column, ours: Value<'a>, theirs: &Value<'a>) -> Value<'a> {
    match (&ours, theirs) {
        // Known and unknown together are unknown.
        (Value::Null, _) | (_, Value::Null) => return Value::Null,
        (Value::I64(a), Value::I64(b)) => match rule(column) {
            Rule::Sum => return Value::I64(a.saturating_add(*b)),
            Rule::Least => return Value::I64(*a.min(b)),
            Rule::Most => return Value::I64(*a.max(b)),
            Rule::Same => {}
        },
        (Value::F64(a), Value::F64(b)) if rule(column) == Rule::Sum => return Value::F64(a + b),
        _ => {}
    }
    if ours != *theirs && column.nullable {
        Value::Null
    } else {
        ours
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Sum,
    Least,
    Most,
    /// What both agree on; else null, or the first where there is no null.
    Same,
}

fn rule(column: &Column) -> Rule {
    let number = matches!(column.kind, Type::I64 | Type::F64);
    match column.unit {
        Unit::Bytes
        | Unit::Packets
        | Unit::Frames
        | Unit::Messages
        | Unit::Flows
        | Unit::Events
        | Unit::BitsPerSecond
        | Unit::PacketsPerSecond
            if number =>
        {
            Rule::Sum
        }
        Unit::UnixNanoseconds if column.name.starts_with("last_") => Rule::Most,
        Unit::UnixNanoseconds => Rule::Least,
        // A slack or an error; a quantile may be null, and two of those make none.
        Unit::Nanoseconds if !column.nullable => Rule::Most,
        _ => Rule::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::{Rule, add, rule};
    use rocescope_model::{FlowRow, Row, WindowRow};

    #[test]
    fn counts_add_up_and_unknown_stays_unknown() {
        let ours = WindowRow {
            frames: 5,
            icrc_bad_packets: Some(1),
            mirror_lost_packets: Some(2),
            boundary_slack_ns: 7,
            ..WindowRow::default()
        };
        let theirs = WindowRow {
            frames: 6,
            mirror_lost_packets: Some(3),
            boundary_slack_ns: 4,
            ..WindowRow::default()
        };
        let sum = add(&ours, &theirs);
        assert_eq!((sum.frames, sum.boundary_slack_ns), (11, 7));
        assert_eq!(sum.mirror_lost_packets, Some(5));
        assert_eq!(sum.icrc_bad_packets, None);
    }

    #[test]
    fn times_of_a_flow_span_both() {
        let rule = |name| rule(&FlowRow::TABLE.columns[FlowRow::TABLE.position(name).unwrap()]);
        assert_eq!(rule("first_ns"), Rule::Least);
        assert_eq!(rule("last_ns"), Rule::Most);
        assert_eq!(rule("error_packets"), Rule::Sum);
        assert_eq!(rule("dst_qpn"), Rule::Same);
    }
}
