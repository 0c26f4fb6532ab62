//! The UDP source port of a queue pair.

/// Returns the source port of a flow label, as the kernel and rdma-core compute it (`rdma_flow_label_to_udp_sport`):
/// 49152 or higher.
///
/// ```
/// use rocescope_model::source_port;
/// assert_eq!(source_port(0), 0xc000);
/// assert_eq!(source_port(0x4001), 0xc000);
/// assert_eq!(source_port(0xf_ffff), 0xffc0);
/// ```
#[must_use]
pub const fn source_port(flow_label: u32) -> u16 {
    let label = flow_label & 0xf_ffff;
    FIRST | ((label & 0x3fff) ^ (label >> 14)) as u16
}

/// The first of the ports that flow labels give.
const FIRST: u16 = 0xc000;
