//! Streams of many servers: what ends them, and what comes after.

use rocescope_collector::grpc::{Conversation, Event, Failure, Reason, Security, Settings, Streams};
use rocescope_testkit::gnmi::message::{Encoding, ListMode};
use rocescope_testkit::gnmi::{Options, Switch, subscribe};
use rocescope_testkit::{Authority, DEADLINE};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

const LEAF: &str = "/interfaces/interface[name=e1]/state/counters/in-octets";

/// Nothing but a hang takes so long.
const LONG: Duration = Duration::from_secs(600);

fn options<'a>() -> Options<'a> {
    Options {
        encodings: &[Encoding::Proto],
        ..Options::default()
    }
}

fn settings() -> Settings {
    Settings {
        security: Security::Plain,
        metadata: Vec::new(),
        timeout: LONG,
        silence: LONG,
        longest_wait: Duration::from_millis(10),
        is_once: false,
    }
}

/// Follows these paths.
fn start(servers: &[(&str, u16)], settings: &Settings, paths: &'static [&str]) -> Streams {
    let servers: Vec<_> = servers.iter().map(|(host, port)| ((*host).to_owned(), *port)).collect();
    let mode = if settings.is_once {
        ListMode::Once
    } else {
        ListMode::Stream
    };
    let conversation = Conversation {
        question: ("/gnmi.gNMI/Capabilities", Vec::new()),
        method: "/gnmi.gNMI/Subscribe",
        requests: Box::new(move |_| {
            Ok(paths
                .iter()
                .map(|path| subscribe(path, mode, Encoding::Proto))
                .collect())
        }),
    };
    Streams::start(&servers, settings, conversation).unwrap()
}

fn next(streams: &mut Streams) -> (usize, Event) {
    streams.next(DEADLINE).unwrap()
}

/// The next failure, and when the server is connected again.
fn failure(streams: &mut Streams) -> (Failure, Option<Duration>) {
    loop {
        if let (_, Event::Failed { failure, again }) = next(streams) {
            return (failure, again);
        }
    }
}

#[test]
fn a_stream_that_ends_begins_again() {
    let switch = Switch::start(&options());
    switch.set(LEAF, 1);
    let port = switch.address().port();
    let mut streams = start(&[("127.0.0.1", port)], &settings(), &["/interfaces"]);
    for round in 0..4 {
        assert_eq!(next(&mut streams), (0, Event::Connected));
        // The values at the time, and that these were all.
        for _ in 0..2 {
            assert!(matches!(next(&mut streams), (0, Event::Message(0, _))));
        }
        switch.sample(1);
        assert!(matches!(next(&mut streams), (0, Event::Message(0, _))));
        match round {
            1 => switch.cut(),
            // It was served, so it may be again.
            2 => switch.remove("maintenance"),
            _ => switch.end("maintenance"),
        }
        let (failure, again) = failure(&mut streams);
        let expected = if round == 2 { Reason::Unsupported } else { Reason::Cut };
        assert_eq!(failure.reason, expected, "{failure}");
        assert_eq!(failure.why.contains("maintenance"), round != 1, "{failure}");
        assert_eq!(again, Some(Duration::from_millis(10)));
    }
    assert!(!streams.is_over());
}

#[test]
fn a_server_that_is_silent_is_connected_again() {
    let switch = Switch::start(&options());
    let silent = Settings {
        silence: Duration::from_millis(50),
        ..settings()
    };
    let mut streams = start(&[("127.0.0.1", switch.address().port())], &silent, &["/interfaces"]);
    for _ in 0..2 {
        let (failure, _) = failure(&mut streams);
        assert_eq!(
            (failure.reason, &*failure.why),
            (Reason::Silent, "no answer within 0.05 s")
        );
    }
    // One that takes connections and sends nothing.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mute = Settings {
        timeout: Duration::from_millis(50),
        ..settings()
    };
    let mut streams = start(
        &[("127.0.0.1", listener.local_addr().unwrap().port())],
        &mute,
        &["/interfaces"],
    );
    assert_eq!(failure(&mut streams).0.reason, Reason::Silent);
}

