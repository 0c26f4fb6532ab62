//! Speed and width of a PCIe link.

use alloc::format;
use alloc::string::String;

/// What a PCIe link runs at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pcie {
    /// Transfers per second of a lane, in GT/s; unknown where only the rate of the link is known.
    pub gigatransfers: Option<f64>,
    /// Number of lanes; unknown likewise.
    pub lanes: Option<u32>,
    /// Bandwidth after line coding, in Gbit/s, one direction.
    pub gbps: f64,
}

impl Pcie {
    /// A link of this speed and width.
    ///
    /// Generations 1 and 2 send 8 bits as 10, 3 to 5 send 128 as 130. Generation 6 sends flits; 242 of 256 bytes carry
    /// packets.
    #[must_use]
    pub fn new(gigatransfers: f64, lanes: u32) -> Self {
        let coding = if gigatransfers < 6.0 {
            0.8
        } else if gigatransfers < 48.0 {
            128.0 / 130.0
        } else {
            242.0 / 256.0
        };
        Self {
            gigatransfers: Some(gigatransfers),
            lanes: Some(lanes),
            gbps: gigatransfers * f64::from(lanes) * coding,
        }
    }

    /// A link of which only the bandwidth is known, in Gbit/s.
    #[must_use]
    pub const fn of_bandwidth(gbps: f64) -> Self {
        Self {
            gigatransfers: None,
            lanes: None,
            gbps,
        }
    }

    /// Reads the texts of speed and width, as sysfs and NCCL print them: `16.0 GT/s PCIe` and `16`. None if either is
    /// unknown, as in many virtual machines.
    #[must_use]
    pub fn parse(speed: &str, width: &str) -> Option<Self> {
        let (number, unit) = speed.trim().split_once(' ')?;
        let gigatransfers: f64 = number.parse().ok()?;
        let lanes: u32 = width.trim().trim_start_matches('x').parse().ok()?;
        let is_valid = unit.trim().starts_with("GT/s") && gigatransfers > 0.0 && gigatransfers < 1_000.0;
        (is_valid && (1..=64).contains(&lanes)).then(|| Self::new(gigatransfers, lanes))
    }

    /// The lower of two: what both ends of a link can do.
    #[must_use]
    pub fn lower(self, other: Self) -> Self {
        match (self.gigatransfers, other.gigatransfers, self.lanes, other.lanes) {
            (Some(a), Some(b), Some(x), Some(y)) => Self::new(a.min(b), x.min(y)),
            _ if other.gbps < self.gbps => other,
            _ => self,
        }
    }

    /// As text: `16 GT/s x16 (252 Gbit/s)`.
    #[must_use]
    pub fn text(self) -> String {
        match (self.gigatransfers, self.lanes) {
            (Some(speed), Some(lanes)) => format!("{speed} GT/s x{lanes} ({:.0} Gbit/s)", self.gbps),
            _ => format!("{:.0} Gbit/s", self.gbps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pcie;

    /// The figures of the slides; they round a lane of generation 3 to 7.87 Gbit/s.
    #[test]
    fn bandwidths_are_those_of_the_slides() {
        let old = Pcie::parse("8.0 GT/s PCIe", "8").unwrap();
        let new = Pcie::parse("16 GT/s", "x16").unwrap();
        assert!((old.gbps - 62.96).abs() < 0.1, "{old:?}");
        assert!((new.gbps - 252.06).abs() < 0.1, "{new:?}");
        assert_eq!(new.text(), "16 GT/s x16 (252 Gbit/s)");
    }

    #[test]
    fn an_unknown_speed_is_no_speed() {
        for (speed, width) in [("Unknown", "16"), ("16.0 GT/s PCIe", "0"), ("", ""), ("16 GB/s", "8")] {
            assert_eq!(Pcie::parse(speed, width), None, "{speed} {width}");
        }
    }
}
