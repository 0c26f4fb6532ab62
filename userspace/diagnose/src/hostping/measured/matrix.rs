//! Measurements as a matrix: a row for each NIC, a column for each endpoint.

use super::{Measurement, Nic};
use crate::hostping::topology::{NodeKind, Reach, Topology};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

/// What a test measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Bandwidth in Gbit/s.
    Bandwidth,
    /// Latency in microseconds.
    Latency,
}

impl Quantity {
    /// The title of its matrix, with the unit.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Bandwidth => "Bandwidth (Gbit/s)",
            Self::Latency => "Latency (us)",
        }
    }
}

/// What was measured between a NIC and an endpoint.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// Bandwidth of the largest messages, in Gbit/s.
    pub bandwidth_gbps: Option<f64>,
    /// Latency of the smallest messages, in microseconds.
    pub latency_us: Option<f64>,
    /// Latency in microseconds by size in bytes.
    pub by_size: Vec<(u64, f64)>,
    /// Size of the messages of the bandwidth.
    pub size_bytes: Option<u64>,
}

impl Cell {
    /// The value of a quantity.
    #[must_use]
    pub const fn value(&self, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::Bandwidth => self.bandwidth_gbps,
            Quantity::Latency => self.latency_us,
        }
    }

    fn add(&mut self, one: &Measurement) {
        if let Some(bandwidth) = one.bandwidth_gbps
            && (self.bandwidth_gbps.is_none() || one.size_bytes >= self.size_bytes)
        {
            self.bandwidth_gbps = Some(bandwidth);
            self.size_bytes = one.size_bytes;
        }
        if let Some(latency) = one.latency_us {
            if let Some(size) = one.size_bytes {
                self.by_size.push((size, latency));
                self.by_size.sort_by_key(|(size, _)| *size);
                self.latency_us = self.by_size.first().map(|(_, latency)| *latency);
            } else {
                self.latency_us = Some(latency);
            }
        }
    }
}

/// Measurements by NIC and endpoint.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    /// The NICs, in the order of the input.
    pub nics: Vec<String>,
    /// The endpoints, in the order of the input.
    pub endpoints: Vec<String>,
    cells: BTreeMap<(String, String), Cell>,
}

impl Matrix {
    /// Names NICs and endpoints as the topology does.
    ///
    /// # Errors
    /// A name that is not in the topology.
    pub fn of(measured: &[Measurement], topology: &Topology) -> Result<Self, String> {
        let mut matrix = Self::default();
        for one in measured {
            for nic in nics(&one.nic, topology)? {
                let endpoint = endpoint(one.endpoint.as_deref(), nic, topology)?;
                let (nic, endpoint) = (&topology.nodes[nic].name, &topology.nodes[endpoint].name);
                matrix.cell_mut(nic, endpoint).add(one);
            }
        }
        Ok(matrix)
    }

    /// The cell of a pair; made if missing.
    pub fn cell_mut(&mut self, nic: &str, endpoint: &str) -> &mut Cell {
        if !self.nics.iter().any(|other| other == nic) {
            self.nics.push(nic.to_string());
        }
        if !self.endpoints.iter().any(|other| other == endpoint) {
            self.endpoints.push(endpoint.to_string());
        }
        self.cells.entry((nic.to_string(), endpoint.to_string())).or_default()
    }

    /// The cell of a pair.
    #[must_use]
    pub fn cell(&self, nic: &str, endpoint: &str) -> Option<&Cell> {
        self.cells.get(&(nic.to_string(), endpoint.to_string()))
    }

