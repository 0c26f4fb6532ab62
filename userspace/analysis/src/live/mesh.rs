//! Windows of the mesh: reports problems when they begin and when they end.

use super::reanalysis::Reanalysis;
use super::reanalyzer::{Message, Reanalyzer, Revised, Sender, Stop, pass};
use super::{Driver, Reporter, Settings, resume};
use crate::cores::at_once;
use crate::incidents::findings::Findings;
use crate::{Error, Reads, topology};
use rocescope_collector::server::Rows;
use rocescope_diagnose::hostmesh::problem::evidence;
use rocescope_diagnose::hostmesh::{self, Analyzer, Changes, PreviousAnalysis, WindowDiagnosis};
use rocescope_model::human::visible;
use rocescope_model::{LinkRow, ProbeRow, Row, SlaRow, Text, Time, VerdictRow};
use rocescope_store::{Query, Scan, TimeRange};
use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::ops::Range;

/// Windows before the first one that is analyzed again: the baselines of five minutes.
const BEFORE: i64 = 15;

/// The analysis of a mesh as the rows of it are stored.
pub(super) fn start(settings: &Settings) -> Result<Driver<Mesh>, Error> {
    let of_mesh = hostmesh::Settings::default().scaled(settings.scale.into());
    let mut analysis = Analyzer::new(of_mesh, settings.observer.clone())?.with(at_once);
    if let Some(path) = &settings.topology {
        topology::read(path, &mut analysis)?;
    }
    if settings.dataset.is_dir() {
        backfill(settings, &of_mesh, &mut analysis).map_err(Error::Resume)?;
    }
    analysis.set_live(Time(settings.now_ns()));
    let reanalyzer = MeshReanalyzer {
        settings: settings.clone(),
        of_mesh,
    };
    Ok(Driver {
        reanalysis: Reanalysis::new(reanalyzer, settings, settings.watermark()),
        reporter: Mesh {
            settings: settings.clone(),
            known: BTreeSet::new(),
            unjudged: Text::default(),
            revised: Vec::new(),
            findings: Findings::default(),
        },
        settings: settings.clone(),
        analysis,
        pending: Vec::new(),
    })
}

/// Feeds the last rows, and skips the windows that have been analyzed.
fn backfill(
    settings: &Settings,
    of_mesh: &hostmesh::Settings,
    analysis: &mut Analyzer,
) -> Result<(), rocescope_store::Error> {
    let from = settings.watermark().0 - of_mesh.sticky_ns - 2 * of_mesh.window_ns;
    resume(settings, analysis, from)?;
    // An analysis may be later than its probes.
    let analyses = TimeRange::since(Time(from)).from_whole_hour();
    let found = Query::default()
        .tables(&[SlaRow::TABLE])
        .within(analyses)
        .scan(&settings.dataset)?;
    let mut analyzed = i64::MIN;
    found.select::<SlaRow>().for_each(|row| {
        if row.observer == settings.observer {
            analyzed = analyzed.max(row.window_start_ns + row.window_ns);
        }
    })?;
    // These windows have been analyzed and stored.
    analysis.advance(Time(analyzed));
    Ok(())
}

/// Reports the problems of a mesh.
pub(super) struct Mesh {
    settings: Settings,
    /// Symptoms and places of the last window's verdicts: a problem is reported when it starts and ends.
    known: BTreeSet<(String, String)>,
    /// What the last window could not judge: it is reported when it changes.
    unjudged: Text,
    revised: Vec<Change>,
    /// The problems, for the incidents.
    pub(super) findings: Findings,
}

/// A verdict that windows in a row have gained or lost.
struct Change {
    verdict: VerdictRow,
    is_found: bool,
    until_ns: i64,
}

impl Reporter for Mesh {
    type Analysis = Analyzer;
    type Reanalyzer = MeshReanalyzer;

    fn report(&mut self, analysis: &Analyzer, window: WindowDiagnosis, due: &mut Vec<Rows>) {
        self.print(&window);
        self.findings.window(window.start_ns);
        window.verdicts.iter().for_each(|row| self.findings.add(row));
        self.settings.diagnosed.add(&window.sla, &window.verdicts);
        due.extend(rows(analysis.link_rows(&window), window));
    }

    fn revise(&mut self, _: &Analyzer, changes: Changes, _: &mut Vec<Rows>) {
        self.settings.diagnosed.add_revised();
        changes.found.iter().for_each(|row| self.findings.add(row));
        for (verdicts, is_found) in [(changes.found, true), (changes.gone, false)] {
            verdicts.into_iter().for_each(|verdict| self.change(verdict, is_found));
        }
    }

