//! The mesh of probes: pairs of NICs, service level over time, problems, links.

use super::scope::Scope;
use crate::series::{Join, Series};
use rocescope_diagnose::hostmesh::Problem;
use rocescope_diagnose::mesh::Pairs;
use rocescope_model::{LinkRow, Over, PairRow, ProbeRow, Row, SlaRow, Time, VerdictRow};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Maximum number of separate problems; further ones are only counted.
const MOST_PROBLEMS: usize = 1_000;
/// Maximum number of separate links; rows of further ones are only counted.
const MOST_LINKS: usize = 65_536;
/// Period length for probes without an analysis.
const UNKNOWN_NS: i64 = 20_000_000_000;

/// One or several consecutive windows of the analysis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeshPeriod {
    /// Merged by the rules of the columns: counts are sums, drop ratios are ratios of sums; hosts, `asymmetric_ratio`
    /// and quantiles are maxima.
    pub sums: SlaRow,
    /// Number of windows.
    pub windows: u64,
}

impl Join for MeshPeriod {
    fn join(&mut self, other: Self) {
        if self.windows == 0 {
            *self = other;
            return;
        }
        self.sums.merge(&other.sums, Over::Time);
        self.windows += other.windows;
    }
}

/// The mesh of probes in a report.
#[derive(Debug)]
pub struct MeshFigures {
    /// Time of the first probe or the first window.
    pub start_ns: i64,
    /// Time of the last probe or the end of the last window.
    pub end_ns: i64,
    /// Pairs of NICs, sorted by name.
    pub pairs: Vec<PairRow>,
    /// Probes of pairs beyond the maximum number of pairs.
    pub unfollowed: u64,
    /// Windows of the analysis over time; empty if the probes are not analyzed.
    pub series: Series<MeshPeriod>,
    /// Sum of all windows.
    pub total: MeshPeriod,
    /// Problems in the order in which they were first seen.
    pub problems: Vec<Problem>,
    /// Number of verdicts of further problems.
    pub more_verdicts: u64,
    /// Sums of every discovered link.
    pub links: Vec<LinkRow>,
    /// Number of rows of further links.
    pub more_links: u64,
    /// Links that probes crossed in the last window, and all discovered links.
    pub last_links: (u64, u64),
}

impl MeshFigures {
    /// Returns windows, or several neighbours merged up to `window_ns`, as rows of `sla`.
    #[must_use]
    pub fn sla(&self) -> Vec<SlaRow> {
        let window_ns = self.series.period_ns();
        let periods = self.series.iter().map(|(start_ns, period)| SlaRow {
            window_start: Time(start_ns),
            window_start_ns: start_ns,
            window_ns,
            ..period.sums.clone()
        });
        periods.collect()
    }
}

/// The rows collected so far.
#[derive(Debug)]
pub(super) struct Mesh {
    pairs: Pairs,
    span: Option<(i64, i64)>,
    series: Option<Series<MeshPeriod>>,
    total: MeshPeriod,
    problems: Vec<Problem>,
    more_verdicts: u64,
    links: BTreeMap<(IpAddr, String), LinkRow>,
    more_links: u64,
    last_links: (i64, u64, u64),
}

impl Mesh {
    pub(super) fn new() -> Self {
        Self {
            pairs: Pairs::default(),
            span: None,
            series: None,
            total: MeshPeriod::default(),
            problems: Vec::new(),
            more_verdicts: 0,
            links: BTreeMap::new(),
            more_links: 0,
            last_links: (i64::MIN, 0, 0),
        }
    }

    fn reach(&mut self, from_ns: i64, to_ns: i64) {
        let (start_ns, end_ns) = self.span.unwrap_or((from_ns, to_ns));
        self.span = Some((start_ns.min(from_ns), end_ns.max(to_ns)));
    }

    pub(super) fn probe(&mut self, row: &ProbeRow) {
        self.reach(row.time_ns, row.time_ns.saturating_add(1));
        self.pairs.probe(row);
    }

    pub(super) fn sla(&mut self, row: &SlaRow) {
        self.reach(row.window_start_ns, row.window_start_ns.saturating_add(row.window_ns));
        let mut period = MeshPeriod {
            sums: row.clone(),
            windows: 1,
        };
        period.sums.recompute();
        self.total.join(period.clone());
        let series = &mut self.series;
        let series = series.get_or_insert_with(|| Series::new(row.window_ns));
        series.add(row.window_start_ns, period);
    }

