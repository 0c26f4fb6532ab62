//! Agents of both guests that follow queue pairs by events of the kernel, beside what perftest printed, what the mirror
//! saw, and a program that creates and destroys a thousand of them.
//!
//! | module | what it holds |
//! |---|---|
//! | `agents` | the agents, their collector, and the rows that it received |
//! | `life` | the rows of one queue pair |
//! | `perftest` | runs of perftest, with and without CM |

mod agents;
mod life;
mod perftest;

use crate::softroce::fabric::{Fabric, LIMIT};
use anyhow::{Context, Result, ensure};
use life::{Life, lives};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;
use xtask::process::{command, run as run_command};
use xtask::product::{target, text};

/// Queue pairs that the program opens and closes.
const CHURN: usize = 1000;
/// What it sets: traffic class, path MTU in bytes, timeout, retries.
const CHURN_SETS: (u8, u32, u8, u8, u8) = (104, 1024, 14, 5, 6);
/// How long the processor of a guest, which is emulated, may take for that.
const CHURN_LIMIT: Duration = Duration::from_secs(300);

pub(super) fn run(fabric: &mut Fabric) -> Result<()> {
    send_churn(fabric)?;
    let agents = agents::begin(fabric)?;
    let runs = perftest::run(fabric);
    let churned = churn(fabric);
    let killed = perftest::killed(fabric);
    let cost = agents.cost(fabric);
    let rows = agents.end(fabric)?;
    let lives = lives(&rows)?;
    compare_churn(&churned?, &lives)?;
    killed?.compare(&lives).context("a process that was killed")?;
    println!("a process that was killed: its queue pair is gone");
    println!("{}", cost?);
    for run in runs? {
        run.compare(&lives).with_context(|| run.name())?;
        println!("{:<28} {}", run.name(), run.summary());
    }
    Ok(())
}

/// What the program did.
struct Churned {
    pid: u32,
    /// Number, first PSN to expect and first PSN to send of each queue pair.
    pairs: Vec<[u32; 3]>,
    begun_ns: i64,
    ended_ns: i64,
}

/// Builds the program, and copies it into the first guest.
fn send_churn(fabric: &mut Fabric) -> Result<()> {
    let build = [
        "build",
        "--quiet",
        "--release",
        "-p",
        "rocescope-ibverbs",
        "--example",
        "churn",
    ];
    run_command(&mut command("cargo", &build))?;
    let program = target()?.join("release/examples/churn");
    let pack = format!(
        "strip -o churn.stripped {} && gzip -9c churn.stripped | base64",
        text(&program)
    );
    let packed = Command::new("sh")
        .args(["-ec", &pack])
        .current_dir(&fabric.results)
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(packed.status.success(), "{pack}");
    fabric.first.put("churn.packed", &String::from_utf8(packed.stdout)?)?;
    let unpack = "base64 -d churn.packed | gzip -d > churn && chmod +x churn && rm churn.packed";
    fabric.first.run(unpack, LIMIT)?;
    Ok(())
}

fn churn(fabric: &mut Fabric) -> Result<Churned> {
    let script = format!(
        "date +%s%N; ./churn rxe0 1 {CHURN} > churn.out & pid=$!; wait $pid || exit 1; date +%s%N; echo $pid; cat churn.out"
    );
    let printed = fabric.first.run(&script, CHURN_LIMIT)?;
    fabric.keep("churn.txt", &printed)?;
    let mut lines = printed.lines();
    let mut line = || lines.next().context("a line is missing");
    let (begun_ns, ended_ns, pid) = (line()?.parse()?, line()?.parse()?, line()?.parse()?);
    let pairs = lines.map(|line| {
        let numbers: Vec<u32> = line.split(' ').filter_map(|number| number.parse().ok()).collect();
        numbers.try_into().ok().context("a line of the program")
    });
    Ok(Churned {
        pid,
        pairs: pairs.collect::<Result<_>>()?,
        begun_ns,
        ended_ns,
    })
}

/// Every queue pair of the program has its life with all attributes, and no other.
fn compare_churn(churned: &Churned, lives: &[Life<'_>]) -> Result<()> {
    let mut expected: BTreeMap<[u32; 3], usize> = BTreeMap::new();
    for pair in &churned.pairs {
        *expected.entry(*pair).or_default() += 1;
    }
    ensure!(
        churned.pairs.len() == CHURN,
        "{} queue pairs were opened",
        churned.pairs.len()
    );
    let of_program = lives.iter().filter(|life| life.is_of("guest1", churned.pid));
    for life in of_program {
        let last = life.last;
        life.is_whole(churned.begun_ns..churned.ended_ns)?;
        let address = Some([10, 77, 0, 1].into());
        let sets = (
            last.traffic_class,
            last.path_mtu_bytes,
            last.timeout,
            last.retries,
            last.rnr_retries,
        );
        let (class, mtu, timeout, retries, rnr_retries) = CHURN_SETS;
        let wanted = (Some(class), Some(mtu), Some(timeout), Some(retries), Some(rnr_retries));
        ensure!(
            sets == wanted && last.remote_qpn == Some(last.local_qpn) && &*last.process == "churn",
            "other attributes: {last:?}"
        );
        ensure!(
            last.local_address == address && last.remote_address == address && last.by_cm == Some(false),
            "other ends: {last:?}"
        );
        let (Some(receive), Some(send)) = (last.receive_psn, last.send_psn) else {
            anyhow::bail!("no PSNs: {last:?}");
        };
        let pair = [last.local_qpn, receive, send];
        let left = expected
            .get_mut(&pair)
            .with_context(|| format!("never opened: {last:?}"))?;
        *left -= 1;
        if *left == 0 {
            expected.remove(&pair);
        }
    }
    ensure!(
        expected.is_empty(),
        "{} queue pairs have no rows: {expected:?}",
        expected.len()
    );
    let seconds = (churned.ended_ns - churned.begun_ns) as f64 / 1e9;
    println!(
        "{CHURN} queue pairs opened, connected and closed in {seconds:.1} s ({:.0} events a second): each has its rows",
        5.0 * CHURN as f64 / seconds
    );
    Ok(())
}