    fn report_revised(&mut self) {
        for change in mem::take(&mut self.revised) {
            self.print_change(&change);
        }
    }
}

/// The rows of a window. `sla` is last: a window with a row in it is complete in the other tables.
fn rows(links: Vec<LinkRow>, window: WindowDiagnosis) -> [Rows; 3] {
    [Box::new(links), Box::new(window.verdicts), Box::new(vec![window.sla])]
}

impl Mesh {
    fn print(&mut self, window: &WindowDiagnosis) {
        let (settings, start) = (&self.settings, Time(window.start_ns));
        let mut now = BTreeSet::new();
        for verdict in &window.verdicts {
            let key = (verdict.symptom.to_string(), verdict.place.to_string());
            if !self.known.contains(&key) {
                // Earlier collectors stored any name that an agent sent.
                let sentence = visible(&verdict.sentence);
                settings.notice(&format!("{start:.0}  {}: {sentence}", verdict.class));
                settings.notice(&details(verdict));
                settings.notice(&format!("    do: {}", verdict.action));
            }
            now.insert(key);
        }
        if !settings.quiet {
            for (symptom, place) in self.known.difference(&now) {
                settings.notice(&format!("{start:.0}  resolved: {symptom} at {}", visible(place)));
            }
        }
        self.known = now;
        let unjudged = &window.sla.unjudged;
        if !settings.quiet && !unjudged.is_empty() && *unjudged != self.unjudged {
            settings.notice(&format!("{start:.0}  not judged: {unjudged}"));
        }
        self.unjudged = unjudged.clone();
    }

    fn change(&mut self, verdict: VerdictRow, is_found: bool) {
        let until_ns = verdict.window_start_ns.saturating_add(verdict.window_ns);
        let is_same = |known: &&mut Change| {
            let before = &known.verdict;
            known.is_found == is_found && (&before.symptom, &before.place) == (&verdict.symptom, &verdict.place)
        };
        match self.revised.iter_mut().find(is_same) {
            Some(known) => known.until_ns = until_ns,
            None => self.revised.push(Change {
                verdict,
                is_found,
                until_ns,
            }),
        }
    }

    fn print_change(&self, change: &Change) {
        let Change {
            verdict,
            is_found,
            until_ns,
        } = change;
        let settings = &self.settings;
        let mut span = format!("{:.0}", Time(verdict.window_start_ns));
        if *until_ns > verdict.window_start_ns.saturating_add(verdict.window_ns) {
            span += &format!(" to {:.0}", Time(*until_ns));
        }
        if *is_found {
            let (class, sentence) = (&verdict.class, visible(&verdict.sentence));
            settings.notice(&format!("{span}  found in rows that came late: {class}: {sentence}"));
            settings.notice(&details(verdict));
            settings.notice(&format!("    do: {}", verdict.action));
        } else if !settings.quiet {
            let (symptom, place) = (&verdict.symptom, visible(&verdict.place));
            settings.notice(&format!(
                "{span}  no longer holds, rows came late: {symptom} at {place}"
            ));
        }
    }
}

fn details(verdict: &VerdictRow) -> String {
    let since = Time(verdict.since_ns);
    format!("    since {since:.0}; {}", evidence(verdict, verdict.score))
}

/// Analyzes windows of a mesh again, and stores them with a higher number.
pub(super) struct MeshReanalyzer {
    settings: Settings,
    of_mesh: hostmesh::Settings,
}

impl Reanalyzer for MeshReanalyzer {
    type Changes = Changes;

    fn window_ns(&self) -> i64 {
        self.of_mesh.window_ns
    }

    fn incomplete_windows(&self, time: Range<i64>) -> Result<Vec<i64>, Stop> {
        let window_ns = self.window_ns();
        let mut stored: BTreeMap<i64, u64> = BTreeMap::new();
        let tables = [ProbeRow::TABLE, SlaRow::TABLE, VerdictRow::TABLE];
        let range = TimeRange::from(time);
        let found = Query::default()
            .tables(&tables)
            .within(range)
            .scan(&self.settings.dataset)?;
        let probes = found
            .select::<ProbeRow>()
            .columns(<Analyzer as Reads<ProbeRow>>::is_read);
        probes.for_each(|row| {
            // These are in no count of an analysis.
            if row.outcome.as_str() != "unknown" {
                let start_ns = row.time_ns.saturating_sub(row.time_ns.rem_euclid(window_ns));
                *stored.entry(start_ns).or_default() += 1;
            }
        })?;
        let previous = self.previous(&found, range)?;
        let lacks = |(start, rows): &(i64, u64)| {
            let sla = previous.get(start).and_then(|previous| previous.sla.as_ref());
            *rows > sla.map_or(0, |sla| sla.probes + sla.unsent)
        };
        Ok(stored.into_iter().filter(lacks).map(|(start, _)| start).collect())
    }

