//! The filter language, as a user writes it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

use rocescope_model::filter::{Filter, RowFilter};
use rocescope_model::{ConnectionRow, FlowRow, OpcodeRow, Row, TABLES};

fn flow() -> FlowRow {
    FlowRow {
        src: "10.1.2.3".parse().unwrap(),
        dst: "10.9.0.1".parse().unwrap(),
        udp_src_port: 50_000,
        dst_qpn: 17,
        vlan: Some(100),
        service: "RC".into(),
        packets: 20_000,
        frame_bps: 2.5e9,
        ecn_ce_packets: 3,
        ..FlowRow::default()
    }
}

fn matches<R: Row>(filter: &str, row: R) -> bool {
    let filter: Filter = filter.parse().unwrap_or_else(|error| panic!("{error}"));
    let filter = RowFilter::new(&filter, R::TABLE).unwrap_or_else(|error| panic!("{error}"));
    let rows = vec![row];
    filter.matches(&rows, 0)
}

#[test]
fn flows_are_chosen() {
    for (filter, expected) in [
        ("host 10.1.2.3", true),
        ("host 10.9.0.1", true),
        ("dst host 10.1.2.3", false),
        ("src net 10.1.0.0/16", true),
        ("src = 10.1.2.3", true),
        ("src != 10.1.2.3", false),
        ("dst net 10.1.0.0/16", false),
        ("net 0.0.0.0/0 and not net ::/0", true),
        ("qp 17", true),
        ("qp 0x11", true),
        ("qp 18", false),
        ("port 50000", true),
        ("vlan 100", true),
        ("vlan = null", false),
        ("inner_vlan = null", true),
        ("vlan > 5", true),
        ("inner_vlan > 5", false),
        ("service rc", true),
        ("service cnp", false),
        ("ecn ce", true),
        ("frame_bps >= 2.5G", true),
        ("frame_bps > 2.5G", false),
        ("packets < 20k", false),
        ("elephant = true", false),
        ("host 10.1.2.3 and packets > 1M or vlan 100", true),
        ("host 10.1.2.3 and (packets > 1M or vlan 101)", false),
        ("not (qp 18 or qp 19)", true),
        ("! qp 17 || NOT qp 17", false),
        ("qp 17 && packets == 20_000", true),
        ("observer = \"\"", true),
    ] {
        assert_eq!(matches(filter, flow()), expected, "{filter}");
    }
}

#[test]
fn every_table_answers_for_its_own_columns() {
    let opcode = OpcodeRow {
        opcode: "RC_RDMA_WRITE_MIDDLE".into(),
        ..OpcodeRow::default()
    };
    assert!(matches("opcode *WRITE*", opcode.clone()));
    assert!(!matches("opcode RC_SEND_*", opcode));
    let connection = ConnectionRow {
        src_qpn: Some(5),
        dst_qpn: Some(6),
        lost_gaps: 1,
        ..ConnectionRow::default()
    };
    assert!(matches("qp 5 and lost_gaps > 0", connection.clone()));
    assert!(matches("src qp 5", connection.clone()));
    assert!(!matches("src qp 6", connection));
    let refused = RowFilter::new(&"opcode *SEND*".parse().unwrap(), FlowRow::TABLE);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "flows have no `opcode`\n  opcode *SEND*\n  ^^^^^^^^^^^^^"
    );
}

#[test]
fn errors_point_at_their_place() {
    for (filter, expected) in [
        (
            "",
            "a term is missing here, such as `host 10.0.0.1`\n  \n  ^",
        ),
        ("host", "`host` wants an IP address\n  host\n  ^^^^"),
        (
            "pakets > 3",
            "nothing is called `pakets`; `packets` is near\n  pakets > 3\n  ^^^^^^",
        ),
        (
            "hots 10.0.0.1",
            "nothing is called `hots`; `host` is near\n  hots 10.0.0.1\n  ^^^^",
        ),
        (
            "qp = 17",
            "`qp` has its value right behind it, without a sign\n  qp = 17\n     ^",
        ),
        (
            "qp many",
            "`qp` is a number, such as 17, 10k or 1M: `many` is none\n  qp many\n     ^^^^",
        ),
        (
            "qp 17 and (host 10.0.0.1",
            "this parenthesis is not closed\n  qp 17 and (host 10.0.0.1\n            ^",
        ),
        ("qp 17)", "no parenthesis is open here\n  qp 17)\n       ^"),
        (
            "qp 17 qp 18",
            "`and` or `or` is missing before this\n  qp 17 qp 18\n        ^^",
        ),
        (
            "net 10.0.0.0/40",
            "`40` is no length of a prefix: 0 to 32\n  net 10.0.0.0/40\n      ^^^^^^^^^^^",
        ),
        (
            "host 10.0.0.0/8",
            "a network is asked for by `net`\n  host 10.0.0.0/8\n       ^^^^^^^^^^",
        ),
        (
            "packets > many",
            "`packets` is a number, such as 17, 10k or 1M: `many` is none\n  packets > many\n            ^^^^",
        ),
        (
            "service > rc",
            "`service` can be equal or not, and no more\n  service > rc\n            ^^",
        ),
        (
            "packets",
            "`packets` wants a comparison, such as `packets = …`\n  packets\n  ^^^^^^^",
        ),
        (
            "qp 1 & qp 2",
            "one `&` or `|` says nothing: `&&`, `||`, or the words `and`, `or`\n  qp 1 & qp 2\n       ^^^^^^",
        ),
        ("src port 5", "`port` has no direction\n  src port 5\n  ^^^"),
        (
            "and qp 1",
            "a term is missing before this\n  and qp 1\n  ^^^",
        ),
    ] {
        let error = filter.parse::<Filter>().unwrap_err();
        assert_eq!(error.to_string(), expected, "{filter}");
    }
    let deep = "(".repeat(100_000);
    assert!(
        deep.parse::<Filter>()
            .unwrap_err()
            .message
            .contains("deeply")
    );
}

