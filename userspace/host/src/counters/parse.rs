//! The texts of `/sys`, `/proc` and `ethtool -S`.

use rocescope_model::catalogue::Place;
use std::net::Ipv6Addr;

/// What was read: a number, a text, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The number, before its conversion to a unit: of 64 bits, signed or not.
    pub number: Option<i128>,
    /// The text, if it contains more than the number.
    pub text: Option<String>,
}

/// Reads the text of a file; `None` if it contains no value.
#[must_use]
pub fn sample(place: Place, name: &str, text: &str) -> Option<Sample> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let words = |number: Option<u64>| Sample {
        number: number.map(i128::from),
        text: Some(text.to_owned()),
    };
    let plain = |number| Sample {
        number: Some(number),
        text: None,
    };
    match (place, name) {
        (Place::Port, "rate") => rate(text).map(|rate| words(Some(rate))),
        (Place::Port, "link_layer") => Some(words(None)),
        (Place::Port, _) => state(text).map(|state| words(Some(state))),
        (Place::Pcie, "current_link_speed" | "max_link_speed") => pcie_speed(text).map(|speed| words(Some(speed))),
        _ => number(text).map(plain),
    }
}

/// A counter: a whole number of 64 bits, signed or not.
///
/// ```
/// use rocescope_host::counters::parse::number;
///
/// assert_eq!(number("18446744073709551615"), Some(i128::from(u64::MAX)));
/// assert_eq!(number("-5"), Some(-5));
/// assert_eq!(number("18446744073709551616"), None);
/// assert_eq!(number("N/A (no PMA)"), None);
/// ```
#[must_use]
pub fn number(text: &str) -> Option<i128> {
    let number: i128 = text.trim().parse().ok()?;
    (i128::from(i64::MIN)..=i128::from(u64::MAX))
        .contains(&number)
        .then_some(number)
}

/// The IP addresses of a port, from its GIDs: each once, in the order of the table. An unused entry is 0. RoCE v1 and v2
/// have entries of their own for one address.
///
/// ```
/// let gids = ["fe80:0000:0000:0000:0000:00ff:fe00:0001", "0000:0000:0000:0000:0000:ffff:0a00:0001"];
/// let sample = rocescope_host::counters::parse::addresses(gids);
/// assert_eq!(sample.number, Some(2));
/// assert_eq!(sample.text.as_deref(), Some("fe80::ff:fe00:1 10.0.0.1"));
/// ```
pub fn addresses<'a>(gids: impl IntoIterator<Item = &'a str>) -> Sample {
    let mut all: Vec<String> = Vec::new();
    for gid in gids {
        let address = gid.trim().parse::<Ipv6Addr>().ok().filter(|gid| !gid.is_unspecified());
        let address = address.map(|gid| gid.to_canonical().to_string());
        all.extend(address.filter(|address| !all.contains(address)));
    }
    Sample {
        number: Some(all.len() as i128),
        text: Some(all.join(" ")),
    }
}

/// `4: ACTIVE`
fn state(text: &str) -> Option<u64> {
    text.split(':').next()?.trim().parse().ok()
}

/// `100 Gb/sec (4X EDR)`, in bits per second.
fn rate(text: &str) -> Option<u64> {
    scaled(text, "Gb/sec", 1e9)
}

/// `16.0 GT/s PCIe` or `8 GT/s`, in millions of transfers per second.
fn pcie_speed(text: &str) -> Option<u64> {
    scaled(text, "GT/s", 1e3)
}

fn scaled(text: &str, unit: &str, factor: f64) -> Option<u64> {
    let mut words = text.split_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    let is_valid = words.next()? == unit && number.is_finite() && number >= 0.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be positive; beyond the range it stops at its end"
    )]
    is_valid.then(|| (number * factor).round() as u64)
}

