//! Which windows of a case name its faults, and which name another place.

use super::super::agents::{diagnose, rows};
use super::super::score::{BAR, Injected, short};
use super::super::{DATASET, TOPOLOGY};
use super::{CASE, Case};
use anyhow::Result;
use rocescope_model::VerdictRow;
use rocescope_store::{repair, scan};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Windows until a fault must be named.
const IN_TIME: usize = 2;

/// The results of all cases.
#[derive(Debug, Default)]
pub(super) struct Scored {
    cases: Vec<Judged>,
}

/// The results of a case, in windows.
#[derive(Debug)]
struct Judged {
    case: Case,
    /// Of each fault, for each window that it is in as a whole: whether that names it with class and place.
    faults: Vec<Vec<bool>>,
    /// With loss; of these, without a verdict.
    lossy: u64,
    unnamed: u64,
    /// With a verdict that a part of the loss is at an unknown place.
    unlocated: u64,
    /// Verdicts that name the place of no fault, and how often.
    elsewhere: BTreeMap<String, u64>,
    /// Windows whose verdicts the collector had not, or had others of.
    live_differs: u64,
    /// All verdicts, by window.
    timeline: Vec<String>,
}

/// Judges every case in a directory.
pub(super) fn judge(directory: &Path, rocescope: &Path) -> Result<Scored> {
    let mut scored = Scored::default();
    let mut directories: Vec<_> = fs::read_dir(directory)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    directories.sort();
    for directory in directories.iter().filter(|directory| directory.join(CASE).exists()) {
        let mut case: Case = serde_json::from_slice(&fs::read(directory.join(CASE))?)?;
        if case.nics == 2 {
            case.faults.iter_mut().for_each(Injected::between_two_nics);
        }
        repair(&directory.join(DATASET))?;
        let found = diagnose(rocescope, directory, case.scale)?;
        scored.cases.push(one(
            case,
            &rows(&found, "sla")?,
            &rows(&found, "verdicts")?,
            &live(directory)?,
        ));
    }
    Ok(scored)
}

/// Class and place by the start of their window.
type Named = BTreeMap<i64, BTreeSet<(String, String)>>;

/// What the collector wrote, the last revision of each window.
fn live(directory: &Path) -> Result<Named> {
    let rows = scan(&directory.join(DATASET))?.rows::<VerdictRow>()?;
    let mut latest: BTreeMap<i64, u32> = BTreeMap::new();
    for row in &rows {
        let revision = latest.entry(row.window_start_ns).or_default();
        *revision = (*revision).max(row.revision.unwrap_or(0));
    }
    let mut named = Named::new();
    for row in rows {
        if latest.get(&row.window_start_ns) == Some(&row.revision.unwrap_or(0)) {
            let what = (row.class.to_string(), row.place.to_string());
            named.entry(row.window_start_ns).or_default().insert(what);
        }
    }
    Ok(named)
}

fn one(case: Case, sla: &[Value], verdicts: &[Value], live: &Named) -> Judged {
    let mut judged = Judged {
        faults: case.faults.iter().map(|_| Vec::new()).collect(),
        lossy: 0,
        unnamed: 0,
        unlocated: 0,
        elsewhere: BTreeMap::new(),
        live_differs: 0,
        timeline: Vec::new(),
        case,
    };
    let number = |row: &Value, column: &str| row[column].as_i64().unwrap_or(0);
    for window in sla {
        let start = number(window, "window_start_ns");
        let lost = number(window, "timeouts") + number(window, "corrupt");
        let own: Vec<&Value> = verdicts
            .iter()
            .filter(|row| number(row, "window_start_ns") == start)
            .collect();
        let texts: Vec<String> = own.iter().map(|row| short(row)).collect();
        let relative = (start - judged.case.from_ns) / number(window, "window_ns").max(1);
        judged
            .timeline
            .push(format!("{relative}: {lost} lost: {}", texts.join("; ")));
        // Agents come and go in the windows before and after.
        if start < judged.case.from_ns || start + number(window, "window_ns") > judged.case.until_ns {
            continue;
        }
        judged.lossy += u64::from(lost > 0);
        judged.unnamed += u64::from(lost > 0 && own.is_empty());
        for (fault, windows) in judged.case.faults.iter().zip(&mut judged.faults) {
            if fault.is_throughout(window) && (lost > 0 || !fault.is_of_few_ports()) {
                windows.push(own.iter().any(|row| fault.has_class(row) && fault.has_place(row)));
            }
        }
        let is_of = |fault: &Injected, row: &Value| fault.touches(row) && fault.has_place(row);
        // An agent takes a part of a short window to start.
        let is_restart = |row: &Value| row["class"] == "silent" && row["host"] == judged.case.restarted.as_str();
        for row in &own {
            // It names no place.
            let is_unlocated = row["place_kind"] == "mesh" && lost > 0;
            judged.unlocated += u64::from(is_unlocated);
            if !is_unlocated && !judged.case.faults.iter().any(|fault| is_of(fault, row)) && !is_restart(row) {
                *judged.elsewhere.entry(what(row)).or_default() += 1;
            }
        }
        let offline: BTreeSet<(String, String)> = own.iter().map(|row| class_and_place(row)).collect();
        let is_same =
            live.get(&start).is_none_or(|live| *live == offline) && (live.contains_key(&start) || own.is_empty());
        judged.live_differs += u64::from(!is_same);
    }
    judged
}