    fn analyze(&self, windows: BTreeMap<i64, Option<u32>>, sender: &Sender<Changes>) -> Result<(), Stop> {
        let (Some((first, _)), Some((last, _))) = (windows.first_key_value(), windows.last_key_value()) else {
            return Ok(());
        };
        let range = TimeRange::from(*first..*last + self.window_ns());
        let tables = [SlaRow::TABLE, VerdictRow::TABLE];
        let found = Query::default()
            .tables(&tables)
            .within(range)
            .scan(&self.settings.dataset)?;
        let mut all = self.previous(&found, range)?;
        let mut group: BTreeMap<i64, PreviousAnalysis> = BTreeMap::new();
        for (start, made) in windows {
            let previous = all.remove(&start).unwrap_or_default();
            let stored = previous.sla.as_ref().map(|sla| sla.revision.unwrap_or(0));
            if made.is_some() && made != stored {
                sender.send(Message::Unsealed(start))?;
                continue;
            }
            let last = group.last_key_value().map_or(start, |(last, _)| *last);
            if start - last > BEFORE * self.window_ns() {
                self.group(&mem::take(&mut group), sender)?;
            }
            group.insert(start, previous);
        }
        self.group(&group, sender)
    }
}

impl MeshReanalyzer {
    /// The latest analyses of the windows of a time, by their starts.
    fn previous(&self, found: &Scan, time: TimeRange) -> Result<BTreeMap<i64, PreviousAnalysis>, Stop> {
        let mut all: BTreeMap<i64, PreviousAnalysis> = BTreeMap::new();
        let (revisions, observer) = (found.revisions(time)?, &self.settings.observer);
        found.select::<SlaRow>().within(time).for_each(|row| {
            if row.observer == *observer && revisions.has(&row) {
                let previous = all.entry(row.window_start_ns).or_default();
                previous.sla = Some(row);
            }
        })?;
        found.select::<VerdictRow>().within(time).for_each(|row| {
            if row.observer == *observer && revisions.has(&row) {
                let previous = all.entry(row.window_start_ns).or_default();
                previous.verdicts.push(row);
            }
        })?;
        Ok(all)
    }

    /// Analyzes windows that are close to each other in one pass.
    fn group(&self, group: &BTreeMap<i64, PreviousAnalysis>, sender: &Sender<Changes>) -> Result<(), Stop> {
        let window_ns = self.window_ns();
        let (Some((first, _)), Some((last, _))) = (group.first_key_value(), group.last_key_value()) else {
            return Ok(());
        };
        let (from, until) = (*first - BEFORE * window_ns, *last + window_ns);
        let mut analyzer = self.analyzer(group, from)?;
        pass(
            &mut analyzer,
            &self.settings.dataset,
            from..until,
            |analyzer, mut window| {
                let Some(previous) = group.get(&window.start_ns) else {
                    return Ok(());
                };
                let mut links = analyzer.link_rows(&window);
                let Some(changes) = previous.revise(&mut window, &mut links) else {
                    return Ok(());
                };
                sender.send(Message::Revised(Box::new(Revised {
                    windows: vec![(window.start_ns, window.sla.revision.unwrap_or(0))],
                    changes,
                    rows: rows(links, window).into(),
                })))
            },
        )
    }

    /// An analyzer before the first row of `from`: hosts that were silent already by then are known.
    fn analyzer(&self, group: &BTreeMap<i64, PreviousAnalysis>, from: i64) -> Result<Analyzer, Stop> {
        let mut analyzer = Analyzer::new(self.of_mesh, self.settings.observer.clone()).map_err(Error::from)?;
        if let Some(path) = &self.settings.topology {
            topology::read(path, &mut analyzer)?;
        }
        analyzer.set_live(Time(i64::MIN));
        let verdicts = group.values().flat_map(|previous| &previous.verdicts);
        for verdict in verdicts.filter(|verdict| &*verdict.symptom == "silence" && verdict.since_ns < from) {
            if let Some(host) = &verdict.host {
                analyzer.seed_host(host, Time(verdict.since_ns), verdict.probes);
            }
        }
        Ok(analyzer)
    }
}
