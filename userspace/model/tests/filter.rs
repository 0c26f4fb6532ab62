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
