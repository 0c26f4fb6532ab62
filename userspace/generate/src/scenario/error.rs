//! Errors of a scenario, with their lines.

/// Why a scenario is invalid. The path of a field counts tables from 0: `flows[2].rate`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScenarioError {
    /// Invalid TOML, or a value of the wrong type or out of range.
    #[error("line {line}: {field}{}{message}", if .field.is_empty() { "" } else { ": " })]
    Field {
        /// Line, counted from 1.
        line: usize,
        /// Path of the field, empty if the line has none.
        field: String,
        /// What is wrong with it.
        message: String,
    },
    /// The scenario as a whole is invalid.
    #[error("{0}")]
    Whole(String),
}

impl ScenarioError {
    pub(super) fn of_toml(text: &str, error: &toml::de::Error) -> Self {
        let at = error.span().map_or(text.len(), |span| span.start);
        let (line, field) = place(text, at);
        Self::Field {
            line,
            field,
            message: error.message().replace('\n', ", "),
        }
    }

    /// An error in the key `key` of the table that begins at byte `at`.
    pub(super) fn of_key(text: &str, at: usize, key: &str, message: String) -> Self {
        // The key may be in a later line of the table than its header.
        let mut found = at;
        let mut begin = at;
        for (number, line) in text.get(at..).unwrap_or("").split_inclusive('\n').enumerate() {
            let trimmed = line.trim_start();
            if number > 0 && trimmed.starts_with("[[") && !trimmed.contains('.') {
                break;
            }
            let is_key = trimmed
                .strip_prefix(key)
                .is_some_and(|rest| rest.trim_start().starts_with('='));
            if is_key {
                found = begin;
                break;
            }
            begin += line.len();
        }
        let (line, mut field) = place(text, found);
        if found == at {
            field = format!("{field}.{key}");
        }
        Self::Field { line, field, message }
    }
}

/// The line, from 1, and the path of the field at byte `at`.
fn place(text: &str, at: usize) -> (usize, String) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
    let this = text.get(begin..).unwrap_or("").lines().next().unwrap_or("");

    // The number of tables of each array so far, and the table of this line.
    let mut seen: Vec<(&str, usize)> = Vec::new();
    let mut table = String::new();
    for line in before.lines().chain((begin == at).then_some(this)) {
        let Some(header) = line.trim().strip_prefix('[') else {
            continue;
        };
        let Some(name) = header.strip_prefix('[') else {
            table = header.split(']').next().unwrap_or("").trim().to_owned();
            continue;
        };
        let name = name.split(']').next().unwrap_or("").trim();
        // A new `[[flows]]` restarts the count of its `[[flows.loss]]`.
        seen.retain(|(other, _)| !other.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')));
        match seen.iter_mut().find(|(other, _)| *other == name) {
            Some((_, count)) => *count += 1,
            None => seen.push((name, 0)),
        }
        table.clear();
        let mut prefix = String::new();
        for part in name.split('.') {
            if !prefix.is_empty() {
                prefix.push('.');
                table.push('.');
            }
            prefix.push_str(part);
            table.push_str(part);
            if let Some((_, count)) = seen.iter().find(|(other, _)| *other == prefix) {
                table.push_str(&format!("[{count}]"));
            }
        }
    }
    match this.split_once('=') {
        Some((key, _)) if !this.trim_start().starts_with('[') => {
            let key = key.trim();
            if table.is_empty() || key.is_empty() {
                (line, format!("{table}{key}"))
            } else {
                (line, format!("{table}.{key}"))
            }
        }
        _ => (line, table),
    }
}