/// Ticks that processors worked, and those that they were idle or waited for disks, from `/proc/stat`.
/// Source: `man 5 proc_stat`. Guests are part of user time.
#[must_use]
pub fn processors(stat: &str) -> Option<(u64, u64)> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = fields
        .split_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal guest guest_nice
    let at = |index: usize| ticks.get(index).copied();
    let idle = at(3)? + at(4).unwrap_or(0);
    let busy = [0, 1, 2, 5, 6, 7].into_iter().filter_map(at).sum();
    Some((busy, idle))
}

/// A line of `/proc/meminfo`, in KiB.
#[must_use]
pub fn memory(meminfo: &str, name: &str) -> Option<u64> {
    let rest = meminfo
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The counters that `ethtool -S` prints: `     rx_prio3_pause: 17`.
pub fn ethtool(text: &str) -> impl Iterator<Item = (&str, i128)> {
    text.lines().filter_map(|line| {
        let (name, value) = line.rsplit_once(':')?;
        Some((name.trim(), number(value)?))
    })
}

#[cfg(test)]
mod tests {
    use super::{Sample, ethtool, memory, number, processors, sample};
    use rocescope_model::catalogue::Place;

    fn both(number: u64, text: &str) -> Option<Sample> {
        Some(Sample {
            number: Some(number.into()),
            text: Some(text.into()),
        })
    }

    #[test]
    fn states_rates_and_speeds_are_numbers_with_their_text() {
        assert_eq!(sample(Place::Port, "state", "4: ACTIVE\n"), both(4, "4: ACTIVE"));
        assert_eq!(
            sample(Place::Port, "phys_state", "3: Disabled\n"),
            both(3, "3: Disabled")
        );
        let rate = "100 Gb/sec (4X EDR)";
        assert_eq!(sample(Place::Port, "rate", rate), both(100_000_000_000, rate));
        let rate = "2.5 Gb/sec (1X SDR)";
        assert_eq!(sample(Place::Port, "rate", rate), both(2_500_000_000, rate));
        let speed = "2.5 GT/s PCIe";
        assert_eq!(sample(Place::Pcie, "current_link_speed", speed), both(2_500, speed));
        assert_eq!(sample(Place::Pcie, "max_link_speed", "Unknown"), None);
        assert_eq!(sample(Place::Port, "rate", "-1 Gb/sec"), None);
        let layer = sample(Place::Port, "link_layer", "Ethernet\n").unwrap();
        assert_eq!((layer.number, layer.text.as_deref()), (None, Some("Ethernet")));
    }

    #[test]
    fn counters_are_numbers_and_nothing_else() {
        assert_eq!(number("18446744073709551615\n"), Some(u64::MAX.into()));
        assert_eq!(number("-2147483648"), Some(-(1 << 31)));
        assert_eq!(number("-9223372036854775809"), None);
        for text in ["", "N/A (no PMA)", "0x10", "1 2", "-"] {
            assert_eq!(sample(Place::Counters, "symbol_error", text), None, "{text}");
        }
    }

    #[test]
    fn processors_and_memory_are_those_of_proc() {
        let stat = "cpu  10 20 30 400 50 6 7 8 9 10\ncpu0 1 2 3\n";
        assert_eq!(processors(stat), Some((10 + 20 + 30 + 6 + 7 + 8, 450)));
        assert_eq!(processors("cpu  1 2\n"), None);
        assert_eq!(processors(""), None);
        let meminfo = "MemTotal:       24689648 kB\nMemAvailable:   23000000 kB\n";
        assert_eq!(memory(meminfo, "MemAvailable"), Some(23_000_000));
        assert_eq!(memory(meminfo, "Mem"), None);
    }

    #[test]
    fn the_text_of_ethtool_is_read_as_it_prints_it() {
        let text = "NIC statistics:\n     rx_prio3_pause: 17\n     [0]: rx_ucast_packets: 5\n     broken: x\n";
        let all: Vec<(&str, i128)> = ethtool(text).collect();
        assert_eq!(all, [("rx_prio3_pause", 17), ("[0]: rx_ucast_packets", 5)]);
    }
}
