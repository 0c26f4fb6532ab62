//! Why a switch dropped a packet: numbers of sFlow's memo on dropped packets (October 2020).

use rocescope_model::Text;

/// The names from [`FIRST`] on. Those below are the codes of ICMP's destination unreachable.
const NAMES: [&str; 48] = [
    "unknown",
    "ttl_exceeded",
    "acl",
    "no_buffer_space",
    "red",
    "traffic_shaping",
    "pkt_too_big",
    "src_mac_is_multicast",
    "vlan_tag_mismatch",
    "ingress_vlan_filter",
    "ingress_spanning_tree_filter",
    "port_list_is_empty",
    "port_loopback_filter",
    "blackhole_route",
    "non_ip",
    "uc_dip_over_mc_dmac",
    "dip_is_loopback_address",
    "sip_is_mc",
    "sip_is_loopback_address",
    "ip_header_corrupted",
    "ipv4_sip_is_limited_bc",
    "ipv6_mc_dip_reserved_scope",
    "ipv6_mc_dip_interface_local_scope",
    "unresolved_neigh",
    "mc_reverse_path_forwarding",
    "non_routable_packet",
    "decap_error",
    "overlay_smac_is_mc",
    "unknown_l2",
    "unknown_l3",
    "unknown_l3_exception",
    "unknown_buffer",
    "unknown_tunnel",
    "unknown_l4",
    "sip_is_unspecified",
    "mlag_port_isolation",
    "blackhole_arp_neigh",
    "src_mac_is_dmac",
    "dmac_is_reserved",
    "sip_is_class_e",
    "mc_dmac_mismatch",
    "sip_is_dip",
    "dip_is_local_network",
    "dip_is_link_local",
    "overlay_smac_is_dmac",
    "egress_vlan_filter",
    "uc_reverse_path_forwarding",
    "split_horizon",
];

/// The number of the first name.
const FIRST: u32 = 256;

/// The names of the numbers from 0 on.
const UNREACHABLE: [&str; 16] = [
    "net_unreachable",
    "host_unreachable",
    "protocol_unreachable",
    "port_unreachable",
    "frag_needed",
    "src_route_failed",
    "dst_net_unknown",
    "dst_host_unknown",
    "src_host_isolated",
    "dst_net_prohibited",
    "dst_host_prohibited",
    "dst_net_tos_unreachable",
    "dst_host_tos_unreachable",
    "comm_admin_prohibited",
    "host_precedence_violation",
    "precedence_cutoff",
];

/// The name of a reason.
pub(super) fn name(number: u32) -> Text {
    let at = |names: &'static [&'static str], from: u32| {
        let place = usize::try_from(number.checked_sub(from)?).ok()?;
        names.get(place).copied()
    };
    match at(&UNREACHABLE, 0).or_else(|| at(&NAMES, FIRST)) {
        Some(name) => name.into(),
        None => format!("reason_{number}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn numbers_have_the_names_of_the_memo() {
        for (number, expected) in [
            (0, "net_unreachable"),
            (15, "precedence_cutoff"),
            (16, "reason_16"),
            (256, "unknown"),
            (257, "ttl_exceeded"),
            (258, "acl"),
            (259, "no_buffer_space"),
            (260, "red"),
            (287, "unknown_buffer"),
            (303, "split_horizon"),
            (304, "reason_304"),
            (u32::MAX, "reason_4294967295"),
        ] {
            assert_eq!(*name(number), *expected, "{number}");
        }
    }
}
