//! What switches hash: asked with every driver, and never guessed.

use super::clos::Clos;
use super::switches::{Fault, Switches};
use super::{SMALL, outcomes};
use rocescope_paths::discover::{Plan, Run, Settings, discover};
use rocescope_paths::driver::{Driver, HASH_BEYOND, HASH_FIELDS_UNKNOWN};
use std::collections::HashMap;

const EOS: &str = "\
default (global):
Lag Hashing on IP-TCP-UDP headers for IP packets is ON
Full symmetric hashing is OFF
Lag Hashing mode is flow-based
Lag Hash seed is 0 (automatically selected)*
Lag Hashing on ingress interface is ON
MAC hash fields:
   Source MAC Address is ON
MPLS hash fields:
   Label is ON
   Entropy label is OFF
IPv4 hash fields:
   Source IPv4 Address is ON
   Destination IPv4 Address is ON
   Protocol is ON
   Time-To-Live is OFF
IPv6 hash fields:
   Source IPv6 Address is ON
   Destination IPv6 Address is ON
   Flow Label is OFF
   Next Header is ON
L4 hash fields:
   Source Port is ON
   Destination Port is ON
";

const JUNOS: &str = "\
Current RTAG7 Settings
-------------------------
Hash-Mode                    :layer2-payload
inet packet fields
  protocol                   :yes
  Destination IPv4 Addr      :yes
  Source IPv4 Addr           :yes
  destination L4 Port        :yes
  Source L4 Port             :yes
  Vlan id                    :no
  RDMA Queue Pair            :no
inet non-packet fields
  incoming port              :yes
inet6 packet fields
  next-header                :yes
  Destination IPv6 Addr      :yes
  Source IPv6 Addr           :yes
";

const CUMULUS: &str = "\
                        operational  applied
----------------------  -----------  -------
destination-ip          enabled      on
destination-port        enabled      on
gtp-teid                disabled     off
ingress-interface       disabled     off
inner-source-ip         disabled     off
ip-protocol             enabled      on
ipv6-label              disabled     off
source-ip               enabled      on
source-port             enabled      on
";

const NXOS: &str = "\
IPv4/IPv6 ECMP load sharing:
Universal-id (Random Seed): 316862977
Load-share mode : address source-destination port source-destination
GRE-Outer hash is disabled
Concatenation is disabled
Rotate: 32
";

/// What a switch that hashes the 5-tuple prints.
pub(crate) fn five_tuple(driver: &str) -> String {
    match driver {
        "eos" => EOS,
        "junos" => JUNOS,
        "cumulus" => CUMULUS,
        "nxos" => NXOS,
        "sonic" => "ecmp-hash DST_IP\necmp-hash SRC_IP\necmp-hash L4_SRC_PORT\n",
        _ => "multipath: ipv4 hash policy 1\nmultipath: ipv6 hash policy 1\n",
    }
    .into()
}

/// A run in which `spine0` prints this of what it hashes.
fn run(driver: &'static str, ipv6: bool, text: &'static str, assume_5_tuple: bool) -> (Plan, Run) {
    let clos = Clos { ipv6, driver, ..SMALL };
    let plan = match driver {
        "cumulus" => clos.plan_of_cumulus(),
        _ => clos.plan(),
    };
    let mut switches = Switches::new(&clos);
    switches.faults.insert("spine0".into(), Fault::Hashes(text));
    let settings = Settings {
        assume_5_tuple,
        ..Settings::default()
    };
    let run = discover(&plan, &clos.flows(64), &switches, &settings);
    (plan, run)
}

/// Every flow over `spine0` has this outcome, and its detail has these words; the others are complete.
fn assert_not_guessed((plan, run): &(Plan, Run), reason: &str, words: &str) {
    let found = outcomes(run);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[reason] > 0 && found["complete"] > 0, "{found:?}");
    let spine = plan.fabric.find("spine0").unwrap();
    for trace in &run.traces {
        let crosses = trace.ways.iter().any(|way| plan.fabric.to(*way).node == spine);
        assert_eq!(crosses, trace.outcome.reason == reason, "{trace:?}");
        if crosses {
            let detail = &trace.outcome.detail;
            assert!(detail.starts_with("spine0: ") && detail.contains(words), "{detail}");
        }
    }
}

