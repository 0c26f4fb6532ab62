//! ACS and ATS in the extended PCI configuration space (PCI Express base specification, 7.7.8 and 10.5.1).

/// Offset of the first extended capability. Without privilege, the kernel shows less than this.
const EXTENDED: usize = 0x100;
const ACS: u32 = 0x000d;
const ATS: u32 = 0x000f;
/// In the control register of ACS: redirect requests, and completions, between peers to the root.
const REDIRECT: u16 = 0b1100;
const ATS_ENABLE: u16 = 1 << 15;
/// A capability has at least 4 bytes: a longer list is a loop.
const MAX_CAPABILITIES: usize = (4_096 - EXTENDED) / 4;

/// Whether ACS redirects requests between peers, and whether ATS is enabled; none for a capability that is missing.
pub(super) fn flags(bytes: &[u8]) -> [Option<bool>; 2] {
    let (mut acs, mut ats) = (None, None);
    let mut at = EXTENDED;
    for _ in 0..MAX_CAPABILITIES {
        let Some(header) = bytes.get(at..at + 4).and_then(|header| header.try_into().ok()) else {
            break;
        };
        let header = u32::from_le_bytes(header);
        let control = bytes.get(at + 6..at + 8).and_then(|control| control.try_into().ok());
        if let Some(control) = control.map(u16::from_le_bytes) {
            match header & 0xffff {
                ACS => acs = Some(control & REDIRECT != 0),
                ATS => ats = Some(control & ATS_ENABLE != 0),
                _ => {}
            }
        }
        at = (header >> 20) as usize;
        if header == 0 || at < EXTENDED {
            break;
        }
    }
    [acs, ats]
}

#[cfg(test)]
mod tests {
    use super::flags;

    fn space(capabilities: &[(u16, u16)]) -> Vec<u8> {
        let mut bytes = vec![0; 4_096];
        for (place, (kind, control)) in capabilities.iter().enumerate() {
            let at = 0x100 + place * 0x20;
            let next = if place + 1 < capabilities.len() { at + 0x20 } else { 0 };
            let header = u32::from(*kind) | 1 << 16 | u32::try_from(next).unwrap() << 20;
            bytes[at..at + 4].copy_from_slice(&header.to_le_bytes());
            bytes[at + 6..at + 8].copy_from_slice(&control.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn acs_and_ats_are_found_behind_other_capabilities() {
        assert_eq!(
            flags(&space(&[(1, 0xffff), (0x0d, 0x001d), (0x0f, 0x8000)])),
            [Some(true), Some(true)]
        );
        // Source validation alone redirects nothing.
        assert_eq!(
            flags(&space(&[(0x0d, 0x0001), (0x0f, 0x001f)])),
            [Some(false), Some(false)]
        );
        assert_eq!(flags(&space(&[])), [None, None]);
    }

    #[test]
    fn a_short_space_is_unknown_and_a_loop_ends() {
        assert_eq!(flags(&[0; 64]), [None, None]);
        let mut bytes = space(&[(0x0d, 0x001d)]);
        bytes[0x102..0x104].copy_from_slice(&0x1001_u16.to_le_bytes());
        assert_eq!(flags(&bytes), [Some(true), None]);
    }
}