#[test]
fn a_server_serves_what_it_knows() {
    let switch = Switch::start(&Options {
        unserved: &["/qos"],
        // It does not know the question either.
        encodings: &[],
        ..Options::default()
    });
    switch.set(LEAF, 1);
    let once = Settings {
        is_once: true,
        ..settings()
    };
    let server = ("127.0.0.1", switch.address().port());
    let mut streams = start(&[server], &once, &["/qos", "/interfaces"]);
    let mut events = Vec::new();
    while !streams.is_over() {
        events.push(next(&mut streams).1);
    }
    let refused = Event::Refused(0, "InvalidArgument: no such path".into());
    assert!(events.contains(&refused), "{events:?}");
    assert_eq!(
        (events.first(), events.last()),
        (Some(&Event::Connected), Some(&Event::Ended))
    );
    let messages = events.iter().filter(|event| matches!(event, Event::Message(1, _)));
    assert_eq!(messages.count(), 2);

    let mut streams = start(&[server], &once, &["/qos"]);
    let (failure, again) = failure(&mut streams);
    assert_eq!((failure.reason, again), (Reason::Unsupported, None));
    assert!(streams.is_over());
}

#[test]
fn a_wrong_password_waits_the_longest() {
    let switch = Switch::start(&Options {
        login: Some(("admin", "secret")),
        ..options()
    });
    let with = |password: &str| Settings {
        metadata: vec![("username", "admin".into()), ("password", password.into())],
        longest_wait: LONG,
        ..settings()
    };
    let server = ("127.0.0.1", switch.address().port());
    let mut streams = start(&[server], &with("guess"), &["/interfaces"]);
    let (failure, again) = failure(&mut streams);
    assert_eq!((failure.reason, again), (Reason::Login, Some(LONG)));
    assert_eq!(
        failure.why,
        "the user or the password was refused: bad user or password"
    );
    let mut streams = start(&[server], &with("secret"), &["/interfaces"]);
    assert_eq!(next(&mut streams), (0, Event::Connected));

    let conversation = Conversation {
        question: ("/a/b", Vec::new()),
        method: "/a/c",
        requests: Box::new(|_| Ok(Vec::new())),
    };
    let error = Streams::start(&[], &with("two\nlines"), conversation).unwrap_err();
    assert!(error.to_string().contains("password has characters"), "{error}");
}

#[test]
fn a_certificate_must_be_of_the_authority_and_for_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(&folder.path().join("a"));
    let other = Authority::new(&folder.path().join("b"));
    let signed = authority.sign("switch", &["127.0.0.1"]);
    let switch = Switch::start(&Options {
        certificate: Some(&signed),
        ..options()
    });
    let port = switch.address().port();
    let with = |directory: &Path| Settings {
        security: Security::Tls(Some(directory.join("ca.pem"))),
        ..settings()
    };
    let mut streams = start(&[("127.0.0.1", port)], &with(authority.directory()), &["/interfaces"]);
    assert_eq!(next(&mut streams), (0, Event::Connected));
    for (host, directory, expected) in [
        ("127.0.0.1", other.directory(), "invalid peer certificate"),
        ("localhost", authority.directory(), "not valid for name"),
    ] {
        let mut streams = start(&[(host, port)], &with(directory), &["/interfaces"]);
        let (failure, _) = failure(&mut streams);
        assert_eq!(failure.reason, Reason::Certificate);
        assert!(failure.why.contains(expected), "{failure}");
    }
    // Without TLS there is no answer to read; a server without it is none that a client with it talks to.
    let mut streams = start(&[("127.0.0.1", port)], &settings(), &["/interfaces"]);
    assert_eq!(failure(&mut streams).0.reason, Reason::Cut);
    let plain = Switch::start(&options());
    let mut streams = start(
        &[("127.0.0.1", plain.address().port())],
        &with(authority.directory()),
        &["/interfaces"],
    );
    assert_eq!(failure(&mut streams).0.reason, Reason::Certificate);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut streams = start(&[("127.0.0.1", free)], &settings(), &["/interfaces"]);
    assert_eq!(failure(&mut streams).0.reason, Reason::Unreachable);
}
