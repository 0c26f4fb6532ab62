//! Sockets of a server: `ss -tunH`.

use super::Workload;
use crate::Flow;
use crate::flow::UDP;
use std::net::{IpAddr, SocketAddr};

/// Reads the connected TCP and UDP sockets: each is the flow from the server to its peer.
///
/// # Errors
/// It is not what `ss -tun` prints.
pub fn parse(text: &str) -> Result<Workload, &'static str> {
    let mut workload = Workload::default();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    let is_socket = |line: &&str| {
        let mut words = line.split_whitespace();
        let kind = words.next().unwrap_or_default();
        // Other families have one of the states, too.
        kind == "Netid" || words.next().is_some_and(|state| STATES.contains(&state)) && !STATES.contains(&kind)
    };
    if lines.peek().is_some() && !lines.clone().any(|line| is_socket(&line)) {
        return Err("no line is one of `ss -tun`: `Netid State …`, or `tcp ESTAB …`");
    }
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let protocol = match words.first() {
            Some(&"tcp") => 6,
            Some(&"udp") => UDP,
            // The heading, and other families.
            _ => continue,
        };
        let ends: Vec<SocketAddr> = words.iter().skip(2).filter_map(|word| address(word)).collect();
        match ends[..] {
            _ if words.get(1) != Some(&"ESTAB") => workload.skip("not_connected"),
            [src, dst] if src.ip().is_loopback() || src.ip() == dst.ip() => workload.skip("loopback"),
            [src, dst] => workload.add(Flow {
                src: src.ip(),
                dst: dst.ip(),
                protocol,
                src_port: src.port(),
                dst_port: dst.port(),
                dst_qpn: None,
                outer_src_port: None,
            }),
            _ => workload.skip("unreadable_line"),
        }
    }
    Ok(workload)
}

/// The states that `ss` prints.
const STATES: [&str; 12] = [
    "ESTAB",
    "SYN-SENT",
    "SYN-RECV",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "TIME-WAIT",
    "UNCONN",
    "CLOSE-WAIT",
    "LAST-ACK",
    "LISTEN",
    "CLOSING",
    "NEW-SYN-RECV",
];

/// `10.0.0.1:80`, `[fd00::1]:80`, `10.0.0.1%eth0:80`, or an IPv4 address in IPv6.
fn address(word: &str) -> Option<SocketAddr> {
    let (host, port) = word.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = host.split('%').next()?;
    let ip: IpAddr = host.parse().ok()?;
    Some(SocketAddr::new(ip.to_canonical(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn connected_sockets_are_flows() {
        let text = "Netid State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n\
                    tcp   ESTAB  0      0      10.0.0.1:5201      10.0.1.1:40000\n\
                    tcp   ESTAB  0      36     [::ffff:10.0.0.1]:22 [::ffff:10.0.1.9]:5000 users:((\"sshd\",pid=1,fd=3))\n\
                    udp   ESTAB  0      0      10.0.0.1%eth0:49152 10.0.1.1:4791\n\
                    udp   UNCONN 0      0      0.0.0.0:68         0.0.0.0:*\n\
                    tcp   LISTEN 0      128    [::]:22            [::]:*\n\
                    tcp   ESTAB  0      0      127.0.0.1:1        127.0.0.1:2\n\
                    tcp   ESTAB  0      0      [fd00::1]:1        [fd00::2]:2\n";
        let workload = parse(text).unwrap();
        let flows: Vec<String> = workload.flows.iter().map(|rated| rated.flow.to_string()).collect();
        let expected = [
            "10.0.0.1:5201>10.0.1.1:40000/tcp",
            "10.0.0.1:22>10.0.1.9:5000/tcp",
            "10.0.0.1:49152>10.0.1.1:4791",
            "[fd00::1]:1>[fd00::2]:2/tcp",
        ];
        assert_eq!(flows, expected);
        assert_eq!(
            (workload.skipped["not_connected"], workload.skipped["loopback"]),
            (2, 1)
        );
    }

    #[test]
    fn other_files_are_refused() {
        for text in [
            "name: lab\ntopology:\n  nodes:\n",
            "[{\"src\": \"10.0.0.1\"}]",
            // `ss -tn`: without the column of the protocol.
            "ESTAB 0 0 10.0.0.1:22 10.0.0.2:5000\n",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        // A server without sockets.
        assert!(parse("").is_ok() && parse("Netid State Recv-Q Send-Q Local\n").is_ok());
    }
}
