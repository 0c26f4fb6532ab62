//! The program in the kernel and the observer in user space, driven together.

use crate::corpus::Frames;
use rocescope_capture::xdp::rehearsal::{INTERFACE, Rehearsal};
use rocescope_capture::xdp::{OBJECT, OBJECT_VARIABLE, Options};
use rocescope_record::{Clock, Config, Counters, Observer, RunRecord, Set, Sink, Slot};
use rocescope_wire::{FrameLengths, LinkType};

struct Times {
    now: u64,
    tick: u64,
}

impl Clock for Times {
    fn tick(&self) -> u64 {
        self.tick
    }

    fn now(&self) -> u64 {
        self.now
    }
}

#[derive(Default)]
struct Published(Vec<RunRecord>);

impl Sink for Published {
    fn publish(&mut self, run: &RunRecord, _: &mut Counters) {
        self.0.push(*run);
    }
}

pub(crate) struct Pair {
    kernel: Rehearsal,
    user: Observer<Vec<Set>>,
    config: Config,
}

/// Loads the program; `None`, said in one line, where this user may not.
pub(crate) fn load(options: Options, config: Config) -> Option<Rehearsal> {
    let object = match std::env::var_os(OBJECT_VARIABLE) {
        Some(path) => std::fs::read(path).unwrap(),
        None => OBJECT.to_vec(),
    };
    match Rehearsal::load(&object, options, config) {
        Ok(kernel) => Some(kernel),
        Err(error) if error.is_permission() && std::env::var_os("CI").is_none() => {
            eprintln!(
                "skipped: loading an XDP program takes CAP_BPF and CAP_NET_ADMIN"
            );
            None
        }
        Err(error) => panic!("{error}"),
    }
}

impl Pair {
    /// Both with `slots` slots; `None`, said in one line, where this user may not load programs.
    pub(crate) fn new(config: Config, slots: u32) -> Option<Self> {
        let options = Options {
            slots,
            ..Options::default()
        };
        let kernel = load(options, config)?;
        let slot: Slot = bytemuck::Zeroable::zeroed();
        Some(Self {
            kernel,
            user: Observer::new(config, vec![[slot; 2]; slots as usize / 2]),
            config,
        })
    }

    /// Gives both the frames, then flushes them; how many records that made.
    pub(crate) fn compare(&mut self, name: &str, frames: &Frames) -> usize {
        let (mut kernel, mut user) = (Vec::new(), Published::default());
        let mut slice = None;
        for (at, (now, frame)) in frames.iter().enumerate() {
            let now = *now;
            let tick = now / self.config.tick_ns;
            if slice.replace(now / self.config.slice_ns) != Some(now / self.config.slice_ns) {
                self.kernel.flush(Some(tick)).unwrap();
                self.user.flush(Some(tick), &mut user);
            }
            self.kernel.observe(frame, now, tick).unwrap();
            self.user.observe(
                frame.as_slice(),
                LinkType::Ethernet,
                FrameLengths::whole(frame.len() as u32),
                INTERFACE,
                &Times { now, tick },
                &mut user,
            );
            if at % 1_000 == 0 {
                kernel.append(&mut self.kernel.take());
            }
        }
        self.kernel.flush(None).unwrap();
        self.user.flush(None, &mut user);
        kernel.append(&mut self.kernel.take());
        for (at, (kernel, user)) in kernel.iter().zip(&user.0).enumerate() {
            assert_eq!(kernel, user, "{name}: record {at}");
        }
        assert_eq!(kernel.len(), user.0.len(), "{name}");
        let counters = self.kernel.counters().unwrap();
        assert_eq!(&counters, self.user.counters(), "{name}");
        assert_eq!(counters.frames, counters.frames_accounted(), "{name}");
        kernel.len()
    }
}
