//! What `connections` reports of the mirror, beside perftest's own report; what captures count in every mode, beside the
//! mirror; and what the driver counts, beside both.

use super::captures::Captures;
use crate::softroce::fabric::{Fabric, json, number};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::product::text;

/// A run of perftest: the program and its options, bytes of a message, and messages.
const RUNS: [(&str, &str, u64, u64); 8] = [
    ("ib_send_bw", "-c RC", 2048, 50),
    ("ib_write_bw", "-c RC", 65_536, 5),
    ("ib_read_bw", "-c RC", 5000, 40),
    ("ib_atomic_bw", "-A FETCH_AND_ADD", 8, 60),
    ("ib_atomic_bw", "-A CMP_AND_SWAP", 8, 60),
    ("ib_send_bw", "-c UC", 4096, 50),
    ("ib_write_bw", "-c UC", 3000, 50),
    ("ib_send_bw", "-c UD", 1024, 50),
];
const PORT: u16 = 18515;

/// Runs all of them, and compares.
pub(super) fn run(fabric: &mut Fabric) -> Result<()> {
    let captures = Captures::begin(fabric)?;
    let (mirror, reports) = fabric.mirrored("wire.pcap", |fabric| {
        let reports = RUNS.iter().map(|(program, options, bytes, messages)| {
            let said = perftest(fabric, program, options, *bytes, *messages)?;
            report(&said).with_context(|| said)
        });
        reports.collect::<Result<Vec<Report>>>()
    })?;
    captures.end(fabric, &mirror)?;
    let printed = fabric.product(&["connections", "-r", &text(&mirror), "-o", "json"])?;
    fabric.keep("connections.json", &printed)?;
    let connections = json(&printed)?;
    for ((program, options, bytes, messages), report) in RUNS.iter().zip(&reports) {
        let is_wanted = compare(&connections, report, *bytes, *messages);
        is_wanted.with_context(|| format!("{program} {options} -s {bytes} -n {messages}"))?;
        println!("{program:<13} {options:<18} {messages} messages of {bytes} bytes: as perftest reports");
    }
    Ok(())
}

/// Runs a test of perftest between the guests; returns what its client prints.
fn perftest(fabric: &mut Fabric, program: &str, options: &str, bytes: u64, messages: u64) -> Result<String> {
    let name = format!("{program}{}", options.replace(' ', ""));
    // An atomic has eight bytes, and perftest takes no size for it.
    let size = if program == "ib_atomic_bw" {
        String::new()
    } else {
        format!("-s {bytes}")
    };
    let server = format!("{program} -d rxe0 -i 1 -x 1 -F -u 18 {options} {size} -n {messages}");
    let (heard, said) = fabric.pair(&server, PORT, &format!("{server} 10.77.0.2"))?;
    fabric.keep(&format!("{name}.client.txt"), &said)?;
    fabric.keep(&format!("{name}.server.txt"), &heard)?;
    Ok(said)
}

/// What the client of perftest reports.
#[derive(Debug, PartialEq, Eq)]
struct Report {
    local_qpn: u64,
    remote_qpn: u64,
    local_psn: u64,
    bytes: u64,
    iterations: u64,
}

fn report(said: &str) -> Result<Report> {
    let ends = |side: &str, key: &str| -> Result<u64> {
        let line = said.lines().find(|line| line.trim().starts_with(side));
        let line = line.with_context(|| format!("perftest printed no {side}"))?;
        let value = line.split_once(&format!("{key} 0x")).context(key.to_owned())?.1;
        let digits = value.split_whitespace().next().unwrap_or_default();
        Ok(u64::from_str_radix(digits, 16)?)
    };
    let table = said.lines().skip_while(|line| !line.trim().starts_with("#bytes"));
    let row = table
        .skip(1)
        .find(|line| line.trim().starts_with(|first: char| first.is_ascii_digit()));
    let mut cells = row.context("perftest printed no result")?.split_whitespace();
    let mut cell = || cells.next().context("a column of perftest is missing");
    Ok(Report {
        local_qpn: ends("local address", "QPN")?,
        remote_qpn: ends("remote address", "QPN")?,
        local_psn: ends("local address", "PSN")?,
        bytes: cell()?.parse()?,
        iterations: cell()?.parse()?,
    })
}

fn compare(connections: &Value, report: &Report, bytes: u64, messages: u64) -> Result<()> {
    ensure!(
        (report.bytes, report.iterations) == (bytes, messages),
        "perftest reports {report:?}"
    );
    let connections = connections["connections"].as_array().context("no connections")?;
    let ends = |connection: &Value| {
        let end = |side: &str| {
            (
                connection[side]["ip"].as_str().map(str::to_owned),
                connection[side]["qpn"].as_u64(),
            )
        };
        [end("a"), end("b")]
    };
    let local = (Some("10.77.0.1".to_owned()), Some(report.local_qpn));
    let remote = (Some("10.77.0.2".to_owned()), Some(report.remote_qpn));
    // Datagrams have no connection, so only the receiver of a direction is known.
    let found = connections.iter().find(|connection| ends(connection).contains(&remote));
    let found = found.with_context(|| format!("no connection with queue pair {}", report.remote_qpn))?;
    let is_reversed = ends(found)[0] == remote;
    let (requests, responses) = if is_reversed {
        ("b_to_a", "a_to_b")
    } else {
        ("a_to_b", "b_to_a")
    };
    let (requests, responses) = (&found[requests], &found[responses]);
    if found["service"] == "RC" {
        ensure!(
            ends(found).contains(&local),
            "{report:?} is paired as {:?}",
            ends(found)
        );
    }
    let is_read = number(requests, "read_packets")? > 0;
    let is_atomic = number(requests, "atomic_packets")? > 0;
    let payload = match is_read {
        // The data of a READ comes back.
        true => number(responses, "unique_payload_bytes")?,
        false => number(requests, "unique_payload_bytes")?,
    };
    // The operands of an atomic are in its header.
    let expected = if is_atomic { 0 } else { bytes * messages };
    ensure!(
        payload == expected,
        "{payload} bytes of payload on the wire, {expected} expected"
    );
    let counted = match (is_read, is_atomic) {
        (true, _) => number(requests, "read_packets")?,
        (_, true) => number(requests, "atomic_packets")?,
        _ => number(requests, "unique_messages")?,
    };
    ensure!(
        counted == messages,
        "{counted} messages on the wire, {messages} expected"
    );
    for counter in ["retransmitted_packets", "unfilled_gap_packets", "duplicate_packets"] {
        let count = number(requests, counter)?;
        ensure!(count == 0, "{count} {counter} of a network that lost nothing");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Report, report};

    #[test]
    fn a_report_of_perftest_is_read() {
        let said = " local address: LID 0000 QPN 0x003e PSN 0x54e465 RKey 0x000f1d VAddr 0x007f\n \
                    GID: 00:00\n remote address: LID 0000 QPN 0x003a PSN 0xd77c7 RKey 0x001032 VAddr 0x007f\n \
                    #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n \
                    65536      5                1.22               1.22     0.000020\n---\n";
        let expected = Report {
            local_qpn: 62,
            remote_qpn: 58,
            local_psn: 0x0054_e465,
            bytes: 65_536,
            iterations: 5,
        };
        assert_eq!(report(said).unwrap(), expected);
        assert!(report("no result").is_err());
    }
}
