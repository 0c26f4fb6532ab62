//! Joins the values that switches send to readings.

use super::known::Switch;
use super::mapping::{Leaf, Mapping, Target};
use super::message::{Answer, Notification, SubscribeResponse};
use super::numbers::Numbers;
use super::pattern::Kind;
use super::request::Requests;
use super::round::{Round, Rounds};
use super::tree::Found;
use super::value::{self, Scalar};
use crate::switch::{Column, Part, Reading, Samples, Source, trailing_number};
use prost::Message;
use rocescope_model::Text;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Why a counter is not used.
const TWICE: &str = "another path has the same port and column";

/// Ports, queues and priorities that are kept, at most: 4,000 switches with 64 ports.
const MAX_PARTS: usize = 262_144;

/// Switches, as their gNMI servers show them.
#[derive(Debug)]
pub struct Gnmi {
    mappings: Arc<[Mapping]>,
    /// The mapping of each request.
    requests: Vec<usize>,
    switches: Vec<Switch>,
    /// Names that are kept once.
    texts: HashMap<String, Text>,
    numbers: Numbers,
    parts: usize,
    /// Values in readings, by mapping and leaf.
    used: Vec<Vec<u64>>,
    unused: BTreeMap<&'static str, u64>,
    waiting: Vec<Reading>,
}

/// A value, and where it belongs.
#[derive(Debug)]
pub(super) struct Sample {
    mapping: usize,
    leaf: usize,
    found: Found,
    scalar: Scalar,
    time_ns: i64,
}

impl Sample {
    fn leaf<'a>(&self, mappings: &'a [Mapping]) -> Option<&'a Leaf> {
        mappings.get(self.mapping)?.leaves.get(self.leaf)
    }
}

impl Gnmi {
    /// Reads switches with these names, whose messages name them by their place, as these requests subscribe to them. Where
    /// two paths fill the same column, that whose value came first does.
    #[must_use]
    pub fn new(switches: &[Text], requests: &Requests) -> Self {
        let mappings: Arc<[Mapping]> = requests.mappings().into();
        let requests = requests.places();
        let switches = switches.iter().map(|name| Switch::new(name.clone(), requests.len()));
        Self {
            switches: switches.collect(),
            used: mappings.iter().map(|mapping| vec![0; mapping.leaves.len()]).collect(),
            requests,
            mappings,
            texts: HashMap::new(),
            numbers: Numbers::default(),
            parts: 0,
            unused: BTreeMap::new(),
            waiting: Vec::new(),
        }
    }

    /// What happened to the values.
    #[must_use]
    pub fn samples(&self) -> Samples {
        let mut used = BTreeMap::new();
        for (mapping, counts) in self.mappings.iter().zip(&self.used) {
            for (leaf, count) in mapping.leaves.iter().zip(counts) {
                *used.entry(leaf.path.clone()).or_default() += count;
            }
        }
        Samples {
            used,
            unused: self.unused.clone(),
        }
    }

    /// Takes a message that a switch sent in answer to a request.
    pub fn message(&mut self, switch: usize, request: usize, message: &[u8], now_ns: i64) {
        let Ok(message) = SubscribeResponse::decode(message) else {
            return self.count_unused("the message is not readable", 1);
        };
        match (message.answer, self.requests.get(request)) {
            (Some(Answer::Update(notification)), Some(mapping)) => {
                self.notification(switch, *mapping, &notification, now_ns);
            }
            (Some(Answer::Synchronized(true)), _) => self.answered(switch, request),
            _ => {}
        }
    }

    /// A switch has sent everything once that a request asks for, or does not serve it.
    pub fn answered(&mut self, switch: usize, request: usize) {
        let Some(known) = self.switches.get_mut(switch) else {
            return;
        };
        if known.is_synchronized() {
            return;
        }
        if let Some(answered) = known.answered.get_mut(request) {
            *answered = true;
        }
        if known.is_synchronized() {
            for sample in known.modules.take_early() {
                self.add(switch, sample);
            }
            self.end_rounds(switch);
        }
    }

