//! Polls the server, and joins the samples of a scrape to readings.

use super::answer::{self, Series};
use super::mapping::{Mapping, Metric, PartLabel};
use super::query;
use crate::switch::{Column, Names, Part, Reading, Samples, Source, trailing_number, whole};
use rocescope_model::Text;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};

/// The span of a query, at most. Readings of a span are in memory at a time.
const STEP_NS: i64 = 10_000_000_000;

/// Readings of a step that are kept, and names that are kept once, at most: 4,000 switches with 64 ports.
const MAX_READINGS: usize = 262_144;

/// Why a poll failed. Nothing of its span is passed on, and the next poll asks for it again.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server was not reached, or refused.
    #[error("{0}")]
    Get(String),
    /// What it answered for a metric is not usable.
    #[error("{metric}: {why}")]
    Answer {
        /// The metric.
        metric: String,
        /// Why.
        why: String,
    },
}

/// Switches, as a Prometheus server knows them.
#[derive(Debug)]
pub struct Prometheus {
    mappings: Vec<Mapping>,
    selection: Option<String>,
    names: Names,
    /// Everything up to here was asked for.
    until_ns: i64,
    /// Names that are kept once.
    texts: HashMap<String, Text>,
    /// A number for each scrape: job and instance.
    feeds: HashMap<[String; 2], u32>,
    /// The last uptime of a switch, and how often it started again.
    uptimes: HashMap<Text, (f64, u32)>,
    waiting: Vec<Reading>,
    samples: Samples,
}

/// The samples of a step.
#[derive(Default)]
struct Step {
    readings: HashMap<(i64, u32, Text, Text, Part), Reading>,
    uptimes: Vec<(i64, Text, f64)>,
}

/// Where a series belongs.
struct Place {
    switch: Text,
    port: Text,
    port_index: Option<u32>,
    part: Part,
    feed: u32,
}

impl Prometheus {
    /// Samples after `from_ns`, as these mappings read them. `selection` is further matchers of each query, such as
    /// `job="leafs"`. Where two mappings fill the same column from one scrape, the first does.
    #[must_use]
    pub fn new(mappings: Vec<Mapping>, selection: Option<String>, names: Names, from_ns: i64) -> Self {
        let metrics = mappings.iter().flat_map(|mapping| &mapping.metrics);
        let used = metrics.map(|metric| (metric.name.clone(), 0)).collect();
        Self {
            mappings,
            selection,
            names,
            until_ns: from_ns,
            texts: HashMap::new(),
            feeds: HashMap::new(),
            uptimes: HashMap::new(),
            waiting: Vec::new(),
            samples: Samples {
                used,
                unused: BTreeMap::new(),
            },
        }
    }

    /// What happened to the samples.
    #[must_use]
    pub const fn samples(&self) -> &Samples {
        &self.samples
    }

    /// Everything up to this time was read.
    #[must_use]
    pub const fn until_ns(&self) -> i64 {
        self.until_ns
    }

    /// Reads the samples of the next ten seconds, at most up to `until_ns`; `get` reads a path of the server. Returns whether
    /// everything up to `until_ns` was read.
    ///
    /// The server shows a scrape when it has ended, with the time at which it began: `until_ns` must be earlier than now by
    /// the timeout of scrapes, or the rest of a scrape is missing.
    ///
    /// # Errors
    /// The server was not reached, refused, or answered something else.
    pub fn poll(&mut self, until_ns: i64, get: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>) -> Result<bool, Error> {
        let from_ns = self.until_ns;
        let to_ns = until_ns.min(from_ns.saturating_add(STEP_NS)).div_euclid(1_000_000) * 1_000_000;
        if to_ns <= from_ns {
            return Ok(true);
        }
        let mut step = Step::default();
        let mut counted = self.samples.clone();
        let mappings = std::mem::take(&mut self.mappings);
        let asked = mappings
            .iter()
            .try_for_each(|mapping| self.ask(mapping, (from_ns, to_ns), get, &mut step, &mut counted));
        self.mappings = mappings;
        asked?;
        self.samples = counted;
        self.until_ns = to_ns;
        self.pass_on(step);
        Ok(to_ns.saturating_add(1_000_000) > until_ns)
    }

