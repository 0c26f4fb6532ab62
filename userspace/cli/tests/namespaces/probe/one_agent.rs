//! `rocescope agent`: probes, paths and counters of a host in one process, over one connection.

use crate::probe::agent::reported;
use crate::probe::rails::Rails;
use rocescope_model::{CounterRow, PathRow, ProbeRow, Row};
use rocescope_store::{repair, scan};
use rocescope_testkit::{Running, binary, make_as_documented, until, until_some};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

/// Where the agent serves its metrics, in the namespace of the host.
const METRICS: &str = "127.0.0.1:9479";

fn collector(rails: &Rails, directory: &Path, address: &str) -> Running {
    let at = |name: &str| directory.join(name);
    let mut command = rails.command("c", binary());
    command
        .args(["collector", "run", "--listen", &format!("{address}:4792")])
        .args([Path::new("--out"), &at("collected")])
        .args([Path::new("--cert"), &at("collector.pem")])
        .args([Path::new("--key"), &at("collector.key")])
        .args([Path::new("--client-ca"), &at("ca.pem")]);
    Running::begin(&mut command, "collecting at ")
}

fn set(directory: &Path, path: &str, content: &str) {
    let path = directory.join("sys/class/infiniband/mlx5_0").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

#[test]
fn one_process_sends_probes_paths_and_counters_over_one_connection() {
    let Some(mut rails) = Rails::new(0, false) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let address = rails.attach("c");
    let owners = [("collector", format!("IP:{address}")), ("h0", "DNS:h0".to_owned())];
    let owners = owners.each_ref().map(|(file, names)| (*file, &**names));
    make_as_documented(directory, &owners);
    set(directory, "ports/1/state", "4: ACTIVE\n");
    set(directory, "ports/1/link_layer", "Ethernet\n");
    set(directory, "ports/1/hw_counters/np_cnp_sent", "10\n");
    let at = |name: &str| directory.join(name).display().to_string();
    let configuration = format!(
        "observer = \"h0\"\n[agent]\ncollector = \"https://{address}:4792\"\ncert = \"{}\"\nkey = \"{}\"\nca = \"{}\"\n\
        spool = \"{}\"\n[probe]\nall = true\ninterval = \"20ms\"\nwindow = \"1s\"\npaths-rate = 20\nmax-cpu = 1\n\
        [counters]\ninterval = \"200ms\"\nmetrics = \"{METRICS}\"\nsysfs-root = \"{}\"\n",
        at("h0.pem"),
        at("h0.key"),
        at("ca.pem"),
        at("spool"),
        at("sys"),
    );
    fs::write(directory.join("agent.toml"), configuration).unwrap();

    let collector = collector(&rails, directory, &address);
    let mut command = rails.command("h", binary());
    command.args(["agent", "-o", "json", "--config", &at("agent.toml")]);
    let agent = Running::begin(&mut command, "reading counters every 200ms");
    let shows = |value: u64| {
        let series = format!("rdma_np_cnp_sent_total{{observer=\"h0\",device=\"mlx5_0\",port=\"1\"}} {value}");
        until(&series, || {
            let page = rails
                .command("h", "curl")
                .args(["-s", &format!("http://{METRICS}/metrics")])
                .output();
            String::from_utf8_lossy(&page.unwrap().stdout).contains(&series)
        });
    };
    shows(10);
    set(directory, "ports/1/hw_counters/np_cnp_sent", "17\n");
    shows(17);
    for table in [ProbeRow::TABLE, PathRow::TABLE, CounterRow::TABLE] {
        let rows = directory.join("collected/.open").join(table.name);
        until(table.name, || rows.exists());
    }
    until("100 probes", || reported(&agent.messages()) > 100);
    let connections = rails.command("h", "ss").args(["-Htn", "state", "established"]).output();
    let connections = String::from_utf8(connections.unwrap().stdout).unwrap();
    assert_eq!(connections.matches(":4792").count(), 1, "{connections}");
    let ended = agent.stop("-TERM").success();
    let (summary, said) = (ended.json(), ended.stderr);
    assert!(
        said.contains("0 left in the spool") && said.contains("counters: "),
        "{said}"
    );
    collector.stop("-TERM").success();

    repair(&directory.join("collected")).unwrap();
    let found = scan(&directory.join("collected")).unwrap();
    let probes = found.rows::<ProbeRow>().unwrap();
    assert_eq!(summary["probes"], probes.len());
    assert!(probes.len() > 100, "{}", probes.len());
    assert!(!found.rows::<PathRow>().unwrap().is_empty());
    let counters = found.rows::<CounterRow>().unwrap();
    let mut cnps: Vec<_> = counters.iter().filter(|row| &*row.name == "np_cnp_sent").collect();
    cnps.sort_by_key(|row| row.time_ns);
    let values: Vec<_> = cnps.iter().map(|row| (row.raw_value, row.increase)).collect();
    assert_eq!(values, [(Some(10), None), (Some(17), Some(7))]);
    assert!(counters.iter().all(|row| &*row.observer == "h0"));
}

#[test]
fn without_probes_an_agent_needs_no_privilege_and_no_interface() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    make_as_documented(directory, &[("collector", "DNS:localhost"), ("h0", "DNS:h0")]);
    set(directory, "ports/1/state", "4: ACTIVE\n");
    let at = |name: &str| directory.join(name).display().to_string();
    fs::write(directory.join("agent.toml"), "[counters]\ninterval = \"50ms\"\n").unwrap();
    let mut command = std::process::Command::new(binary());
    command.args(["agent", "--config", &at("agent.toml"), "--observer", "h0"]);
    // No one listens: rows wait in the spool.
    command.args(["--collector", "https://localhost:1", "--spool", &at("spool")]);
    command.args(["--cert", &at("h0.pem"), "--key", &at("h0.key"), "--ca", &at("ca.pem")]);
    command.env("ROCESCOPE_SYSFS_ROOT", at("sys"));
    let agent = Running::spawn(&mut command);
    agent.until_said("collector unreachable");
    let said = agent.stop("-TERM").success().stderr;
    let waiting = fs::read_dir(at("spool")).unwrap();
    let parcels = waiting.filter(|file| file.as_ref().unwrap().path().extension() == Some("arrows".as_ref()));
    assert!(parcels.count() > 0, "{said}");
}

