//! Runs the targets over damaged files of every format: `mutate COUNT FOLDER [FIRST]`, where `FOLDER` has a folder of whole files
//! for each target. A panic, 10 s or 256 MiB in one run is a failure, which is stored with its number.

use rocescope_fuzz::mutated::{self, TARGETS};
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, panic, process, thread};

/// What a run may take.
const MEMORY: usize = 256 << 20;
const TIME: Duration = Duration::from_secs(10);
/// After this number of failures of a format the next one is run.
const FAILURES: u32 = 10;

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(held, Ordering::Relaxed);
}

// SAFETY: passes every call on to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The run that goes on: its name, and since when.
static RUNNING: Mutex<Option<(String, Instant)>> = Mutex::new(None);

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let [_, count, folder, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: mutate COUNT FOLDER [FIRST]");
        process::exit(2);
    };
    let parsed = |text: &str| text.parse::<u64>().ok();
    let (Some(count), Some(first)) = (parsed(count), rest.first().map_or(Some(0), |first| parsed(first))) else {
        eprintln!("mutate: COUNT and FIRST are numbers");
        process::exit(2);
    };
    thread::spawn(watch);
    let mut failures = 0;
    for (target, run, kept) in TARGETS {
        for (format, files) in mutated::formats(target, read(&Path::new(folder).join(target))) {
            let name = format!("{target}/{format}");
            failures += each(&name, &files, run, kept, first..first + count);
        }
    }
    process::exit(i32::from(failures > 0));
}

/// Runs the files of these numbers; returns how many failed.
fn each(name: &str, files: &[Vec<u8>], run: fn(&[u8]), kept: usize, numbers: std::ops::Range<u64>) -> u32 {
    let begun = Instant::now();
    let (mut failures, mut slowest, mut most) = (0, Duration::ZERO, 0);
    let mut runs = 0_u64;
    for number in numbers {
        let file = mutated::file(files, kept, number);
        let start = Instant::now();
        if let Ok(mut running) = RUNNING.lock() {
            *running = Some((format!("{name} {number}"), start));
        }
        let held = HELD.load(Ordering::Relaxed);
        MOST.store(held, Ordering::Relaxed);
        let ended = panic::catch_unwind(|| run(&file));
        let took = start.elapsed();
        let memory = MOST.load(Ordering::Relaxed).saturating_sub(held);
        (slowest, most, runs) = (slowest.max(took), most.max(memory), runs + 1);
        if ended.is_err() || took > TIME || memory > MEMORY {
            failures += 1;
            let path = env::temp_dir().join(format!("mutated-{}-{number}", name.replace(['/', ' '], "-")));
            let stored = fs::write(&path, &file);
            println!(
                "{name} {number}: panicked {}, {took:?}, {memory} bytes: {} {stored:?}",
                ended.is_err(),
                path.display()
            );
            if failures == FAILURES {
                break;
            }
        }
    }
    if let Ok(mut running) = RUNNING.lock() {
        *running = None;
    }
    println!(
        "{name}: {runs} files, {failures} failed, slowest {:.1} ms, most memory {:.1} MiB, {:.0} s",
        slowest.as_secs_f64() * 1e3,
        most as f64 / f64::from(1 << 20),
        begun.elapsed().as_secs_f64()
    );
    failures
}

/// Ends the program with the name of a run that does not end.
fn watch() {
    loop {
        thread::sleep(Duration::from_millis(500));
        let late = RUNNING.lock().ok().and_then(|running| running.clone());
        if let Some((name, _)) = late.filter(|(_, start)| start.elapsed() > 3 * TIME) {
            println!("{name}: does not end");
            process::exit(1);
        }
    }
}

fn read(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<(String, Vec<u8>)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            Some((path.file_name()?.to_str()?.to_owned(), fs::read(&path).ok()?))
        })
        .collect();
    // The same number is the same file.
    files.sort();
    files
}