    /// Asks for each metric of a mapping.
    fn ask(
        &mut self,
        mapping: &Mapping,
        (from_ns, to_ns): (i64, i64),
        get: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
        step: &mut Step,
        counted: &mut Samples,
    ) -> Result<(), Error> {
        let is_new = |sample: &(i64, f64)| sample.0 > from_ns && sample.0 <= to_ns;
        let selection = self.selection.clone();
        if let Some(uptime) = &mapping.uptime {
            let path = query::path(uptime, &BTreeMap::new(), selection.as_deref(), from_ns, to_ns);
            let answer = get(&path).map_err(Error::Get)?;
            let read = answer::series(&answer, |series| {
                if let Some(switch) = self.switch(mapping, series) {
                    let samples = series.samples().filter(is_new);
                    step.uptimes
                        .extend(samples.map(|(ns, value)| (ns, switch.clone(), value)));
                }
            });
            read.map_err(|why| Error::Answer {
                metric: uptime.clone(),
                why,
            })?;
        }
        for metric in &mapping.metrics {
            let path = metric.path(selection.as_deref(), from_ns, to_ns);
            let answer = get(&path).map_err(Error::Get)?;
            let mut used = 0;
            let read = answer::series(&answer, |series| {
                let samples = series.samples().filter(is_new);
                match self.place(mapping, metric, series) {
                    Ok(place) => {
                        for sample in samples {
                            match step.add(&place, metric, sample) {
                                Ok(()) => used += 1,
                                Err(why) => *counted.unused.entry(why).or_default() += 1,
                            }
                        }
                    }
                    Err(why) => *counted.unused.entry(why).or_default() += samples.count() as u64,
                }
            });
            *counted.used.entry(metric.name.clone()).or_default() += used;
            read.map_err(|why| Error::Answer {
                metric: metric.name.clone(),
                why,
            })?;
        }
        Ok(())
    }

