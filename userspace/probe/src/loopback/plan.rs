//! Which tests a run has, how long they take and how many bytes they write.

use crate::types::Nanos;
use rocescope_diagnose::hostping::Topology;
use rocescope_diagnose::hostping::topology::NodeKind;
use std::fmt::Write;

/// The line rate that bounds the bytes of a plan if the topology does not have that of a NIC, in Gbit/s.
const RATE_GBPS: f64 = 400.0;
/// Time to register memory and to connect a queue pair.
const OPENING: Nanos = Nanos(25_000_000);

/// A NIC and an endpoint of its host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The NIC.
    pub nic: String,
    /// The endpoint: `mem0`, `GPU3`.
    pub endpoint: String,
}

/// What the tests of a pair consist of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Message sizes of the latency tests, in bytes.
    pub sizes: Vec<u64>,
    /// Time of the latency test of one size.
    pub latency: Nanos,
    /// Message size of the bandwidth test, in bytes.
    pub size: u64,
    /// Messages in flight in the bandwidth test.
    pub depth: u32,
    /// Time of the bandwidth test before it counts.
    pub warm_up: Nanos,
    /// Time in which it counts.
    pub bandwidth: Nanos,
}

impl Shape {
    /// On an idle host.
    #[must_use]
    pub fn idle() -> Self {
        Self {
            sizes: vec![8, 4_096, 65_536, 262_144],
            latency: Nanos(5_000_000),
            size: 1 << 20,
            depth: 4,
            warm_up: Nanos(10_000_000),
            bandwidth: Nanos(50_000_000),
        }
    }

    /// On a busy host, whose traffic the tests slow down: bandwidth only, and short.
    #[must_use]
    pub fn busy() -> Self {
        Self {
            sizes: Vec::new(),
            warm_up: Nanos(2_000_000),
            bandwidth: Nanos(8_000_000),
            ..Self::idle()
        }
    }

    /// Time of the tests of a pair.
    #[must_use]
    pub fn time(&self) -> Nanos {
        let sizes = i64::try_from(self.sizes.len()).unwrap_or(i64::MAX);
        let latency = Nanos(self.latency.0.saturating_mul(sizes));
        OPENING + latency + self.warm_up + self.bandwidth
    }
}

/// The tests of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The pairs, in the order of their tests.
    pub pairs: Vec<Pair>,
    /// What the tests of a pair consist of.
    pub shape: Shape,
    /// Time of all tests, unless a link is too slow for a message in the time of a test.
    pub time: Nanos,
    /// Bytes that all tests write at most.
    pub bytes: u64,
}

impl Plan {
    /// Plans the tests of these NICs and endpoints; of all if a list is empty.
    ///
    /// # Errors
    /// A name that the topology does not have.
    pub fn new(topology: &Topology, nics: &[String], endpoints: &[String], shape: Shape) -> Result<Self, String> {
        let nics = chosen(topology, topology.of_kind(NodeKind::Nic).collect(), nics, "NIC")?;
        let endpoints = chosen(topology, topology.endpoints(), endpoints, "endpoint")?;
        let name = |node: usize| topology.nodes[node].name.clone();
        let mut pairs = Vec::new();
        let mut bits = 0.0;
        for nic in &nics {
            for endpoint in &endpoints {
                pairs.push(Pair {
                    nic: name(*nic),
                    endpoint: name(*endpoint),
                });
                bits += topology.nodes[*nic].rate_gbps.unwrap_or(RATE_GBPS) * shape.time().0 as f64;
            }
        }
        let count = i64::try_from(pairs.len()).unwrap_or(i64::MAX);
        Ok(Self {
            time: Nanos(shape.time().0.saturating_mul(count)),
            bytes: (bits / 8.0) as u64,
            pairs,
            shape,
        })
    }

    /// The plan in a few lines.
    #[must_use]
    pub fn text(&self) -> String {
        let mut nics: Vec<&str> = self.pairs.iter().map(|pair| pair.nic.as_str()).collect();
        nics.dedup();
        let endpoints = self.pairs.len().checked_div(nics.len()).unwrap_or_default();
        let ms = |time: Nanos| time.0 as f64 / 1e6;
        let mut out = format!(
            "{} tests: {} NICs to {endpoints} endpoints, one at a time\n",
            self.pairs.len(),
            nics.len()
        );
        // Writing to a string cannot fail.
        let shape = &self.shape;
        if !shape.sizes.is_empty() {
            let sizes: Vec<String> = shape.sizes.iter().map(ToString::to_string).collect();
            let _ = writeln!(
                out,
                "latency    messages of {} bytes, {} ms each",
                sizes.join(", "),
                ms(shape.latency)
            );
        }
        let _ = writeln!(
            out,
            "bandwidth  messages of {} bytes, {} in flight, {} ms after {} ms to warm up",
            shape.size,
            shape.depth,
            ms(shape.bandwidth),
            ms(shape.warm_up)
        );
        let _ = writeln!(
            out,
            "total      {:.1} s, at most {:.1} GB",
            self.time.0 as f64 / 1e9,
            self.bytes as f64 / 1e9
        );
        out
    }
}

/// The nodes of these names among `all`; all of them without a name.
fn chosen(topology: &Topology, all: Vec<usize>, names: &[String], what: &str) -> Result<Vec<usize>, String> {
    if names.is_empty() {
        return Ok(all);
    }
    let find = |name: &String| {
        let found = topology.find(name).filter(|node| all.contains(node));
        found.ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|node| topology.nodes[*node].name.as_str()).collect();
            format!("{name} is no {what} of the topology: it has {}", known.join(", "))
        })
    };
    names.iter().map(find).collect()
}
