//! Passes frames with times through windows and connections, in any order of time.

use super::bytes::Bytes;
use rocescope_model::WindowRows;
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::observer::FrameTime;
use rocescope_record::{Config, Observer, Slot};
use rocescope_wire::{FrameLengths, LinkType};

/// The run cache and the windows behind it.
pub(crate) struct Intake {
    observer: Observer<Vec<[Slot; 2]>>,
    pipeline: Pipeline,
}

impl Intake {
    pub(crate) fn new(config: Config, sets: usize, settings: Settings) -> Option<Self> {
        let pipeline = Pipeline::new(settings).ok()?;
        let slot: Slot = bytemuck::Zeroable::zeroed();
        let observer = Observer::new(config, vec![[slot; 2]; sets]);
        Some(Self { observer, pipeline })
    }

    /// Ends the windows before this time, as `Session` of the engine does it.
    fn turn(&mut self, time_ns: u64) {
        let (observer, pipeline) = (&mut self.observer, &mut self.pipeline);
        if !pipeline.is_current(time_ns) {
            if pipeline.is_ahead(time_ns) {
                observer.flush(Some(time_ns), pipeline);
            }
            pipeline.turn(time_ns, observer.counters());
            pipeline.rows().clear();
        }
    }

    pub(crate) fn frame(&mut self, frame: &[u8], link: LinkType, lengths: FrameLengths, interface: u32, time_ns: u64) {
        self.turn(time_ns);
        let clock = FrameTime(time_ns);
        self.observer
            .observe(frame, link, lengths, interface, &clock, &mut self.pipeline);
    }

    /// Ends the last windows: all packets are counted, and times are in order.
    pub(crate) fn finish(self) {
        let Self {
            mut observer,
            mut pipeline,
        } = self;
        observer.flush(None, &mut pipeline);
        pipeline.finish(observer.counters());
        let rows: &mut WindowRows = pipeline.rows();
        assert!(
            rows.connections
                .iter()
                .all(|row| row.first_ns.is_none_or(|first_ns| first_ns <= row.last_ns))
        );
        let counters = observer.counters();
        assert_eq!(pipeline.summary().totals.all().packets, counters.roce_packets);
        assert_eq!(pipeline.summary().totals.frames(), counters.frames);
        let pdcs = pipeline.summary().pdcs;
        assert_eq!(pdcs.packets + pdcs.untracked_packets, counters.delivered_uet());
    }
}

/// Input: as for [`observe`](super::observe).
pub fn run(input: &[u8]) {
    let mut bytes = Bytes(input);
    let window_ns = u64::from(bytes.u32()).max(1_000_000);
    let mut config = Config::exact(window_ns);
    config.mark_mask = u32::from(bytes.u8());
    let sets = 1 << (bytes.u8() % 4);
    bytes.u16();
    let settings = Settings {
        window_ns,
        sketches: false,
        ..Settings::default()
    };
    let Some(mut intake) = Intake::new(config, sets, settings) else {
        return;
    };
    let mut time_ns = 1_795_228_209_000_000_000u64;
    while !bytes.0.is_empty() {
        let length = bytes.u16();
        let step = i64::from(bytes.u16().cast_signed());
        let interface = u32::from(bytes.u8() & 3);
        let kind = bytes.u8();
        bytes.u16();
        let frame = bytes.slice(usize::from(length));
        // Quadratic steps: nanoseconds and seconds, forwards and backwards.
        time_ns = time_ns.wrapping_add_signed(step * step.abs());
        intake.turn(time_ns);
        if kind & 7 == 7 {
            // Of these bytes none is missing: only the interval is blind.
            let pipeline = &mut intake.pipeline;
            pipeline.capture_lost(time_ns.saturating_sub(1_000), time_ns, 0);
            pipeline.uet_lost(time_ns.saturating_sub(1_000), time_ns, 1);
        }
        let captured = frame.len() as u32;
        let lengths = FrameLengths {
            captured,
            original: captured,
        };
        intake.frame(frame, LinkType::Ethernet, lengths, interface, time_ns);
    }
    intake.finish();
}