    /// The connection of a switch has ended. The values of readings that are not whole are in no row; what the counters
    /// grew since the last whole one is in the row of the next.
    pub fn ended(&mut self, switch: usize) {
        let Some(known) = self.switches.get_mut(switch) else {
            return;
        };
        known.answered.fill(false);
        let early = known.modules.take_early().len();
        let given_up: usize = known.rounds.values_mut().map(Rounds::give_up).sum();
        self.count_unused("the connection ended before the reading was whole", given_up + early);
    }

    fn count_unused(&mut self, why: &'static str, count: usize) {
        if count > 0 {
            *self.unused.entry(why).or_default() += count as u64;
        }
    }

    fn notification(&mut self, switch: usize, mapping: usize, notification: &Notification, now_ns: i64) {
        let mappings = Arc::clone(&self.mappings);
        let Some(read) = mappings.get(mapping) else {
            return;
        };
        let time_ns = if notification.timestamp > 0 {
            notification.timestamp
        } else {
            now_ns
        };
        let mut samples = Vec::new();
        let mut unreadable = Vec::new();
        let mut coalesced = 0;
        for update in &notification.update {
            coalesced += update.duplicates as usize;
            let mut each = |leaf: usize, found: &Found, scalar: Scalar| {
                samples.push(Sample {
                    mapping,
                    leaf,
                    found: found.clone(),
                    scalar,
                    time_ns,
                });
            };
            unreadable.extend(value::read(&read.tree, notification.prefix.as_ref(), update, &mut each).err());
        }
        self.count_unused("the switch sent a later value in its place", coalesced);
        unreadable.into_iter().for_each(|why| self.count_unused(why, 1));
        for sample in samples {
            self.add(switch, sample);
        }
    }

    /// Adds a value to its reading.
    fn add(&mut self, switch: usize, sample: Sample) {
        if let Err(why) = self.try_add(switch, sample) {
            self.count_unused(why, 1);
        }
    }

    fn try_add(&mut self, switch: usize, sample: Sample) -> Result<(), &'static str> {
        let mappings = Arc::clone(&self.mappings);
        let (Some(leaf), Some(known)) = (sample.leaf(&mappings), self.switches.get_mut(switch)) else {
            return Ok(());
        };
        if leaf.target == Target::BootTime {
            known.started(sample.scalar.count(leaf.scale)?);
            self.count(sample.mapping, sample.leaf);
            return Ok(());
        }
        let last = |kind| {
            sample
                .found
                .iter()
                .rev()
                .find(|(found, _)| *found == kind)
                .map(|(_, text)| text.as_str())
        };
        let port = match (last(Kind::Port), last(Kind::Module)) {
            (Some(port), _) => text(&mut self.texts, port),
            (None, Some(module)) => match known.modules.port(module) {
                Ok(port) => port,
                Err(_) if !known.is_synchronized() && known.modules.has_room() => {
                    known.modules.keep(sample);
                    return Ok(());
                }
                Err(why) => return Err(why),
            },
            (None, None) => return Err("the path has no port"),
        };
        if leaf.target == Target::Module {
            known.modules.set(&sample.scalar.text(), port);
            self.count(sample.mapping, sample.leaf);
            return Ok(());
        }
        let part = match (last(Kind::Queue), last(Kind::Priority)) {
            (Some(queue), _) => Part::Queue(trailing_number(queue).ok_or("the path has no number of the queue")?),
            (None, Some(priority)) => {
                let number = trailing_number(priority).and_then(|number| number.try_into().ok());
                Part::Priority(number.ok_or("the path has no number of the priority")?)
            }
            (None, None) => Part::Port,
        };
        let lane = sample.found.iter().filter(|(kind, _)| *kind == Kind::Other);
        let lane: Vec<&str> = lane.map(|(_, text)| text.as_str()).collect();
        let value = self.numbers.of(sample.mapping, sample.leaf, lane.join("/"))?;
        self.fill(switch, &(port, part), value, leaf, &sample)
    }

    /// Puts a value with a number into the reading of a part.
    fn fill(
        &mut self,
        switch: usize,
        place: &(Text, Part),
        value: u32,
        leaf: &Leaf,
        sample: &Sample,
    ) -> Result<(), &'static str> {
        let Some(known) = self.switches.get_mut(switch) else {
            return Ok(());
        };
        let is_synchronized = known.is_synchronized();
        let first = || Reading {
            switch: known.name.clone(),
            port: place.0.clone(),
            part: place.1,
            ..Reading::default()
        };
        if !known.rounds.contains_key(place) {
            if self.parts >= MAX_PARTS {
                return Err("too many ports and queues at a time");
            }
            self.parts += 1;
        }
        let rounds = known.rounds.entry(place.clone()).or_default();
        // The values of two paths do not grow from one another.
        let has_column = |value: &u32| {
            let (mapping, at) = self.numbers.leaf(*value)?;
            Some(self.mappings.get(mapping)?.leaves.get(at)?.target == leaf.target)
        };
        if leaf.is_counter() && rounds.expects_instead(value, |other| has_column(other) == Some(true)) {
            return Err(TWICE);
        }
        let (round, ended) = rounds.at(value, first);
        let is_set = set(&mut round.reading, leaf, &sample.scalar);
        if is_set.is_ok() {
            round.has.push(value);
            round.reading.time_ns = round.reading.time_ns.max(sample.time_ns);
        }
        let whole = if is_synchronized { rounds.whole() } else { None };
        for round in ended.into_iter().chain(whole) {
            self.pass_on(switch, round);
        }
        is_set
    }

    /// Ends the rounds of a switch, which are whole.
    fn end_rounds(&mut self, switch: usize) {
        let Some(known) = self.switches.get_mut(switch) else {
            return;
        };
        let mut ended: Vec<Round> = known.rounds.values_mut().filter_map(Rounds::take).collect();
        ended.sort_by(|a, b| order(&a.reading).cmp(&order(&b.reading)));
        for round in ended {
            self.pass_on(switch, round);
        }
    }

    fn pass_on(&mut self, switch: usize, round: Round) {
        for value in &round.has {
            if let Some((mapping, leaf)) = self.numbers.leaf(*value) {
                self.count(mapping, leaf);
            }
        }
        let mut reading = round.reading;
        reading.restarts = self.switches.get(switch).map_or(0, |known| known.restarts);
        self.waiting.push(reading);
    }

    fn count(&mut self, mapping: usize, leaf: usize) {
        if let Some(count) = self.used.get_mut(mapping).and_then(|counts| counts.get_mut(leaf)) {
            *count += 1;
        }
    }
}

