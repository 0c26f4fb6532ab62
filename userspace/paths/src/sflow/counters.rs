//! Samples of the counters of ports.
//!
//! | format | structure | what is taken |
//! |---|---|---|
//! | 1 | `if_counters` | bytes, frames, discards, errors, speed, state |
//! | 2 | `ethernet_counters` | wrong check sequences, symbol errors |
//! | 10 | `sfp` | light and temperature |
//! | 11 | `pfc_counters`, draft 0.3 | PFC frames of all priorities together, storms |
//! | 1005 | `port_name` | the name of the port |
//!
//! A number with all bits set is one that the switch does not count.

use super::extended::clean;
use super::words::{Unreadable, Words};
use crate::switch::{Counter, Counters, Gauges};
use rocescope_model::Text;

/// The counters of a port.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PortCounters {
    /// Index of the interface.
    pub index: Option<u32>,
    /// Its name, if the switch sends it.
    pub name: Option<Text>,
    /// Counters.
    pub counters: Counters,
    /// State and light.
    pub gauges: Gauges,
}

/// Whether agents count received PFC frames as requests. The MIB means those that are sent; host-sflow has received ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PfcRequests {
    /// As in the MIB.
    #[default]
    Sent,
    /// As host-sflow has it (May 2026).
    Received,
}

impl PortCounters {
    /// Reads a record of this format; `false` if it is of another kind.
    pub(super) fn read(
        &mut self,
        format: u32,
        mut record: Words<'_>,
        requests: PfcRequests,
    ) -> Result<bool, Unreadable> {
        match format {
            1 => self.interface(&mut record)?,
            2 => {
                let counters = &mut self.counters;
                record.skip(1)?;
                counters.short(Counter::FcsErrors, counted(record.word()?));
                record.skip(10)?;
                counters.short(Counter::SymbolErrors, counted(record.word()?));
            }
            10 => self.module(&mut record)?,
            11 => {
                let counters = &mut self.counters;
                let (sent, received) = match requests {
                    PfcRequests::Sent => (Counter::SentPauses, Counter::ReceivedPauses),
                    PfcRequests::Received => (Counter::ReceivedPauses, Counter::SentPauses),
                };
                counters.short(sent, counted(record.word()?));
                counters.short(received, counted(record.word()?));
                // The time of pauses, of which the structure does not state the direction.
                record.skip(1)?;
                counters.short(Counter::WatchdogStorms, counted(record.word()?));
                counters.short(Counter::WatchdogRestores, counted(record.word()?));
            }
            1005 => self.name = Some(clean(record.text()?)).filter(|name| !name.is_empty()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn interface(&mut self, record: &mut Words<'_>) -> Result<(), Unreadable> {
        self.index = Some(record.word()?);
        record.skip(1)?;
        let speed = counted_long(record.long()?).filter(|speed| *speed > 0);
        record.skip(1)?;
        let state = record.word()?;
        let gauges = &mut self.gauges;
        gauges.speed_bps = speed.map(float);
        // Bits for the wanted and the actual state; more bits are none of both.
        gauges.is_up = (state <= 3).then_some(state & 2 != 0);
        let counters = &mut self.counters;
        counters.long(Counter::InBytes, counted_long(record.long()?));
        for counter in [
            Counter::InUnicast,
            Counter::InMulticast,
            Counter::InBroadcast,
            Counter::InDropped,
            Counter::InErrors,
        ] {
            counters.short(counter, counted(record.word()?));
        }
        // Frames of unknown protocols.
        record.skip(1)?;
        counters.long(Counter::OutBytes, counted_long(record.long()?));
        for counter in [
            Counter::OutUnicast,
            Counter::OutMulticast,
            Counter::OutBroadcast,
            Counter::OutDropped,
            Counter::OutErrors,
        ] {
            counters.short(counter, counted(record.word()?));
        }
        Ok(())
    }

    /// The module: its temperature, and the light of the weakest lane in each direction.
    fn module(&mut self, record: &mut Words<'_>) -> Result<(), Unreadable> {
        // Number, lanes in total, voltage.
        record.skip(3)?;
        let celsius = record.word()?.cast_signed();
        let lanes = record.word()?;
        let (mut sent, mut received, mut dark) = (None, None, 0);
        for _ in 0..lanes {
            record.skip(2)?;
            weakest(&mut sent, counted(record.word()?));
            record.skip(3)?;
            let light = counted(record.word()?);
            dark += u32::from(light == Some(0));
            weakest(&mut received, light);
            record.skip(3)?;
        }
        let gauges = &mut self.gauges;
        gauges.module_celsius = (celsius != -1).then(|| f64::from(celsius) / 1_000.0);
        gauges.tx_power_dbm = sent.and_then(dbm);
        gauges.rx_power_dbm = received.and_then(dbm);
        gauges.dark_lanes = received.map(|_| dark);
        Ok(())
    }
}

fn weakest(weakest: &mut Option<u32>, light: Option<u32>) {
    *weakest = match (*weakest, light) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
}

/// A power in microwatts as dBm: of nothing there is none.
fn dbm(microwatts: u32) -> Option<f64> {
    (microwatts > 0).then(|| 10.0 * (f64::from(microwatts) / 1_000.0).log10())
}

fn counted(number: u32) -> Option<u32> {
    (number != u32::MAX).then_some(number)
}

fn counted_long(number: u64) -> Option<u64> {
    (number != u64::MAX).then_some(number)
}

#[expect(clippy::cast_precision_loss, reason = "speeds are round numbers below 2^53")]
const fn float(speed: u64) -> f64 {
    speed as f64
}
