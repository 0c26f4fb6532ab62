//! Requests that are refused, and viewers who send nothing or read nothing.

use crate::rig::{Rig, flow};
use rocescope_testkit::{Authority, refusal, run, until};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

#[test]
fn only_reads_of_this_host_are_answered() {
    let rig = Rig::new();
    let request = |method: &str, host: &str| {
        rig.ask(&format!(
            "{method} / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        ))
    };
    for (method, host, status) in [
        ("GET", "localhost", 200),
        ("HEAD", "127.0.0.1:9465", 200),
        ("GET", "rebound.example", 421),
        ("POST", "localhost", 405),
        ("PUT", "localhost", 405),
        ("DELETE", "localhost", 405),
        ("OPTIONS", "localhost", 405),
    ] {
        let answer = request(method, host);
        assert_eq!(answer.status, status, "{method} {host}");
        let head = answer.head.to_lowercase();
        for part in [
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
        ] {
            assert!(head.contains(part), "{head}");
        }
        assert!(!head.contains("unsafe-inline") && !head.contains("access-control"));
    }
    let long = format!("?q={}", "a".repeat(9_000));
    assert_eq!(rig.get(&long).status, 414);
}

#[test]
fn a_head_without_end_is_refused() {
    let rig = Rig::new();
    let mut stream = TcpStream::connect(rig.address).unwrap();
    let mut sent = stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n");
    for _ in 0..1_000 {
        sent = sent.and_then(|()| stream.write_all(format!("X-Long: {}\r\n", "a".repeat(1_000)).as_bytes()));
    }
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let refused = String::from_utf8_lossy(&answer).contains(" 431 ");
    assert!(
        refused || read.is_err() || sent.is_err(),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    assert_eq!(rig.get("").status, 200);
}

/// Some send nothing, some ask and never read, some ask for another filter each: others see the next window.
#[test]
fn silent_and_slow_viewers_delay_nobody() {
    let mut rig = Rig::new();
    let connect = || TcpStream::connect(rig.address).unwrap();
    let silent: Vec<TcpStream> = (0..100).map(|_| connect()).collect();
    let deaf: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = connect();
            for _ in 0..20 {
                // The server stops to read what it cannot answer.
                if stream
                    .write_all(b"GET /sections HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    .is_err()
                {
                    break;
                }
            }
            stream
                .write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .unwrap();
            stream
        })
        .collect();
    for number in 3..6 {
        rig.add(&[flow(number, 1_000)]);
        let address = format!("10.0.0.{number}");
        until(&address, || rig.get("sections").text().contains(&address));
    }
    drop((silent, deaf));
}

#[test]
fn views_have_a_limit_and_are_forgotten() {
    let rig = Rig::new();
    let statuses: Vec<u16> = (1..=40)
        .map(|number| rig.get(&format!("sections?q=qp+{number}")).status)
        .collect();
    // No one looks at the earlier ones any more.
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    assert!(rig.get("api/status").json()["views"].as_u64().unwrap() <= 32);
    // Those that someone looks at stay.
    let viewers: Vec<TcpStream> = (1..=32)
        .map(|number| {
            let mut stream = TcpStream::connect(rig.address).unwrap();
            let request = format!("GET /events?q=qp+{number} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            stream.write_all(request.as_bytes()).unwrap();
            let mut first = [0; 12];
            stream.read_exact(&mut first).unwrap();
            assert_eq!(&first, b"HTTP/1.1 200");
            stream
        })
        .collect();
    let refused = rig.get("sections?q=qp+99");
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert_eq!(rig.get("api/status").json()["refused_views"], 1);
    drop(viewers);
    until("a place", || rig.get("sections?q=qp+99").status == 200);
}

#[test]
fn others_need_tls_and_a_token() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    let data = folder.path().join("data").display().to_string();
    let refused = refusal(&run(&["serve", &data, "--listen", "0.0.0.0:0"]));
    assert!(
        refused.contains("--page-cert") && refused.contains("--page-token"),
        "{refused}"
    );
    let signed = Authority::new(&folder.path().join("ca")).sign("page", &["localhost"]);
    let (cert, key) = (
        signed.certificate.display().to_string(),
        signed.key.display().to_string(),
    );
    let refused = refusal(&run(&[
        "serve",
        &data,
        "--listen",
        "0.0.0.0:0",
        "--page-cert",
        &cert,
        "--page-key",
        &key,
    ]));
    assert!(refused.contains("--page-token"), "{refused}");
    let refused = refusal(&run(&["serve", &data, "--page-cert", &cert]));
    assert!(refused.contains("--page-key"), "{refused}");
    let token = folder.path().join("token");
    fs::write(&token, "0123456789abcdef\n").unwrap();
    let token = token.display().to_string();
    let rig = Rig::of("rail3", &["127.0.0.1:0", "--page-token", &token]);
    let without = rig.get("");
    assert_eq!(without.status, 401);
    assert!(without.head.to_lowercase().contains("www-authenticate: basic"));
    let with = rig.ask(
        "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123456789abcdef\r\nConnection: close\r\n\r\n",
    );
    assert_eq!(with.status, 200);
    for part in ["page.js", "events", "api/report", "sections"] {
        assert_eq!(rig.get(part).status, 401, "{part}");
    }
}