fn class_and_place(row: &Value) -> (String, String) {
    let text = |column: &str| row[column].as_str().unwrap_or("").to_owned();
    (text("class"), text("place"))
}

fn what(row: &Value) -> String {
    let (class, place) = class_and_place(row);
    format!("{class} {place}")
}

impl Judged {
    /// Each fault is named, and all windows name nothing else.
    fn is_right(&self) -> bool {
        self.has_all() && self.elsewhere.is_empty()
    }

    /// Each fault is named in most of its windows, of which the first two are the time to name it.
    fn has_all(&self) -> bool {
        self.faults.iter().all(|windows| {
            let judged = if windows.len() > IN_TIME {
                &windows[IN_TIME..]
            } else {
                windows
            };
            judged.iter().filter(|named| **named).count() * 4 >= judged.len() * 3
        })
    }
}

impl Scored {
    pub(super) fn is_good(&self) -> bool {
        let right = self.cases.iter().filter(|one| one.is_right()).count();
        right * 100 >= self.cases.len() * BAR && self.cases.iter().all(|one| one.unnamed == 0)
    }

    /// Prints one line for each case, then what is not right.
    pub(super) fn print(&self) {
        println!(
            "\n| case | when | NICs, spines | right | windows with the fault, named | with loss, without a verdict | a part not located | else named | live differs |"
        );
        println!("|---|---|---|---|---|--:|--:|---|--:|");
        for one in &self.cases {
            let faults = one.faults.iter().map(|windows| {
                let named = windows.iter().filter(|named| **named).count();
                format!("{named} of {}", windows.len())
            });
            let elsewhere = one
                .elsewhere
                .iter()
                .map(|(what, windows)| format!("{what} ({windows})"));
            println!(
                "| {} | {} | {}, {} | {} | {} | {} | {} | {} | {} |",
                one.case.kind,
                if one.case.is_old { "old" } else { "lasting" },
                one.case.nics,
                one.case.spines,
                if one.is_right() { "yes" } else { "no" },
                faults.collect::<Vec<_>>().join(", "),
                one.unnamed,
                one.unlocated,
                elsewhere.collect::<Vec<_>>().join(", "),
                one.live_differs,
            );
        }
        let count = |which: fn(&Judged) -> bool| self.cases.iter().filter(|one| which(one)).count();
        let sum = |of: fn(&Judged) -> u64| self.cases.iter().map(of).sum::<u64>();
        println!(
            "\n{} cases: class and place right in {}, and nothing else named in {}; {} windows with loss, {} of them without a \
             verdict",
            self.cases.len(),
            count(Judged::has_all),
            count(Judged::is_right),
            sum(|one| one.lossy),
            sum(|one| one.unnamed),
        );
        for one in self.cases.iter().filter(|one| !one.is_right() || one.unnamed > 0) {
            println!(
                "not right: {} with {} NICs and {} spines",
                one.case.kind, one.case.nics, one.case.spines
            );
            for fault in &one.case.faults {
                println!("    at {}: {}", fault.place, fault.fault);
            }
            println!("    the agent of {} started again", one.case.restarted);
            for window in &one.timeline {
                println!("    {window}");
            }
        }
        println!("Topology of each: {TOPOLOGY}, dataset: {DATASET}, in its directory");
    }
}
