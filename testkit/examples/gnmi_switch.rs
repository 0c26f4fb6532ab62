//! Switches with gNMI servers whose counters grow, for trying clients by hand:
//! `cargo run -p rocescope-testkit --example gnmi_switch -- COUNT PORTS SECONDS [DIRECTORY]`.
//!
//! Prints a line for each switch, as `rocescope paths gnmi --switches` reads it. User and password are `admin` and
//! `secret`. With a directory, connections are encrypted: the certificate of the authority is `ca.pem` in it. All values
//! are sent every second.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use rocescope_testkit::Authority;
use rocescope_testkit::gnmi::message::Encoding;
use rocescope_testkit::gnmi::{Options, Switch};
use std::path::Path;
use std::time::{Duration, SystemTime};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments[at].parse::<u64>().unwrap();
    let (count, ports, seconds) = (number(0), number(1), number(2));
    let signed = arguments
        .get(3)
        .map(|directory| Authority::new(Path::new(directory)).sign("switch", &["localhost", "127.0.0.1"]));
    let options = Options {
        login: Some(("admin", "secret")),
        certificate: signed.as_ref(),
        encodings: &[Encoding::Json, Encoding::Proto, Encoding::JsonIetf],
        unserved: &[],
    };
    let switches: Vec<Switch> = (0..count).map(|_| Switch::start(&options)).collect();
    for (at, switch) in switches.iter().enumerate() {
        println!("leaf{at}={}", switch.address());
    }
    for second in 0..seconds {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        for switch in &switches {
            for port in 1..=ports {
                let state = format!("/interfaces/interface[name=Ethernet{port}]/state");
                switch.set(&format!("{state}/oper-status"), "UP");
                switch.set(&format!("{state}/ifindex"), port);
                switch.set(&format!("{state}/counters/in-octets"), second * 1_000 * port);
                switch.set(&format!("{state}/counters/out-octets"), second * 2_000 * port);
                switch.set(&format!("{state}/counters/in-errors"), second);
                let queue = format!(
                    "/qos/interfaces/interface[interface-id=Ethernet{port}]/output/queues/queue[name=UC3]/state"
                );
                switch.set(&format!("{queue}/dropped-pkts"), second * port);
            }
            switch.sample(i64::try_from(now.as_nanos()).unwrap());
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}