#[test]
fn an_agent_without_something_to_do_is_a_usage_error() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("agent.toml");
    let refused = |text: &str| {
        fs::write(&file, text).unwrap();
        let mut command = std::process::Command::new(binary());
        let output = command.arg("agent").arg("--config").arg(&file).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let send = "collector = \"https://c:1\"\ncert = \"a\"\nkey = \"b\"\nca = \"c\"\nspool = \"d\"\n";
    let said = refused("[counters]\n");
    assert!(said.contains("an agent sends its rows: set --collector"), "{said}");
    let said = refused(&format!("[agent]\n{send}"));
    assert!(
        said.contains("none of the tables [probe], [counters], [queue-pairs], [hostping] and [collective]"),
        "{said}"
    );
    let said = refused(&format!("[agent]\n{send}[probe]\n"));
    assert!(
        said.contains("[probe]: nothing to probe between: set `interface` or `all`"),
        "{said}"
    );
    let said = refused(&format!("[agent]\n{send}[hostping]\n"));
    assert!(said.contains("[hostping]: set `every`"), "{said}");
    let said = refused(&format!("[agent]\n{send}[counters]\nout = \"x\"\n"));
    assert!(
        said.contains("[counters]: an agent sends its rows to the collector: remove `out`"),
        "{said}"
    );
}

/// `config check` called a file valid that the agent refuses.
#[test]
fn config_check_refuses_what_the_agent_refuses() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("agent.toml");
    let check = |text: &str| {
        fs::write(&file, text).unwrap();
        let mut command = std::process::Command::new(binary());
        let output = command
            .args(["config", "check", "--config"])
            .arg(&file)
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    // Certificates may be on the command line; without a collector, `rocescope counters` alone may use its table.
    assert_eq!(
        check("[agent]\ncollector = \"https://c:4792\"\n[counters]\n"),
        (true, String::new())
    );
    assert_eq!(check("[agent]\n[counters]\nout = \"x\"\n"), (true, String::new()));
    for (text, why) in [
        (
            "[agent]\n[counters]\nout = \"x\"\n",
            "[counters]: an agent sends its rows to the collector: remove `out`",
        ),
        (
            "[agent]\n[probe]\n",
            "[probe]: nothing to probe between: set `interface` or `all`",
        ),
        (
            "[agent]\n",
            "none of the tables [probe], [counters], [queue-pairs], [hostping] and [collective]",
        ),
    ] {
        let (is_valid, said) = check(&text.replace("[agent]", "[agent]\ncollector = \"https://c:4792\""));
        assert!(!is_valid && said.contains(why) && said.lines().count() == 1, "{said}");
    }
}

/// The agent ignored `metrics` of `[counters]`.
#[test]
fn an_agent_serves_the_metrics_of_its_counters() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    make_as_documented(directory, &[("h0", "DNS:h0")]);
    set(directory, "ports/1/hw_counters/np_cnp_sent", "10\n");
    set(directory, "device/uevent", "DRIVER=mlx5_core\n");
    let at = |name: &str| directory.join(name).display().to_string();
    let text = "[counters]\ninterval = \"50ms\"\nmetrics = \"127.0.0.1:0\"\n";
    fs::write(directory.join("agent.toml"), text).unwrap();
    let mut command = std::process::Command::new(binary());
    command.args(["agent", "--config", &at("agent.toml"), "--observer", "h0"]);
    command.args(["--collector", "https://localhost:1", "--spool", &at("spool")]);
    command.args(["--cert", &at("h0.pem"), "--key", &at("h0.key"), "--ca", &at("ca.pem")]);
    command.env("ROCESCOPE_SYSFS_ROOT", at("sys"));
    let mut agent = Running::spawn(&mut command);
    let address = until_some("the address", || {
        let line = agent.line();
        let (_, url) = line.split_once("metrics at http://")?;
        Some(url.trim_end().trim_end_matches("/metrics").to_owned())
    });
    let series = "rdma_np_cnp_sent_total{observer=\"h0\",device=\"mlx5_0\",port=\"1\"} 10";
    until(series, || {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
        let mut page = String::new();
        let _ = stream.read_to_string(&mut page);
        page.contains(series)
    });
    agent.stop("-TERM").success();
}
