//! `per_packet IFACE pass|drop OUT`: the whole path with an XDP program that emits one record per packet, until SIGINT.
//! `cargo xtask bench capture` compares it with the product.

use anyhow::{Context, Result};
use rocescope_capture::per_packet::PerPacket;
use rocescope_engine::session::Session;
use rocescope_host::interface::Interface;
use rocescope_pipeline::Settings;
use rocescope_record::Config;
use rocescope_runtime::dataset::Dataset;
use rocescope_runtime::retention::Retention;
use rocescope_runtime::signals::Signals;
use rocescope_store::Options;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The product's default: 8 MiB for each of two CPUs.
const RING_BYTES: u32 = 16 << 20;
const PAUSE: Duration = Duration::from_millis(2);
const TURN: usize = 8_192;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, name, verdict, out] = &arguments[..] else {
        anyhow::bail!("per_packet IFACE pass|drop OUT");
    };
    let signals = Signals::install()?;
    let interface = Interface::find(name).with_context(|| name.clone())?;
    let settings = Settings::default();
    let config = Config::exact(settings.window_ns);
    let retention = Retention {
        root: PathBuf::from(out),
        ..Retention::default()
    };
    let dataset = Dataset::open(Options::new("per_packet"), retention, None)?;
    let mut session = Session::new(settings, config, Some(dataset))?;
    let mut ring = PerPacket::attach(&interface, RING_BYTES, verdict == "drop")?;
    eprintln!("capturing on {name} with one record for each packet");
    while !signals.ended() {
        if ring.poll(TURN, |frame| session.frame(frame))? == 0 {
            let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
            session.advance(u64::try_from(now)?.saturating_sub(100_000_000))?;
            sleep(PAUSE);
        }
    }
    while ring.poll(TURN, |frame| session.frame(frame))? > 0 {}
    let lost = ring.lost();
    let outcome = session.finish()?;
    println!("{{\"frames\": {}, \"lost\": {lost}}}", outcome.counters.frames);
    Ok(())
}
