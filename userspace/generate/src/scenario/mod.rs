//! The scenario file in TOML, parsed and checked.
//!
//! `docs/scenarios.md` explains every key. A scenario from [`Scenario::parse`] can be generated
//! without further errors.
//!
//! | module | keys |
//! |---|---|
//! | this one | of the file itself, `[truth]` and `[mirror]` |
//! | [`group`] | of `[[flows]]` |
//! | [`impairment`] | of `loss`, `duplicate`, `reorder`, `corrupt`, `ecn`, `rnr`, `refuse` in it |
//! | [`background`] | of `[[background]]` |
//! | [`uet`] | of `[[uet]]` |
//! | [`collective`] | of `[[collective]]` |
//! | [`units`], [`pool`] | the notation of quantities and addresses |
//! | [`error`] | errors with their lines |

pub mod background;
mod check;
pub mod collective;
pub mod error;
pub mod group;
pub mod impairment;
pub mod pool;
pub mod uet;
pub mod units;

pub use background::Background;
pub use collective::Collective;
pub use error::ScenarioError;
pub use group::{Encapsulated, Group, Operation, Service};
use serde::Deserialize;
use toml::Spanned;
pub use uet::Uet;
use units::{Nanos, Probability};

/// A checked scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A name for the truth file.
    #[serde(default)]
    pub name: String,
    /// The time of the first frame, in seconds since 1970.
    #[serde(default = "start_unix_s")]
    pub start_unix_s: u64,
    /// How long new messages are started; messages in flight at the end are finished.
    pub duration: Option<Nanos>,
    /// End after this many frames, even with messages in flight.
    pub frames: Option<u64>,
    /// Keep this many bytes of a frame; the rest is not generated.
    #[serde(default = "snaplen")]
    pub snaplen: u32,
    /// The mirror port between the fabric and the capture.
    #[serde(default)]
    pub mirror: Mirror,
    /// The content of the truth file.
    #[serde(default)]
    pub truth: TruthOptions,
    #[serde(default, rename = "flows")]
    groups: Vec<Spanned<Group>>,
    #[serde(default)]
    background: Vec<Spanned<Background>>,
    #[serde(default)]
    uet: Vec<Spanned<Uet>>,
    #[serde(default, rename = "collective")]
    collectives: Vec<Spanned<Collective>>,
}

/// The mirror port.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mirror {
    /// The share of frames that the mirror loses although the fabric delivers them.
    pub loss: Probability,
    /// The share of frames that the mirror sends twice.
    pub copies: Probability,
    /// How long after a frame the mirror sends its copy; 1 µs if it is not set.
    pub copy_delay: Option<Nanos>,
    /// The copies were captured a routed hop later: their TTL is lower by one.
    pub copy_hop: bool,
    /// How many frames in a row are lost; one if it is not set.
    pub burst: Option<u64>,
    /// The mirror delivers nothing for some time.
    pub outage: Option<Recurring>,
    /// The capture gives all frames that pass within this time one time.
    pub batch: Option<Nanos>,
    /// The clock of the capture is set back.
    pub set_back: Option<Recurring>,
    /// Responders have a mirror of their own, whose clock is ahead by this.
    pub skew: Option<Nanos>,
}

/// What happens again and again.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recurring {
    /// The time from one to the next.
    pub every: Nanos,
    /// How long it lasts, or by how much; less than `every`.
    pub time: Nanos,
}

/// The content of the truth file beyond totals.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TruthOptions {
    /// Length of a window.
    pub window: Nanos,
    /// The number of top flows.
    pub top_flows: usize,
    /// The number of flows with a series of windows; the first created.
    pub series: usize,
    /// The number of listed connections; the first created.
    pub connections: usize,
}

impl Default for TruthOptions {
    fn default() -> Self {
        Self {
            window: Nanos(1_000_000_000),
            top_flows: 16,
            series: 256,
            connections: 10_000,
        }
    }
}