    /// The pairs with their cells, NIC by NIC.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &str, &Cell)> {
        let pairs = self
            .nics
            .iter()
            .flat_map(|nic| self.endpoints.iter().map(move |to| (nic, to)));
        pairs.filter_map(|(nic, to)| Some((nic.as_str(), to.as_str(), self.cell(nic, to)?)))
    }

    /// The median of several matrices, cell by cell: a baseline.
    #[must_use]
    pub fn median(all: &[Self]) -> Self {
        let mut result = Self::default();
        for pair in all
            .iter()
            .flat_map(Self::cells)
            .map(|(nic, to, _)| (nic, to))
            .collect::<Vec<_>>()
        {
            let cells = || all.iter().filter_map(|matrix| matrix.cell(pair.0, pair.1));
            let bandwidth_gbps = median(cells().filter_map(|cell| cell.bandwidth_gbps));
            let latency_us = median(cells().filter_map(|cell| cell.latency_us));
            *result.cell_mut(pair.0, pair.1) = Cell {
                bandwidth_gbps,
                latency_us,
                ..Cell::default()
            };
        }
        result
    }

    /// The matrix as text, which [`read`](super::read) reads; empty without values. `mark` gives what follows a value.
    #[must_use]
    pub fn text(&self, quantity: Quantity, mark: impl Fn(&str, &str) -> &'static str) -> String {
        let mut out = String::new();
        if !self.cells.values().any(|cell| cell.value(quantity).is_some()) {
            return out;
        }
        let _ = writeln!(out, "{}", quantity.title());
        let first = self
            .nics
            .iter()
            .map(|nic| nic.chars().count())
            .max()
            .unwrap_or_default();
        let mut lines: Vec<Vec<String>> = alloc::vec![self.endpoints.clone()];
        for nic in &self.nics {
            let text = |to: &String| {
                let value = self.cell(nic, to).and_then(|cell| cell.value(quantity));
                value.map_or("-".to_string(), |value| format!("{value:.3}{}", mark(nic, to)))
            };
            lines.push(self.endpoints.iter().map(text).collect());
        }
        let widths: Vec<usize> = (0..self.endpoints.len())
            .map(|column| {
                lines
                    .iter()
                    .map(|line| line[column].chars().count())
                    .max()
                    .unwrap_or_default()
            })
            .collect();
        for (line, name) in lines
            .iter()
            .zip(core::iter::once("").chain(self.nics.iter().map(String::as_str)))
        {
            let _ = write!(out, "{name:first$}");
            for (word, width) in line.iter().zip(&widths) {
                let _ = write!(out, "  {word:>width$}");
            }
            let _ = writeln!(out);
        }
        out
    }

    /// The hosts that measurements name.
    #[must_use]
    pub fn hosts(measured: &[Measurement]) -> BTreeSet<&str> {
        measured.iter().filter_map(|one| one.host.as_deref()).collect()
    }
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

fn nics(nic: &Nic, topology: &Topology) -> Result<Vec<usize>, String> {
    let all: Vec<usize> = topology.of_kind(NodeKind::Nic).collect();
    let known = || {
        let names: Vec<&str> = all.iter().map(|nic| topology.nodes[*nic].name.as_str()).collect();
        if names.is_empty() {
            "the topology has no NICs".to_string()
        } else {
            format!("the topology has {}", names.join(", "))
        }
    };
    match nic {
        Nic::Every => Ok(all),
        Nic::Index(index) => {
            let at = all
                .get(*index)
                .copied()
                .ok_or_else(|| format!("no NIC {index}: {}", known()))?;
            Ok(alloc::vec![at])
        }
        Nic::Name(name) => {
            let at = topology.find(name).filter(|at| all.contains(at));
            let at = at.ok_or_else(|| format!("{name} is no NIC of the topology: {}", known()))?;
            Ok(alloc::vec![at])
        }
    }
}

fn endpoint(name: Option<&str>, nic: usize, topology: &Topology) -> Result<usize, String> {
    let all = topology.endpoints();
    match name {
        Some(name) => topology.find(name).filter(|at| all.contains(at)).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|at| topology.nodes[*at].name.as_str()).collect();
            format!("{name} is no endpoint of the topology: it has {}", names.join(", "))
        }),
        None => {
            let near = |at: &usize| {
                topology
                    .path(nic, *at)
                    .is_some_and(|path| path.reach == Reach::NearMemory)
            };
            let nic = &topology.nodes[nic].name;
            let near = all.into_iter().find(near);
            near.ok_or_else(|| format!("the topology has no memory near {nic}: name the endpoint"))
        }
    }
}
