//! What a source read of a port, a queue or a priority.

use rocescope_model::Text;

/// What a switch counts. Frames by kind add up to all frames, which some sources count themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the columns of `switch_ports` have these names")]
pub enum Counter {
    InBytes,
    InFrames,
    InUnicast,
    InMulticast,
    InBroadcast,
    OutBytes,
    OutFrames,
    OutUnicast,
    OutMulticast,
    OutBroadcast,
    InDropped,
    OutDropped,
    EcnMarked,
    SentPauses,
    ReceivedPauses,
    PausingNs,
    PausedNs,
    WatchdogStorms,
    WatchdogRestores,
    InErrors,
    OutErrors,
    FcsErrors,
    SymbolErrors,
    FecCorrected,
    FecUncorrected,
}

impl Counter {
    /// How many there are.
    pub const COUNT: usize = Self::FecUncorrected as usize + 1;

    /// The bytes whose growth bounds that of these frames.
    #[must_use]
    pub const fn bytes(self) -> Option<Self> {
        match self {
            Self::InFrames | Self::InUnicast | Self::InMulticast | Self::InBroadcast => Some(Self::InBytes),
            Self::OutFrames | Self::OutUnicast | Self::OutMulticast | Self::OutBroadcast => Some(Self::OutBytes),
            _ => None,
        }
    }
}

/// The value of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Its value.
    pub value: u64,
    /// Whether it has 32 bits, and starts at 0 again after them; otherwise it has 64.
    pub is_short: bool,
}

/// The counters that a source has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters([Option<Count>; Counter::COUNT]);

impl Counters {
    /// Sets a counter of 64 bits.
    pub fn long(&mut self, counter: Counter, value: Option<u64>) {
        self.0[counter as usize] = value.map(|value| Count { value, is_short: false });
    }

    /// Sets a counter of 32 bits.
    pub fn short(&mut self, counter: Counter, value: Option<u32>) {
        self.0[counter as usize] = value.map(|value| Count {
            value: value.into(),
            is_short: true,
        });
    }

    /// A counter.
    #[must_use]
    pub const fn get(&self, counter: Counter) -> Option<Count> {
        self.0[counter as usize]
    }
}

/// What is known of the moment, or of the span since the last reading.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gauges {
    /// Whether the link is up.
    pub is_up: Option<bool>,
    /// Speed of the port in bit/s.
    pub speed_bps: Option<f64>,
    /// Bytes in the queue.
    pub queue_bytes: Option<u64>,
    /// The most bytes in it.
    pub queue_max_bytes: Option<u64>,
    /// The longest time in the switch.
    pub transit_max_ns: Option<i64>,
    /// Share of wrong bits before FEC.
    pub bit_error_ratio: Option<f64>,
    /// Light that is received, in dBm, of the weakest lane.
    pub rx_power_dbm: Option<f64>,
    /// Light that is sent.
    pub tx_power_dbm: Option<f64>,
    /// Lanes without light.
    pub dark_lanes: Option<u32>,
    /// Temperature of the module in degrees Celsius.
    pub module_celsius: Option<f64>,
}

/// What a reading is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Part {
    /// The port.
    #[default]
    Port,
    /// One of its egress queues.
    Queue(u32),
    /// One of its priorities.
    Priority(u8),
}

/// A reading.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// When.
    pub time_ns: i64,
    /// The switch.
    pub switch: Text,
    /// The port.
    pub port: Text,
    /// Index of the interface.
    pub port_index: Option<u32>,
    /// What it is about.
    pub part: Part,
    /// Which of several reads of the switch it is from, if each has a part of its counters: they grow apart.
    pub feed: u32,
    /// How often the switch was seen to restart: another number is a restart since the reading before.
    pub restarts: u32,
    /// The span of the gauges, if the source has no counters here.
    pub span_ns: Option<i64>,
    /// Counters.
    pub counters: Counters,
    /// The rest.
    pub gauges: Gauges,
}