/// Sets what a value fills.
fn set(reading: &mut Reading, leaf: &Leaf, scalar: &Scalar) -> Result<(), &'static str> {
    match leaf.target {
        Target::PortIndex => reading.port_index = u32::try_from(scalar.count(leaf.scale)?).ok(),
        Target::Column(Column::Gauge(gauge)) => gauge.set(&mut reading.gauges, scalar.gauge(gauge, leaf.scale)?),
        Target::Column(Column::Counter(counter)) => {
            if reading.counters.get(counter).is_some() {
                return Err(TWICE);
            }
            let count = scalar.count(leaf.scale)?;
            match u32::try_from(count) {
                Ok(short) if leaf.is_short => reading.counters.short(counter, Some(short)),
                _ => reading.counters.long(counter, Some(count)),
            }
        }
        Target::Module | Target::BootTime => {}
    }
    Ok(())
}

/// A name that is kept once.
fn text(texts: &mut HashMap<String, Text>, name: &str) -> Text {
    if let Some(known) = texts.get(name) {
        return known.clone();
    }
    let text: Text = name.to_owned().into();
    if texts.len() < MAX_PARTS {
        texts.insert(name.to_owned(), text.clone());
    }
    text
}

impl Source for Gnmi {
    const NAME: &'static str = "gnmi";

    const LACKS: &'static [(&'static str, &'static str)] = &[
        ("transit_max_ns", "models do not have the time of packets in a switch"),
        (
            "dark_lanes",
            "models state the light of a lane, and no lane without light",
        ),
    ];

    fn readings(&mut self, _now_ns: i64, take: &mut dyn FnMut(Reading)) {
        self.waiting.drain(..).for_each(take);
    }
}

/// Readings of the same time have an order too.
fn order(reading: &Reading) -> impl Ord + use<'_> {
    (reading.time_ns, &*reading.port, reading.part)
}
