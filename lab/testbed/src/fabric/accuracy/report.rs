//! The table of results, and the same as JSON.

use super::Options;
use super::agents::Ended;
use super::kinds::KINDS;
use super::paths::Paths;
use super::score::{Judged, Scored};
use serde_json::{Value, json};

/// The cases, verdicts and summaries.
pub(super) struct Report {
    pub(super) options: Options,
    pub(super) scored: Scored,
    pub(super) agents: Vec<Ended>,
    pub(super) paths: Paths,
}

impl Report {
    /// Prints one line for each kind, then the errors.
    pub(super) fn print(&self) {
        let Self {
            options,
            scored,
            agents,
            paths,
        } = self;
        println!(
            "\n| case | runs | all named, and nothing else | all named | only the places | also named another place |"
        );
        println!("|---|--:|--:|--:|--:|--:|");
        let mut right = [0; 2];
        for kind in &KINDS {
            let of: Vec<&Judged> = scored.judged.iter().filter(|one| one.case.kind == kind.name).collect();
            if !of.is_empty() {
                line(kind.name, &of);
                right[usize::from(of.iter().all(|one| one.is_right()))] += 1;
            }
        }
        line("all", &scored.judged.iter().collect::<Vec<_>>());
        println!("\n{} of {} kinds are right in every run", right[1], right[0] + right[1]);
        for Judged { case, verdicts, .. } in scored.judged.iter().filter(|one| !one.is_right()) {
            println!("not right: {}", case.kind);
            for fault in &case.faults {
                println!("    at {}: {}", fault.place, fault.fault);
            }
            println!("    verdicts: {}", verdicts.join("; "));
        }
        for verdict in &scored.unfounded {
            println!("named without a fault: {verdict}");
        }
        let (count, seconds) = (scored.quiet_said.len(), scored.quiet_seconds);
        println!("{count} verdicts in {seconds:.0} s without a fault");
        let all = paths.equal + paths.differing.len();
        println!(
            "{} of {all} paths match the kernel's choice, {} of them partially",
            paths.equal, paths.partly
        );
        for path in &paths.differing {
            println!("different path: {path}");
        }
        for agent in agents {
            println!("{}", agent.line());
        }
        println!(
            "Repeat: cargo xtask fabric accuracy --scale {} --rounds {} --seed {} --quiet {} {}",
            options.scale,
            options.rounds,
            options.seed,
            options.quiet,
            options.size.join(" ")
        );
    }

    /// All of it, for programs.
    pub(super) fn json(&self) -> Value {
        let cases = self.scored.judged.iter().map(|one| {
            json!({
                "case": one.case.kind,
                "faults": one.case.faults,
                "is_right": one.is_right(),
                "all_named": one.is_named,
                "all_places": one.has_places,
                "verdicts": one.verdicts,
                "verdicts_elsewhere": one.elsewhere,
            })
        });
        json!({
            "options": self.options,
            "cases": cases.collect::<Vec<_>>(),
            "quiet_seconds": self.scored.quiet_seconds,
            "quiet_verdicts": self.scored.quiet_said,
            "unfounded_verdicts": self.scored.unfounded,
            "paths": self.paths,
            "agents": self.agents,
        })
    }
}

fn line(name: &str, of: &[&Judged]) {
    let count = |which: fn(&Judged) -> bool| of.iter().filter(|one| which(one)).count();
    println!(
        "| {name} | {} | {} | {} | {} | {} |",
        of.len(),
        count(Judged::is_right),
        count(|one| one.is_named),
        count(|one| one.has_places && !one.is_named),
        count(|one| !one.elsewhere.is_empty())
    );
}
