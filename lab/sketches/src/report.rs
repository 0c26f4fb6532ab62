//! Tables to read, and JSON for programs.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::measure::{Group, Options, Question, Row};

/// The command and one Markdown table per question.
pub fn markdown(options: &Options, core: Option<usize>, groups: &[Group]) -> String {
    let Options {
        packets, rounds, seeds, ..
    } = options;
    let pinned = core.map_or("not pinned".to_owned(), |core| format!("pinned to core {core}"));
    let mut text = format!(
        "Repeat with `cargo xtask bench sketches --packets {packets} --rounds {rounds} \
         --seeds {seeds}` ({pinned}).\n"
    );
    for group in groups {
        let (title, error) = match group.question {
            Question::Distinct => ("How many flows?", "error, median / worst"),
            Question::Sizes => ("How large is this flow?", "error of a flow, packets"),
            Question::Top => ("Which 1,000 flows are largest?", "recall | error of size"),
        };
        let _ = write!(
            text,
            "\n### {title}\n\n\
             | | Zipf, M/s: min / median / max | RoCE-like, M/s | from 48-byte keys, M/s | {error} \
             | kB | allocations while fed |\n|---|---|---|---|---|---|---|{}\n",
            if group.question == Question::Top { "---|" } else { "" }
        );
        for row in &group.rows {
            text.push_str(&line(group.question, row));
        }
    }
    text
}

fn line(question: Question, row: &Row) -> String {
    let speed = |rounds: &[f64]| match rounds {
        [] => "–".to_owned(),
        rounds => {
            let [min, median, max] = spread(rounds);
            format!("{min:.0} / **{median:.0}** / {max:.0}")
        }
    };
    let [_, error, worst] = spread(&row.errors);
    let error = match question {
        Question::Distinct => format!("{:.3} % / {:.3} %", 100.0 * error, 100.0 * worst),
        Question::Sizes => format!("{error:.2}"),
        Question::Top => {
            let [min, recall, _] = spread(&row.recalls);
            format!("{recall:.4} (min {min:.4}) | {:.4} %", 100.0 * error)
        }
    };
    format!(
        "| {} | {} | {} | {} | {error} | {:.1} | {} |\n",
        row.name,
        speed(&row.zipf),
        speed(&row.roce),
        speed(&row.keyed),
        row.bytes as f64 / 1e3,
        row.allocations,
    )
}

/// All measurements, unrounded.
pub fn json(options: &Options, groups: &[Group]) -> Result<String, serde_json::Error> {
    let row = |row: &Row| {
        json!({
            "name": row.name.replace("**", ""),
            "zipf_updates_per_us": row.zipf,
            "roce_updates_per_us": row.roce,
            "keyed_updates_per_us": row.keyed,
            "memory_bytes": row.bytes,
            "allocations": row.allocations,
            "errors": row.errors,
            "recalls": row.recalls,
        })
    };
    let question = |group: &Group| match group.question {
        Question::Distinct => "distinct",
        Question::Sizes => "sizes",
        Question::Top => "top",
    };
    let groups: Vec<Value> = groups
        .iter()
        .map(|group| {
            let rows: Vec<Value> = group.rows.iter().map(row).collect();
            json!({ "question": question(group), "rows": rows })
        })
        .collect();
    serde_json::to_string_pretty(&json!({
        "packets": options.packets,
        "rounds": options.rounds,
        "seeds": options.seeds,
        "groups": groups,
    }))
}

/// Minimum, median and maximum.
fn spread(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |at: usize| sorted.get(at).copied().unwrap_or(f64::NAN);
    [at(0), at(sorted.len() / 2), at(sorted.len().saturating_sub(1))]
}
