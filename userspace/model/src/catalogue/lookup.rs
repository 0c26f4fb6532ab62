//! Finds the metric of a name that a driver reports.

use super::{Driver, Metric, Place, Source};

/// A metric, and the source that a name belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The metric.
    pub metric: &'static Metric,
    /// The name in the catalogue.
    pub source: &'static Source,
    /// The priority in the name, if it has one.
    pub priority: Option<u8>,
}

/// Finds the metric of a name at a place. An unknown driver has the names of all; of two that use one name, the first
/// in the catalogue.
///
/// ```
/// use rocescope_model::catalogue::{Driver, Place, find};
///
/// let found = find(Some(Driver::BnxtRe), Place::HwCounters, "rnr_naks_rcvd").unwrap();
/// assert_eq!(found.metric.name, "rnr_nak_retry_err");
/// let found = find(Some(Driver::Mlx5), Place::Ethtool, "rx_prio3_pause").unwrap();
/// assert_eq!((found.metric.name, found.priority), ("rx_pause_frames", Some(3)));
/// assert_eq!(find(Some(Driver::Rxe), Place::HwCounters, "rnr_naks_rcvd"), None);
/// ```
#[must_use]
pub fn find(driver: Option<Driver>, place: Place, name: &str) -> Option<Found> {
    Metric::all().find_map(|metric| {
        metric.sources.iter().find_map(|source| {
            let is_here = source.place == place && fits(source, driver);
            let priority = is_here.then(|| matches(source.name, name)).flatten()?;
            Some(Found {
                metric,
                source,
                priority,
            })
        })
    })
}

/// The names in `counters/` are those of the InfiniBand core, whatever the driver.
fn fits(source: &Source, driver: Option<Driver>) -> bool {
    let is_common = source.drivers.is_empty() || source.place == Place::Counters;
    is_common || driver.is_none_or(|driver| source.drivers.contains(&driver))
}

/// Whether the name fits the pattern, and the priority in it.
fn matches(pattern: &str, name: &str) -> Option<Option<u8>> {
    let Some((before, behind)) = pattern.split_once('#') else {
        return (pattern == name).then_some(None);
    };
    let rest = name.strip_prefix(before)?;
    let digit = rest.bytes().next().filter(u8::is_ascii_digit)?;
    let priority = digit - b'0';
    (priority < 8 && rest.get(1..) == Some(behind)).then_some(Some(priority))
}

#[cfg(test)]
mod tests {
    use super::{find, matches};
    use crate::catalogue::{Driver, Metric, Place};

    #[test]
    fn every_source_is_found_under_its_own_name_and_driver() {
        for metric in Metric::all() {
            for source in metric.sources {
                let name = source.name.replace('#', "7");
                let drivers = source.drivers.iter().copied().map(Some);
                let drivers = drivers.chain(source.drivers.is_empty().then_some(None));
                for driver in drivers {
                    let found = find(driver, source.place, &name).unwrap();
                    assert_eq!((found.metric.name, found.source), (metric.name, source));
                    assert_eq!(found.priority, source.name.contains('#').then_some(7));
                }
            }
        }
    }

    #[test]
    fn units_differ_by_driver() {
        let factor = |driver, place, name| find(Some(driver), place, name).unwrap().source.factor;
        assert_eq!(factor(Driver::Mlx5, Place::Counters, "port_xmit_data"), 4);
        assert_eq!(factor(Driver::Irdma, Place::Counters, "port_xmit_data"), 4);
        assert_eq!(factor(Driver::BnxtRe, Place::HwCounters, "tx_bytes"), 1);
        assert_eq!(find(Some(Driver::Mlx5), Place::HwCounters, "tx_bytes"), None);
    }

    #[test]
    fn a_priority_is_one_digit_below_8() {
        assert_eq!(matches("rx_prio#_pause", "rx_prio0_pause"), Some(Some(0)));
        assert_eq!(matches("rx_prio#_pause", "rx_prio8_pause"), None);
        assert_eq!(matches("rx_prio#_pause", "rx_prio10_pause"), None);
        assert_eq!(matches("rx_prio#_pause", "rx_prio3_pause_duration"), None);
        assert_eq!(matches("rx_prio#_pause", "rx_prio"), None);
    }
}
