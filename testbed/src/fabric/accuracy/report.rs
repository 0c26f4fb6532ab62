//! The table of results, and the same as JSON.

use super::Options;
use super::agents::Ended;
use super::paths::Paths;
use super::plan::KINDS;
use super::score::{Judged, Scored};
use serde_json::{Value, json};

/// The faults, verdicts and summaries.
pub(super) struct Report {
    pub(super) options: Options,
    pub(super) scored: Scored,
    pub(super) agents: Vec<Ended>,
    pub(super) paths: Paths,
}

impl Report {
    /// Prints one line per class, then the errors.
    pub(super) fn print(&self) {
        let Self {
            options,
            scored,
            agents,
            paths,
        } = self;
        println!("\n| fault | injected | named in time | place only | also named another place |");
        println!("|---|--:|--:|--:|--:|");
        for kind in KINDS {
            let of: Vec<&Judged> = scored.judged.iter().filter(|one| one.injected.kind == kind).collect();
            if !of.is_empty() {
                line(kind, &of);
            }
        }
        line("all", &scored.judged.iter().collect::<Vec<_>>());
        println!();
        for Judged { injected, verdicts, .. } in scored.judged.iter().filter(|one| !one.is_right) {
            let (kind, place, fault) = (&injected.kind, &injected.place, &injected.fault);
            println!("not named: {kind} at {place}, {fault}: {verdicts:?}");
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
        let family = if options.ipv6 { " --ipv6" } else { "" };
        println!(
            "Repeat: cargo xtask fabric accuracy --scale {} --rounds {} --seed {} --quiet {}{family}",
            options.scale, options.rounds, options.seed, options.quiet
        );
    }

    /// All of it, for programs.
    pub(super) fn json(&self) -> Value {
        let faults = self.scored.judged.iter().map(|one| {
            json!({
                "fault": one.injected.kind,
                "place": one.injected.place,
                "how": one.injected.fault,
                "from_ns": one.injected.from_ns,
                "until_ns": one.injected.until_ns,
                "is_named_in_time": one.is_right,
                "has_place": one.has_place,
                "verdicts": one.verdicts,
                "verdicts_elsewhere": one.elsewhere,
            })
        });
        json!({
            "options": self.options,
            "faults": faults.collect::<Vec<_>>(),
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
        "| {name} | {} | {} | {} | {} |",
        of.len(),
        count(|one| one.is_right),
        count(|one| one.has_place && !one.is_right),
        count(|one| one.elsewhere > 0)
    );
}