/// What no packet can hold is misspelt, and said where it stands.
#[test]
fn what_cannot_match_is_an_error() {
    for (filter, expected) in [
        (
            "qp 17 and opcode RC_WRITE",
            "no opcode is called `RC_WRITE`; `RC*WRITE*` is near\n  qp 17 and opcode RC_WRITE\n                   ^^^^^^^^",
        ),
        (
            "opcode rc_send_onli",
            "no opcode is called `rc_send_onli`; `RC_SEND_ONLY` is near\n  opcode rc_send_onli\n         ^^^^^^^^^^^^",
        ),
        (
            "opcode write",
            "no opcode is called `write`; `*write*` is near\n  opcode write\n         ^^^^^",
        ),
        (
            "opcode = *PUT*",
            "no opcode is called `*PUT*`; some are RC_SEND_ONLY, UD_SEND_ONLY and CNP\n  opcode = *PUT*\n           ^^^^^",
        ),
        (
            "service tcp",
            "no service is called `tcp`; there are CNP, RC, RD, UC, UD, VENDOR, XRC\n  service tcp\n          ^^^",
        ),
        (
            "service 10.0.0.1",
            "`10.0.0.1` is an address, and no service\n  service 10.0.0.1\n          ^^^^^^^^",
        ),
        (
            "vlan 5000",
            "`vlan` is a whole number from 0 to 4095: `5000` is not\n  vlan 5000\n       ^^^^",
        ),
        (
            "port 99999",
            "`port` is a whole number from 0 to 65535: `99999` is not\n  port 99999\n       ^^^^^",
        ),
        (
            "src qp -1",
            "`qp` is a whole number from 0 to 16777215: `-1` is not\n  src qp -1\n         ^^",
        ),
        (
            "dst_qpn = 0x1000000",
            "`dst_qpn` is a whole number from 0 to 16777215: `0x1000000` is not\n  dst_qpn = 0x1000000\n            ^^^^^^^^^",
        ),
        (
            "qp 17.5",
            "`qp` is a whole number from 0 to 16777215: `17.5` is not\n  qp 17.5\n     ^^^^",
        ),
        (
            "src = 10.0.0.300",
            "`10.0.0.300` is no IP address\n  src = 10.0.0.300\n        ^^^^^^^^^^",
        ),
    ] {
        let error = filter.parse::<Filter>().unwrap_err();
        assert_eq!(error.to_string(), expected, "{filter}");
    }
}

/// The ends of every range, and names that are rare but right.
#[test]
fn what_can_match_is_none() {
    for filter in [
        "qp 0 or qp 0xffffff or vlan 0 or vlan 4095 or port 0 or port 65535 or vni = 0xffffff",
        "opcode OPCODE_0x15 or opcode *_0x* or opcode cnp or opcode *",
        "service xrc or service VENDOR or service *c",
        "src = 10.* or dst = fe80::1 or inner_vlan = null",
    ] {
        let read = filter.parse::<Filter>();
        assert!(read.is_ok(), "{read:?}");
    }
}

/// A filter takes its columns from whichever table has one of that name.
#[test]
fn columns_of_one_name_are_of_one_type() {
    for table in TABLES {
        for column in table.columns {
            for other in TABLES.iter().flat_map(|table| table.columns) {
                if other.name == column.name {
                    assert_eq!(
                        (other.kind, other.unit),
                        (column.kind, column.unit),
                        "{}",
                        column.name
                    );
                }
            }
        }
    }
}

#[test]
fn the_examples_of_the_page_are_filters() {
    let page = include_str!("../../../docs/filter.md");
    let examples = page.split("```filter\n").nth(1).unwrap();
    let examples: Vec<&str> = examples.split("```").next().unwrap().lines().collect();
    assert!(examples.len() > 5);
    for example in examples {
        assert!(example.parse::<Filter>().is_ok(), "{example}");
    }
}