/// 2026-01-01 00:00:00 UTC.
const fn start_unix_s() -> u64 {
    1_767_225_600
}

/// No truncation.
const fn snaplen() -> u32 {
    65_535
}

impl Scenario {
    /// Reads a scenario.
    ///
    /// # Errors
    /// [`ScenarioError`] names the line and the field that is invalid TOML, unknown, of the wrong type,
    /// out of range, or in conflict with another field.
    ///
    /// ```
    /// use rocescope_generate::Scenario;
    ///
    /// let error = Scenario::parse("duration = \"1s\"\n[[flows]]\nrate = \"fast\"\n").unwrap_err();
    /// assert!(error.to_string().starts_with("line 3: flows[0].rate: "));
    /// ```
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = toml::from_str(text).map_err(|error| ScenarioError::of_toml(text, &error))?;
        check::scenario(text, &scenario)?;
        Ok(scenario)
    }

    /// The groups of flows, in the order of the file.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &Group> {
        self.groups.iter().map(Spanned::get_ref)
    }

    /// The background traffic, in the order of the file.
    pub fn background(&self) -> impl ExactSizeIterator<Item = &Background> {
        self.background.iter().map(Spanned::get_ref)
    }

    /// The groups of UET's packet delivery contexts, in the order of the file.
    pub fn uet(&self) -> impl ExactSizeIterator<Item = &Uet> {
        self.uet.iter().map(Spanned::get_ref)
    }

    /// The collectives, in the order of the file.
    pub fn collectives(&self) -> impl ExactSizeIterator<Item = &Collective> {
        self.collectives.iter().map(Spanned::get_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Scenario::parse(text).unwrap_err().to_string()
    }

    const FLOW: &str = "duration = \"1s\"\n[[flows]]\nsrc = \"10.0.0.1\"\ndst = \"10.0.0.2\"\n";

    #[test]
    fn few_keys_make_a_scenario() {
        let scenario = Scenario::parse(&format!("{FLOW}rate = \"1Gbit/s\"")).unwrap();
        let group = scenario.groups().next().unwrap();
        assert_eq!((group.count, group.mtu, group.service), (1, 1024, Service::Rc));
        assert_eq!(scenario.snaplen, 65_535);
    }

    #[test]
    fn errors_name_line_and_field() {
        let with = |line: &str| error(&format!("{FLOW}rate = \"1Gbit/s\"\n{line}\n"));
        for (line, expected) in [
            ("mtu = 1000", "line 6: flows[0].mtu: "),
            ("speed = 1", "line 6: flows[0].speed: unknown field"),
            ("mtu = \"big\"", "line 6: flows[0].mtu: "),
            ("loss = [{ probability = 2.0 }]", "line 6: flows[0].loss: "),
            (
                "[[flows.loss]]\nprobability = 2.0",
                "line 7: flows[0].loss[0].probability: ",
            ),
            ("service = \"UC\"", "line 6: flows[0].service: unknown variant"),
            ("service = \"uc\"\noperation = \"read\"", "line 7: flows[0].operation: "),
            ("dst = \"10.0.0.3\"", "line 6: flows[0].dst: "),
            ("group_rate = \"1Gbit/s\"", "line 6: flows[0].group_rate: "),
            (
                "[[flows]]\nsrc = \"10.0.0.1\"\ndst = \"fd77::1\"\nrate = \"1Gbit/s\"",
                "line 8: flows[1].dst: ",
            ),
            ("[[flows]]\nsrc = \"10.0.0.1\"\nrate = \"1Gbit/s\"", "line 6: flows[1]"),
            ("= 1", "line 6: "),
        ] {
            let found = with(line);
            assert!(found.starts_with(expected), "{line}: {found}");
        }
        assert!(error("").contains("generates nothing"), "{}", error(""));
        assert!(error("[[flows]]\nsrc = \"10.0.0.1\"\ndst = \"10.0.0.2\"\nrate = \"1Gbit/s\"").contains("never ends"));
    }
}