    /// Where the samples of a series belong, or why nowhere.
    fn place(&mut self, mapping: &Mapping, metric: &Metric, series: &Series<'_>) -> Result<Place, &'static str> {
        let switch = self.switch(mapping, series).ok_or("no label has the switch")?;
        let port = mapping.port.iter().find_map(|label| series.label(label));
        let port = self.text(port.ok_or("no label has the port")?);
        let number = |label: &str| trailing_number(series.label(label)?);
        let part = match &metric.part {
            PartLabel::Port => Part::Port,
            PartLabel::Queue(label) => Part::Queue(number(label).ok_or("no label has the number of the queue")?),
            PartLabel::Priority(label) => {
                let number = number(label).and_then(|number| number.try_into().ok());
                Part::Priority(number.ok_or("no label has the number of the priority")?)
            }
        };
        let of = |label: &str| series.label(label).unwrap_or_default().to_owned();
        let next = u32::try_from(self.feeds.len()).unwrap_or(u32::MAX);
        let feed = *self.feeds.entry([of("job"), of("instance")]).or_insert(next);
        let port_index = mapping.port_index.as_deref().and_then(|label| series.label(label));
        Ok(Place {
            switch,
            port,
            port_index: port_index.and_then(|index| index.parse().ok()),
            part,
            feed,
        })
    }

    /// The name of the switch of a series: that of the topology for an address, and without a port number.
    fn switch(&mut self, mapping: &Mapping, series: &Series<'_>) -> Option<Text> {
        let named = mapping.switch.iter().find_map(|label| series.label(label))?;
        let socket = named.parse::<SocketAddr>().ok().map(|socket| socket.ip());
        if let Some(address) = socket.or_else(|| named.trim_matches(['[', ']']).parse::<IpAddr>().ok()) {
            return Some(self.names.switch(address));
        }
        let name = match named.rsplit_once(':') {
            Some((name, port)) if port.parse::<u16>().is_ok() && !name.contains(':') => name,
            _ => named,
        };
        Some(self.text(name))
    }

    fn text(&mut self, name: &str) -> Text {
        if let Some(known) = self.texts.get(name) {
            return known.clone();
        }
        let text: Text = name.to_owned().into();
        if self.texts.len() < MAX_READINGS {
            self.texts.insert(name.to_owned(), text.clone());
        }
        text
    }

    /// The readings of a step in the order of time, each with the restarts of its switch so far.
    fn pass_on(&mut self, step: Step) {
        let mut readings: Vec<Reading> = step.readings.into_values().collect();
        readings.sort_by(|a, b| order(a).cmp(&order(b)));
        let mut uptimes = step.uptimes;
        uptimes.sort_by_key(|uptime| uptime.0);
        let mut uptimes = uptimes.into_iter().peekable();
        for mut reading in readings {
            while let Some((_, switch, value)) = uptimes.next_if(|uptime| uptime.0 <= reading.time_ns) {
                self.uptime(switch, value);
            }
            reading.restarts = self.uptimes.get(&reading.switch).map_or(0, |known| known.1);
            self.waiting.push(reading);
        }
        for (_, switch, value) in uptimes {
            self.uptime(switch, value);
        }
    }

    /// Takes the uptime of a switch.
    fn uptime(&mut self, switch: Text, value: f64) {
        /// How many values an uptime in hundredths of a second has (SNMP): it starts at 0 again after 497 days.
        const TICKS: f64 = 4_294_967_296.0;
        if self.uptimes.len() >= MAX_READINGS && !self.uptimes.contains_key(&switch) {
            return;
        }
        let (last, restarts) = self.uptimes.entry(switch).or_insert((value, 0));
        let has_wrapped = *last > 0.99 * TICKS && value < 0.01 * TICKS;
        if value < *last && !has_wrapped {
            *restarts += 1;
        }
        *last = value;
    }
}

impl Step {
    /// Adds a sample to the reading of its scrape.
    fn add(&mut self, place: &Place, metric: &Metric, (time_ns, value): (i64, f64)) -> Result<(), &'static str> {
        let value = value * metric.scale;
        if !value.is_finite() {
            return Err("the value is no number");
        }
        let key = (
            time_ns,
            place.feed,
            place.switch.clone(),
            place.port.clone(),
            place.part,
        );
        if self.readings.len() >= MAX_READINGS && !self.readings.contains_key(&key) {
            return Err("too many ports and queues at a time");
        }
        let counted = match metric.column {
            Column::Counter(_) => whole(value).ok_or("the value of a counter is negative")?,
            Column::Gauge(_) => 0,
        };
        let reading = self.readings.entry(key).or_insert_with(|| Reading {
            time_ns,
            switch: place.switch.clone(),
            port: place.port.clone(),
            part: place.part,
            feed: place.feed,
            ..Reading::default()
        });
        reading.port_index = reading.port_index.or(place.port_index);
        match metric.column {
            Column::Gauge(gauge) => gauge.set(&mut reading.gauges, value),
            Column::Counter(counter) if reading.counters.get(counter).is_some() => {
                return Err("another series has the same port and column");
            }
            Column::Counter(counter) if metric.is_short => match u32::try_from(counted) {
                Ok(short) => reading.counters.short(counter, Some(short)),
                Err(_) => reading.counters.long(counter, Some(counted)),
            },
            Column::Counter(counter) => reading.counters.long(counter, Some(counted)),
        }
        Ok(())
    }
}

impl Source for Prometheus {
    const NAME: &'static str = "prometheus";

    const LACKS: &'static [(&'static str, &'static str)] = &[
        (
            "transit_max_ns",
            "exporters do not have the time of packets in a switch",
        ),
        (
            "dark_lanes",
            "exporters state the light of a lane, and no lane without light",
        ),
    ];

    fn readings(&mut self, _now_ns: i64, take: &mut dyn FnMut(Reading)) {
        self.waiting.drain(..).for_each(take);
    }
}

/// Readings of the same time have an order too.
fn order(reading: &Reading) -> impl Ord + use<'_> {
    (
        reading.time_ns,
        &*reading.switch,
        &*reading.port,
        reading.part,
        reading.feed,
    )
}