    pub(super) fn verdict(&mut self, row: &VerdictRow) {
        let mut known = self.problems.iter_mut().rev();
        if let Some(problem) = known.find(|problem| problem.continues_in(row)) {
            problem.add(row);
        } else if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem::new(row));
        } else {
            self.more_verdicts += 1;
        }
    }

    pub(super) fn link(&mut self, row: &LinkRow) {
        let (last_ns, crossed, learnt) = &mut self.last_links;
        if row.window_start_ns > *last_ns {
            (*last_ns, *crossed, *learnt) = (row.window_start_ns, 0, 0);
        }
        if row.window_start_ns == *last_ns {
            *crossed += u64::from(row.probes > 0);
            *learnt += 1;
        }
        let key = (row.address, row.from.to_string());
        let full = self.links.len() >= MOST_LINKS;
        if full && !self.links.contains_key(&key) {
            self.more_links += 1;
            return;
        }
        self.links
            .entry(key)
            .and_modify(|sum| sum.merge(row, Over::Time))
            .or_insert_with(|| row.clone());
    }

    /// Returns the mesh; `None` without rows of it.
    pub(super) fn finish(self, scope: &Scope) -> Option<MeshFigures> {
        let (mut start_ns, mut end_ns) = self.span?;
        start_ns = scope.from.map_or(start_ns, |from| start_ns.max(from.0));
        end_ns = scope.to.map_or(end_ns, |to| end_ns.min(to.0));
        let (_, crossed, learnt) = self.last_links;
        Some(MeshFigures {
            start_ns,
            end_ns,
            pairs: self.pairs.rows(start_ns, end_ns.saturating_sub(start_ns)),
            unfollowed: self.pairs.unfollowed(),
            series: self.series.unwrap_or_else(|| Series::new(UNKNOWN_NS)),
            total: self.total,
            problems: self.problems,
            more_verdicts: self.more_verdicts,
            links: self.links.into_values().collect(),
            more_links: self.more_links,
            last_links: (crossed, learnt),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_PROBLEMS, Mesh};
    use crate::Scope;
    use rocescope_model::{LinkRow, SlaRow, VerdictRow};

    #[test]
    fn windows_are_summed_and_quantiles_stay_the_largest() {
        let mut mesh = Mesh::new();
        for (window, drops, p99) in [(0, 1, 5), (1, 3, 9), (2, 0, 7)] {
            mesh.sla(&SlaRow {
                window_start_ns: window * 20,
                window_ns: 20,
                probes: 100,
                switch_drops: drops,
                network_p99_ns: Some(p99),
                ..SlaRow::default()
            });
        }
        let figures = mesh.finish(&Scope::default()).unwrap();
        assert_eq!((figures.start_ns, figures.end_ns), (0, 60));
        let total = &figures.total;
        assert_eq!((total.windows, total.sums.probes), (3, 300));
        assert_eq!(total.sums.network_p99_ns, Some(9));
        assert_eq!(total.sums.switch_drop_ratio, Some(4.0 / 300.0));
        let sla = figures.sla();
        assert_eq!(sla.len(), 3);
        assert_eq!(sla[1].switch_drop_ratio, Some(0.03));
        assert!(Mesh::new().finish(&Scope::default()).is_none());
    }

    #[test]
    fn links_are_summed_and_the_last_window_reports_what_is_covered() {
        let mut mesh = Mesh::new();
        for (window, to, probes) in [(0, "a", 5), (0, "b", 0), (20, "a", 7), (20, "b", 0), (20, "c", 1)] {
            mesh.link(&LinkRow {
                window_start_ns: window,
                window_ns: 20,
                from: to.into(),
                to: to.into(),
                probes,
                ..LinkRow::default()
            });
        }
        mesh.reach(0, 40);
        let figures = mesh.finish(&Scope::default()).unwrap();
        assert_eq!(figures.last_links, (2, 3));
        let probes: Vec<u64> = figures.links.iter().map(|link| link.probes).collect();
        assert_eq!(probes, [12, 0, 1]);
    }

    #[test]
    fn problems_without_end_do_not_fill_the_memory() {
        let mut mesh = Mesh::new();
        for since_ns in 0..2_000 {
            mesh.verdict(&VerdictRow {
                since_ns,
                ..VerdictRow::default()
            });
        }
        assert_eq!(mesh.problems.len(), MOST_PROBLEMS);
        assert_eq!(mesh.more_verdicts, 1_000);
    }
}
