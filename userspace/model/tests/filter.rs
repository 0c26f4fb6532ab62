//! Filters as a user writes them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

use rocescope_model::filter::{Expression, Filter, Names, RowFilter};
use rocescope_model::{ConnectionRow, FlowRow, OpcodeRow, Row, TABLES, WindowRow};

fn flow() -> FlowRow {
    FlowRow {
        src: "10.1.2.3".parse().unwrap(),
        dst: "10.9.0.1".parse().unwrap(),
        udp_src_port: Some(50_000),
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
fn filters_select_flows() {
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
fn every_table_filters_its_own_columns() {
    let opcode = OpcodeRow {
        opcode: "RC_RDMA_WRITE_MIDDLE".into(),
        ..OpcodeRow::default()
    };
    assert!(matches("opcode *WRITE*", opcode.clone()));
    assert!(!matches("opcode RC_SEND_*", opcode));
    let connection = ConnectionRow {
        src_qpn: Some(5),
        dst_qpn: Some(6),
        unfilled_gaps: 1,
        ..ConnectionRow::default()
    };
    assert!(matches("qp 5 and unfilled_gaps > 0", connection.clone()));
    assert!(matches("src qp 5", connection.clone()));
    assert!(!matches("src qp 6", connection));
    let refused = RowFilter::new(&"opcode *SEND*".parse().unwrap(), FlowRow::TABLE);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "flows have no column `opcode` (a column of opcodes); `rocescope dataset schema` prints the columns of flows\n  \
         opcode *SEND*\n  ^^^^^^^^^^^^^"
    );
    // Suggestions are columns of this object, not of any table.
    let of_packets = |text: &str| {
        Filter::parse_for(text, &["src", "dst"], "packets", Names::None)
            .unwrap_err()
            .message
    };
    assert_eq!(
        of_packets("pakets > 3"),
        "unknown column `pakets`; packets have src, dst"
    );
    assert_eq!(
        of_packets("scr = 10.0.0.1"),
        "unknown column `scr`; did you mean `src`?"
    );
    assert!(
        "pakets > 3"
            .parse::<Filter>()
            .unwrap_err()
            .message
            .contains("did you mean `packets`?")
    );
}

/// Guards against the width limit of the formatter: a filter of 100,000 characters was a panic.
#[test]
fn a_long_filter_is_cut_around_the_error() {
    let long = format!("{}nothing = 1{}", "qp 1 or ".repeat(12_000), " or qp 2".repeat(1_000));
    let error = long.parse::<Filter>().unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert!(lines[1].starts_with("  …") && lines[1].ends_with('…') && lines[1].chars().count() < 150);
    let column = lines[2].chars().position(|c| c == '^').unwrap();
    assert!(
        lines[1]
            .chars()
            .skip(column)
            .collect::<String>()
            .starts_with("nothing = 1")
    );
    let nested = "(".repeat(70_000).parse::<Filter>().unwrap_err().to_string();
    assert!(nested.lines().all(|line| line.chars().count() < 200));
}

/// tcpdump's `port 4791` would select the source port, and nothing.
#[test]
fn the_port_of_rocev2_is_no_source_port_by_mistake() {
    let error = "port 4791".parse::<Filter>().unwrap_err().to_string();
    assert!(
        error.contains("every RoCEv2 packet has the destination port 4791"),
        "{error}"
    );
    for filter in ["udp_src_port = 4791", "port 4792"] {
        filter.parse::<Filter>().unwrap();
    }
}

#[test]
fn errors_show_their_position() {
    for (filter, expected) in [
        ("", "expected a term here, such as `host 10.0.0.1`\n  \n  ^"),
        ("host", "`host` needs an IP address\n  host\n  ^^^^"),
        (
            "dst hots 10.0.0.1",
            "unknown column `hots`; did you mean `host`?\n  dst hots 10.0.0.1\n      ^^^^",
        ),
        (
            "pakets > 3",
            "unknown column `pakets`; did you mean `packets`?\n  pakets > 3\n  ^^^^^^",
        ),
        (
            "hots 10.0.0.1",
            "unknown column `hots`; did you mean `host`?\n  hots 10.0.0.1\n  ^^^^",
        ),
        ("qp > 17", "`qp` supports only `=` and `!=`\n  qp > 17\n     ^"),
        (
            "nak = 1",
            "`nak` takes no value: write `nak` or `not nak`\n  nak = 1\n      ^",
        ),
        (
            "syndrome nak_psn",
            "unknown syndrome `nak_psn`; expected one of ack, nak_invalid_rd_request, nak_invalid_request, \
             nak_psn_sequence_error, nak_remote_access_error, nak_remote_operational_error, nak_reserved, \
             reserved_syndrome, rnr_nak\n  syndrome nak_psn\n           ^^^^^^^",
        ),
        (
            "qp many",
            "invalid number `many` for `qp`: expected a number such as 17, 10k or 1M\n  qp many\n     ^^^^",
        ),
        (
            "qp 17 and (host 10.0.0.1",
            "unclosed parenthesis\n  qp 17 and (host 10.0.0.1\n            ^",
        ),
        ("qp 17)", "unmatched closing parenthesis\n  qp 17)\n       ^"),
        (
            "qp 17 qp 18",
            "expected `and` or `or` before this\n  qp 17 qp 18\n        ^^",
        ),
        (
            "net 10.0.0.0/40",
            "invalid prefix length `40`: expected 0 to 32\n  net 10.0.0.0/40\n      ^^^^^^^^^^^",
        ),
        (
            "host 10.0.0.0/8",
            "`host` needs an address: use `net` for a network\n  host 10.0.0.0/8\n       ^^^^^^^^^^",
        ),
        (
            "packets > many",
            "invalid number `many` for `packets`: expected a number such as 17, 10k or 1M\n  packets > many\n            ^^^^",
        ),
        (
            "service > rc",
            "`service` supports only `=` and `!=`\n  service > rc\n            ^^",
        ),
        (
            "packets",
            "`packets` needs a comparison, such as `packets = …`\n  packets\n  ^^^^^^^",
        ),
        (
            "qp 1 & qp 2",
            "single `&` or `|`: use `&&`, `||`, `and` or `or`\n  qp 1 & qp 2\n       ^^^^^^",
        ),
        (
            "src port 5",
            "`port` does not support `src` or `dst`\n  src port 5\n  ^^^",
        ),
        ("and qp 1", "expected a term before this\n  and qp 1\n  ^^^"),
    ] {
        let error = filter.parse::<Filter>().unwrap_err();
        assert_eq!(error.to_string(), expected, "{filter}");
    }
    let deep = "(".repeat(100_000);
    assert!(deep.parse::<Filter>().unwrap_err().message.contains("deeply"));
}

/// A value that no packet can have is an error with its position.
#[test]
fn values_that_cannot_match_are_errors() {
    for (filter, expected) in [
        (
            "qp 17 and opcode RC_WRITE",
            "unknown opcode `RC_WRITE`; did you mean `RC*WRITE*`?\n  qp 17 and opcode RC_WRITE\n                   ^^^^^^^^",
        ),
        (
            "opcode rc_send_onli",
            "unknown opcode `rc_send_onli`; did you mean `RC_SEND_ONLY`?\n  opcode rc_send_onli\n         ^^^^^^^^^^^^",
        ),
        (
            "opcode write",
            "unknown opcode `write`; did you mean `*write*`?\n  opcode write\n         ^^^^^",
        ),
        (
            "opcode = *PUT*",
            "unknown opcode `*PUT*`; examples are RC_SEND_ONLY, UD_SEND_ONLY and CNP\n  opcode = *PUT*\n           ^^^^^",
        ),
        (
            "service tcp",
            "unknown service `tcp`; expected one of CNP, MRC, RC, RD, UC, UD, VENDOR, XRC\n  service tcp\n          ^^^",
        ),
        (
            "service 10.0.0.1",
            "`service` expects a name, not the address `10.0.0.1`\n  service 10.0.0.1\n          ^^^^^^^^",
        ),
        (
            "vlan 5000",
            "invalid `vlan` `5000`: expected an integer from 0 to 4095\n  vlan 5000\n       ^^^^",
        ),
        (
            "port 99999",
            "invalid `port` `99999`: expected an integer from 0 to 65535\n  port 99999\n       ^^^^^",
        ),
        (
            "src qp -1",
            "invalid `qp` `-1`: expected an integer from 0 to 16777215\n  src qp -1\n         ^^",
        ),
        (
            "dst_qpn = 0x1000000",
            "invalid `dst_qpn` `0x1000000`: expected an integer from 0 to 16777215\n  dst_qpn = 0x1000000\n            ^^^^^^^^^",
        ),
        (
            "qp 17.5",
            "invalid `qp` `17.5`: expected an integer from 0 to 16777215\n  qp 17.5\n     ^^^^",
        ),
        (
            "src = 10.0.0.300",
            "`10.0.0.300` is not an IP address\n  src = 10.0.0.300\n        ^^^^^^^^^^",
        ),
    ] {
        let error = filter.parse::<Filter>().unwrap_err();
        assert_eq!(error.to_string(), expected, "{filter}");
    }
}

/// The limits of every range, and rare but valid names.
#[test]
fn values_that_can_match_are_accepted() {
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

/// A filter uses a column by its name, from any table that has it.
#[test]
fn columns_with_one_name_have_one_type() {
    for table in TABLES {
        for column in table.columns {
            for other in TABLES.iter().flat_map(|table| table.columns) {
                if other.name == column.name {
                    assert_eq!((other.kind, other.unit), (column.kind, column.unit), "{}", column.name);
                }
            }
        }
    }
}

#[test]
fn the_examples_of_the_page_are_valid_filters() {
    let page = include_str!("../../../docs/filter.md");
    let examples = page.split("```filter\n").nth(1).unwrap();
    let examples: Vec<&str> = examples.split("```").next().unwrap().lines().collect();
    assert!(examples.len() > 5);
    for example in examples {
        assert!(example.parse::<Filter>().is_ok(), "{example}");
    }
}

/// `=` after a keyword means the same as no operator.
#[test]
fn keywords_take_an_equals_sign() {
    for (with, without) in [
        ("qp = 17", "qp 17"),
        ("qp == 0x11", "qp 17"),
        ("src host = 10.0.0.1", "src host 10.0.0.1"),
        ("host != 10.0.0.1", "not host 10.0.0.1"),
    ] {
        let terms = |text: &str| {
            let mut tests = Vec::new();
            let filter = Filter::parse_for(text, &["src", "dst", "dst_qpn"], "packets", Names::None).unwrap();
            let all: Result<(), ()> = filter.expression().terms(&mut |term, _| {
                tests.extend(
                    term.iter()
                        .map(|test| format!("{} {:?} {:?}", test.column.name, test.comparison, test.literal)),
                );
                Ok(())
            });
            all.unwrap();
            (tests, matches!(filter.expression(), Expression::Not(_)))
        };
        assert_eq!(terms(with), terms(without), "{with}");
    }
}

/// A user types what a table shows: the suggestion is a column of that table.
#[test]
fn suggestions_follow_the_headings_of_the_table() {
    for (table, text, expected) in [
        (
            ConnectionRow::TABLE,
            "retransmitted > 0",
            "did you mean `retransmitted_packets`",
        ),
        (
            ConnectionRow::TABLE,
            "upstream > 0",
            "did you mean `fabric_lost_upstream_packets`?",
        ),
        (ConnectionRow::TABLE, "loss > 0", "`fabric_lost_upstream_packets`"),
        (WindowRow::TABLE, "lost > 0", "`fabric_lost_packets`"),
        (FlowRow::TABLE, "hots 10.0.0.1", "did you mean `host`?"),
    ] {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let error = Filter::parse_for(text, &columns, table.name, Names::None).unwrap_err();
        assert!(error.message.contains(expected), "{text}: {}", error.message);
    }
}
