//! The program in the kernel and the observer in user space, driven together.

use crate::corpus::Frames;
use rocescope_capture::xdp::rehearsal::{INTERFACE, Rehearsal};
use rocescope_capture::xdp::{OBJECT, OBJECT_VARIABLE, Options};
use rocescope_record::{
    Clock, Config, ControlPacket, Counters, HandshakeRecord, MadRecord, Observer, RunRecord, Set, Sink, Slot, UetRecord,
};
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

/// The output of both.
#[derive(Default)]
struct Published {
    runs: Vec<RunRecord>,
    whole: Vec<Event>,
}

#[derive(Debug, PartialEq)]
enum Event {
    Mad(Box<MadRecord>),
    Handshake(HandshakeRecord),
}

impl From<ControlPacket<'_>> for Event {
    fn from(whole: ControlPacket<'_>) -> Self {
        match whole {
            ControlPacket::Mad(record) => Self::Mad(Box::new(*record)),
            ControlPacket::Handshake(record) => Self::Handshake(*record),
        }
    }
}

impl Sink for Published {
    fn publish(&mut self, run: &RunRecord, _: &mut Counters) {
        self.runs.push(*run);
    }

    fn uet(&mut self, record: &UetRecord, _: &mut Counters) {
        self.runs.push(*record.as_run());
    }

    fn control_packet(&mut self, event: ControlPacket<'_>) -> bool {
        self.whole.push(event.into());
        true
    }
}

/// The amounts that a comparison covered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compared {
    pub(crate) runs: usize,
    pub(crate) mads: usize,
    pub(crate) handshakes: usize,
    /// The counts so far.
    pub(crate) counters: Counters,
}

pub(crate) struct Pair {
    kernel: Rehearsal,
    user: Observer<Vec<Set>>,
    config: Config,
}

/// Loads the program; prints a line and returns `None` without privileges.
pub(crate) fn load(options: Options, config: Config) -> Option<Rehearsal> {
    let object = match std::env::var_os(OBJECT_VARIABLE) {
        Some(path) => std::fs::read(path).unwrap(),
        None => OBJECT.to_vec(),
    };
    match Rehearsal::load(&object, options, config) {
        Ok(kernel) => Some(kernel),
        Err(error) if error.is_permission() && std::env::var_os("CI").is_none() => {
            eprintln!("skipped: loading an XDP program needs CAP_BPF and CAP_NET_ADMIN");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

impl Pair {
    /// Creates both with `slots` slots; prints a line and returns `None` without privileges.
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

    /// Reconfigures both.
    pub(crate) fn reconfigure(&mut self, config: &Config) {
        self.kernel.reconfigure(config).unwrap();
        self.user.reconfigure(config);
    }

    /// Passes the frames to both, flushes them, and returns the amounts compared.
    pub(crate) fn compare(&mut self, name: &str, frames: &Frames) -> Compared {
        let (mut kernel, mut user) = (Published::default(), Published::default());
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
            if at % 500 == 0 {
                self.take(&mut kernel);
            }
        }
        self.kernel.flush(None).unwrap();
        self.user.flush(None, &mut user);
        self.take(&mut kernel);
        for (at, (kernel, user)) in kernel.runs.iter().zip(&user.runs).enumerate() {
            assert_eq!(kernel, user, "{name}: record {at}");
        }
        assert_eq!(kernel.runs.len(), user.runs.len(), "{name}");
        for (at, (kernel, user)) in kernel.whole.iter().zip(&user.whole).enumerate() {
            assert_eq!(kernel, user, "{name}: event {at}");
        }
        assert_eq!(kernel.whole.len(), user.whole.len(), "{name}");
        let counters = self.kernel.counters().unwrap();
        assert_eq!(&counters, self.user.counters(), "{name}");
        assert_eq!(counters.frames, counters.frames_accounted(), "{name}");
        let mads = |event: &&Event| matches!(event, Event::Mad(_));
        let mads = kernel.whole.iter().filter(mads).count();
        Compared {
            runs: kernel.runs.len(),
            mads,
            handshakes: kernel.whole.len() - mads,
            counters,
        }
    }

    fn take(&mut self, published: &mut Published) {
        published.runs.append(&mut self.kernel.take());
        self.kernel
            .take_control_packets(|packet| published.whole.push(packet.into()));
    }
}
