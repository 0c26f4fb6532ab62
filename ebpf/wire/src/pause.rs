//! Frames that pause a link: of Ethernet (IEEE 802.3, annex 31B) and of its priorities (PFC; IEEE 802.1Qbb, in 802.3 annex 31D).

use crate::octets::Octets;

const ETHERTYPE_MAC_CONTROL: u16 = 0x8808;
const OPCODE_PAUSE: u16 = 0x0001;
const OPCODE_PRIORITIES: u16 = 0x0101;
/// Where the opcode is, and what follows it.
const OPCODE_AT: usize = 14;
const ENABLED_AT: usize = 16;
const TIMES_AT: usize = 18;

/// A frame that pauses the port at the other end of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The address of the port that sent it.
    pub sender: [u8; 6],
    /// How long each priority shall wait, in quanta of 512 bit times; 0 ends a pause. `None` leaves it as it is.
    pub priorities: [Option<u16>; 8],
    /// It names no priority: all wait.
    pub is_of_all: bool,
}

impl Pause {
    /// Reads a frame that begins with its Ethernet header; `None` if it is none of these.
    #[must_use]
    pub fn decode(frame: &[u8]) -> Option<Self> {
        if frame.be16(12)? != ETHERTYPE_MAC_CONTROL {
            return None;
        }
        let sender = frame.read::<6>(6)?;
        match frame.be16(OPCODE_AT)? {
            OPCODE_PAUSE => Some(Self {
                sender,
                priorities: [Some(frame.be16(ENABLED_AT)?); 8],
                is_of_all: true,
            }),
            OPCODE_PRIORITIES => {
                let enabled = frame.be16(ENABLED_AT)?;
                let mut priorities = [None; 8];
                for (at, priority) in priorities.iter_mut().enumerate() {
                    if enabled & 1 << at != 0 {
                        *priority = Some(frame.be16(TIMES_AT + 2 * at)?);
                    }
                }
                Some(Self {
                    sender,
                    priorities,
                    is_of_all: false,
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pause;

    fn frame(rest: &[u8]) -> [u8; 60] {
        let mut frame = [0; 60];
        let head = [1, 0x80, 0xc2, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0x88, 0x08];
        for (to, from) in frame.iter_mut().zip(head.iter().chain(rest)) {
            *to = *from;
        }
        frame
    }

    #[test]
    fn both_kinds_are_read() {
        let all = Pause::decode(&frame(&[0, 1, 0x12, 0x34])).unwrap();
        assert!(all.is_of_all && all.priorities == [Some(0x1234); 8]);
        let times = [1, 1, 0, 0b1001, 0, 0, 9, 9, 9, 9, 0xff, 0xff];
        let some = Pause::decode(&frame(&times)).unwrap();
        assert_eq!(some.sender, [2, 3, 4, 5, 6, 7]);
        assert_eq!(some.priorities[..5], [Some(0), None, None, Some(0xffff), None]);
    }

    #[test]
    fn other_and_cut_frames_are_none() {
        assert_eq!(Pause::decode(&frame(&[0, 2])), None);
        let mut other = frame(&[1, 1, 0, 8]);
        assert!(Pause::decode(&other[..26]).is_some() && Pause::decode(&other[..25]).is_none());
        assert!((0..16).all(|length| Pause::decode(&other[..length]).is_none()));
        other[13] = 9;
        assert_eq!(Pause::decode(&other), None);
    }
}