#[test]
fn a_switch_that_does_not_state_what_it_hashes_is_not_guessed() {
    for (driver, words) in [
        ("linux", "cat: /proc/sys/net/ipv4: No such file or directory"),
        ("eos", "% Invalid input (at token 1: 'load-balance')"),
        ("cumulus", "Error: 401 Unauthorized"),
        ("sonic", "No configuration is present in CONFIG DB"),
        ("nxos", "% Invalid command at '^' marker."),
        ("junos", "syntax error, expecting <command>."),
    ] {
        let unknown = run(driver, false, words, false);
        assert_not_guessed(&unknown, HASH_FIELDS_UNKNOWN, words);
        let (plan, run) = &run(driver, false, words, true);
        assert_eq!(outcomes(run), HashMap::from([("complete", 64)]), "{driver}");
        let spine = plan.fabric.find("spine0").unwrap();
        let assumed = run.devices[&spine].assumed.as_deref().unwrap();
        assert!(assumed.contains(words), "{assumed}");
        let others = run.devices.iter().filter(|(node, _)| **node != spine);
        for (_, work) in others {
            assert!(work.assumed.is_none() && !work.hash_fields.is_empty(), "{work:?}");
        }
    }
}

#[test]
fn a_switch_that_hashes_more_than_a_question_carries_is_not_guessed() {
    for (driver, text, words) in [
        ("eos", "IPv4 hash fields:\n   Time-To-Live is ON", "Time-To-Live"),
        ("eos", "L4 hash fields:\n   UDP payload is ON", "UDP payload"),
        ("eos", "ip load-sharing trident fields ip source-ip ttl", "ttl"),
        ("eos", "ip load-sharing trident udf offset 8", "udf"),
        ("cumulus", "roce-qp   on", "roce-qp"),
        (
            "sonic",
            "ecmp-hash SRC_IP\necmp-hash RDMA_BTH_DEST_QP",
            "RDMA_BTH_DEST_QP",
        ),
        ("sonic", "ecmp-hash bth-dest-qp", "bth-dest-qp"),
        ("sonic", "ecmp-hash SRC_MAC", "SRC_MAC"),
        (
            "nxos",
            "Load-share mode : address source-destination port source-destination ttl",
            "ttl",
        ),
        ("junos", "  protocol :yes\n  RDMA Queue Pair :yes", "RDMA Queue Pair"),
        ("linux", "multipath: ipv4 hash policy 3", "hash policy 3"),
    ] {
        assert_not_guessed(&run(driver, false, text, true), HASH_BEYOND, words);
    }
}

#[test]
fn the_flow_label_matters_to_ipv6_only() {
    for (driver, text) in [
        ("eos", "   Source IPv4 Address is ON\n   Flow Label is ON"),
        (
            "eos",
            "ip load-sharing trident fields ipv6 source-ip source-port flow-label",
        ),
        ("cumulus", "source-ip   on\nipv6-label  on"),
        ("sonic", "ecmp-hash SRC_IP\necmp-hash IPV6_FLOW_LABEL"),
        (
            "nxos",
            "Load-share mode : address source-destination port source-destination ipv6-flowlabel",
        ),
        ("junos", "  protocol :yes\n  IPv6 Flow Label :yes"),
        ("linux", "multipath: ipv4 hash policy 0\nmultipath: ipv6 hash policy 0"),
    ] {
        let (_, ipv4) = run(driver, false, text, false);
        assert_eq!(outcomes(&ipv4), HashMap::from([("complete", 64)]), "{driver}");
        assert_not_guessed(&run(driver, true, text, false), HASH_BEYOND, "");
    }
}

#[test]
fn a_driver_states_what_its_device_hashes_or_that_questions_carry_it() {
    let own = |hash: &str| {
        let text = format!(
            "egress = [\"Output Interface: {{egress}}\"]\n{hash}\n[ask]\nipv4 = \"which {{src}} {{dst}} {{src_port}}\"\n"
        );
        let mut plan = SMALL.plan();
        for (_, driver) in plan.devices.iter_mut().flatten() {
            *driver = Driver::parse(&text).unwrap();
        }
        let run = discover(&plan, &SMALL.flows(64), &Switches::new(&SMALL), &Settings::default());
        outcomes(&run)
    };
    assert_eq!(own(""), HashMap::from([(HASH_FIELDS_UNKNOWN, 64)]));
    assert_eq!(own("hash = { complete = true }"), HashMap::from([("complete", 64)]));
}
