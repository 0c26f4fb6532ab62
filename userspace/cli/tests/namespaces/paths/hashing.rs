//! Switches that do not state what they hash, over real servers: their flows have no path, unless the user knows better.

use super::devices::{Device, Prints, prepare};
use super::{discover, discover_text, discovered};
use rocescope_testkit::run_in;
use serde_json::{Value, json};

const SONIC: &str = "case \"$*\" in
'switch-hash global') cat <<'TABLE'
+--------+-------------------------------------+
| Hash   | Configuration                       |
+========+=====================================+
| ECMP   | +-------------------+-------------+ |
|        | | Hash Field        | Algorithm   | |
|        | |-------------------+-------------| |
|        | | IP_PROTOCOL       | CRC         | |
|        | | DST_IP            |             | |
|        | | SRC_IP            |             | |
|        | | L4_SRC_PORT       |             | |
|        | +-------------------+-------------+ |
+--------+-------------------------------------+
| LAG    | +-------------------+-------------+ |
|        | | SRC_MAC           | CRC         | |
TABLE
;;
'ip ecmp-egress-port '*) echo 'Egress port: Ethernet2';;
*) echo 'Error: no such option' >&2; exit 2;; esac";

/// The table of older releases, and a queue pair in the fields of RDMA.
const SONIC_RDMA: &str = "case \"$*\" in
'switch-hash global') printf 'ECMP HASH    LAG HASH\\n---------    ------\\nDST_IP       N/A\\nSRC_IP\\n';;
*packet-type*) echo '| ECMP   | ipv4_rdma | | RDMA_BTH_DEST_QP | |';;
'ip ecmp-egress-port '*) echo 'Egress port: Ethernet2';; esac";

const SONIC_UNSET: &str = "case \"$*\" in
'switch-hash global') echo 'No configuration is present in CONFIG DB';;
'ip ecmp-egress-port '*) echo 'Egress port: Ethernet2';; esac";

/// One next hop: the calculator has nothing to compute.
const SONIC_ONE: &str = "case \"$*\" in
'switch-hash global') printf 'ECMP HASH    LAG HASH\\n---------    ------\\nDST_IP       DST_IP\\n';;
'ip ecmp-egress-port '*) echo 'No ECMP for given packet';; esac";

const CUMULUS: &str =
    "printf '%s\\n' '                  applied' 'destination-ip    on' 'source-port       on' 'gtp-teid          off'";

const SUDO: (&str, &str) = ("sudo", "\"$@\"");
const ECMPCALC: (&str, &str) = ("cl-ecmpcalc", "echo 'ecmpcalc: will query hardware'; echo swp2");

/// The usage of `cl-ecmpcalc`, with its reason at the end.
const USAGE: (&str, &str) = (
    "cl-ecmpcalc",
    "echo 'ecmpcalc: will query hardware'; echo 'usage: cl-ecmpcalc [-h] [-v] [-i swp1]'; \
     echo 'cl-ecmpcalc: error: --sport and --dport required for TCP and UDP frames'; exit 2",
);

/// A device, the outcome of its flow, and words of the detail.
const DEVICES: [(&str, &str, Prints, &str, &str); 9] = [
    ("sonic", "sonic", Prints::Programs(&[("show", SONIC)]), "complete", ""),
    (
        "sonic-one",
        "sonic",
        Prints::Programs(&[
            ("show", SONIC_ONE),
            ("ip", "echo '10.0.1.0/24 dev Ethernet2 scope link'"),
        ]),
        "complete",
        "",
    ),
    (
        "sonic-rdma",
        "sonic",
        Prints::Programs(&[("show", SONIC_RDMA)]),
        "hash_beyond_5_tuple",
        "RDMA_BTH_DEST_QP",
    ),
    (
        "sonic-unset",
        "sonic",
        Prints::Programs(&[("show", SONIC_UNSET)]),
        "hash_fields_unknown",
        "No configuration is present in CONFIG DB",
    ),
    (
        "cumulus",
        "cumulus",
        Prints::Programs(&[("nv", CUMULUS), SUDO, ECMPCALC]),
        "complete",
        "",
    ),
    (
        "cumulus-401",
        "cumulus",
        Prints::Programs(&[("nv", "echo 'Error: 401 Unauthorized' >&2; exit 1"), SUDO, ECMPCALC]),
        "hash_fields_unknown",
        "Error: 401 Unauthorized",
    ),
    (
        "cumulus-usage",
        "cumulus",
        Prints::Programs(&[("nv", CUMULUS), SUDO, USAGE]),
        "command_failed",
        "error: --sport and --dport required",
    ),
    (
        "eos",
        "eos",
        Prints::Raw(
            "case $SSH_ORIGINAL_COMMAND in *destination*) echo 'Output Interface: Ethernet2';; \
             *) echo '% Invalid input';; esac",
        ),
        "hash_fields_unknown",
        "% Invalid input",
    ),
    (
        "nxos",
        "nxos",
        Prints::Raw(
            "case $SSH_ORIGINAL_COMMAND in *routing*) echo 'Out Interface: Eth2';; \
             *) echo '% Permission denied for the role';; esac",
        ),
        "hash_fields_unknown",
        "% Permission denied for the role",
    ),
];

#[test]
fn a_switch_that_does_not_state_what_it_hashes_is_not_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let devices = DEVICES.map(|(name, driver, prints, ..)| Device::new(name, driver, prints));
    if !prepare(folder, &devices, 1) {
        return;
    }
    let found = discovered(folder, "flows.json", &[]);
    let paths = found["paths"].as_array().unwrap();
    for ((name, _, _, outcome, words), path) in DEVICES.iter().zip(paths) {
        assert_eq!(path["outcome"], *outcome, "{name}: {path:#}");
        assert!(path["detail"].as_str().unwrap().contains(words), "{name}: {path:#}");
    }
    let device = |found: &Value, name: &str| {
        let mut devices = found["devices"].as_array().unwrap().iter();
        devices.find(|device| device["node"] == name).unwrap().clone()
    };
    assert_eq!(
        device(&found, "sonic")["hash_fields"],
        json!(["IP_PROTOCOL", "DST_IP", "SRC_IP", "L4_SRC_PORT"])
    );
    assert_eq!(device(&found, "sonic-unset")["hash_fields"], Value::Null);
    let shown = run_in(&discover_text("flows.json", &[]), folder);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("--assume-5-tuple"), "{shown}");
    // The user states that it is the 5-tuple: a switch that states otherwise is still not guessed.
    let call = discover("flows.json", &["--assume-5-tuple"]);
    let assumed: Value = serde_json::from_slice(&run_in(&call, folder).stdout).unwrap();
    assert_eq!(
        assumed["outcomes"],
        json!({"complete": 7, "hash_beyond_5_tuple": 1, "command_failed": 1})
    );
    let why = device(&assumed, "sonic-unset")["assumed_5_tuple"].clone();
    assert!(why.as_str().unwrap().contains("CONFIG DB"), "{why}");
    assert_eq!(device(&assumed, "sonic")["assumed_5_tuple"], Value::Null);
}
