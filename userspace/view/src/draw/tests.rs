//! Presses keys and reads the screen, all in memory.

mod hosts;
mod incidents;
mod inside;
mod mesh;
mod owners;

use crate::header::{Header, Losses, Motion, Newest, ProcessUsage};
use crate::keys::Key;
use crate::pane::Pane;
use crate::view::{Effect, Mouse, Options, Seek, View};
use crate::zone::Zone;
use crate::{Glyphs, Theme, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};
use rocescope_model::time::{HOUR_NS, MINUTE_NS, SECOND_NS};
use rocescope_model::{ConnectionRow, EventRow, FlowRow, OpcodeRow, Row, Time, WindowRow, WindowRows};

/// A window with four flows; the rate of flow `n` in window `second` is a little above `n` Mbit/s.
fn window(second: i64) -> WindowRows {
    let start = Time(1_767_225_600 * SECOND_NS + second * SECOND_NS);
    let flow = |number: u32| FlowRow {
        rank: 5 - number,
        flow_hash: i64::from(number),
        src: format!("10.10.0.{number}").parse().unwrap(),
        dst: "10.10.0.21".parse().unwrap(),
        udp_src_port: Some(49_152),
        dst_qpn: 256 + number,
        service: "RC".into(),
        packets: u64::from(number) * 1_000,
        frame_bytes: u64::from(number) * 1_250_000,
        frame_bps: f64::from(number) * 1e6 + second as f64 * 1e5,
        window_start: start,
        window_start_ns: start.0,
        window_ns: SECOND_NS,
        elephant: number == 4,
        ..FlowRow::default()
    };
    let opcode = |opcode: &'static str, opcode_number, packets| OpcodeRow {
        opcode: opcode.into(),
        opcode_number,
        packets,
        ..OpcodeRow::default()
    };
    WindowRows {
        windows: vec![WindowRow {
            window_start: start,
            window_start_ns: start.0,
            window_ns: SECOND_NS,
            frames: 10_016,
            roce_packets: 10_000,
            not_roce_frames: 16,
            frame_bytes: 12_500_000,
            flows: 4,
            flows_exact: true,
            nak_packets: 3,
            ..WindowRow::default()
        }],
        flows: (1..=4).rev().map(flow).collect(),
        opcodes: vec![
            opcode("RC_RDMA_WRITE_MIDDLE", 7, 7_500),
            opcode("RC_ACKNOWLEDGE", 17, 2_500),
        ],
        events: vec![EventRow {
            time: start,
            time_ns: start.0,
            kind: "nak".into(),
            src: "10.10.0.1".parse().ok(),
            dst: "10.10.0.21".parse().ok(),
            dst_qpn: Some(257),
            count: 1,
            detail: "negative acknowledgement at PSN 7".into(),
            ..EventRow::default()
        }],
        connections: vec![ConnectionRow {
            connection: 1,
            role: "a_to_b".into(),
            src: "10.10.0.1".parse().unwrap(),
            dst: "10.10.0.21".parse().unwrap(),
            retransmitted_packets: 12,
            rtt_p50_ns: Some(5_300),
            ..ConnectionRow::default()
        }],
        ..WindowRows::default()
    }
}

struct Rig {
    view: View,
    terminal: Terminal<TestBackend>,
}

impl Rig {
    fn new(width: u16, height: u16, options: Options) -> Self {
        let header = Header {
            source: "demo.pcap".into(),
            mode: "file".into(),
            motion: Motion::Ended,
            own: Some(ProcessUsage {
                cpu_ratio: 0.012,
                resident_bytes: 34 << 20,
            }),
            ..Header::default()
        };
        let mut rig = Self {
            view: View::new(header, options),
            terminal: Terminal::new(TestBackend::new(width, height)).unwrap(),
        };
        rig.view.resize(width, height);
        for second in 0..3 {
            rig.view.window(window(second));
        }
        rig
    }

    fn press(&mut self, keys: &str) -> Effect {
        let mut effect = Effect::Nothing;
        for key in keys.split(' ') {
            effect = self.view.key(key.parse::<Key>().unwrap());
        }
        effect
    }

    fn lines(&mut self) -> Vec<String> {
        self.terminal.draw(|frame| draw(&self.view, frame)).unwrap();
        let buffer = self.terminal.backend().buffer();
        let width = usize::from(buffer.area.width);
        let rows = buffer.content.chunks(width);
        rows.map(|row| row.iter().map(Cell::symbol).collect()).collect()
    }

    #[track_caller]
    fn shows(&mut self, texts: &[&str]) {
        let screen = self.lines().join("\n");
        for text in texts {
            assert!(screen.contains(text), "`{text}` is not on\n{screen}");
        }
    }

    /// A word of every row of the pane that fills the screen.
    fn column(&mut self, words: usize) -> Vec<String> {
        let lines = self.lines();
        let rows = lines.iter().skip(6).filter(|line| !line.trim().is_empty());
        rows.take(lines.len() - 7)
            .filter_map(|line| line.split_whitespace().nth(words).map(str::to_owned))
            .filter(|word| word.contains("10.10"))
            .collect()
    }
}

fn small() -> Rig {
    Rig::new(80, 24, Options::default())
}

#[test]
fn the_header_shows_source_time_rates_frames_losses_and_usage() {
    small().shows(&[
        "demo.pcap  file  ended",
        "00:00:02.000  +1 s",
        "100 Mbit/s",
        "10.0 kpps",
        "flows 4 exact",
        "10,016 frames = 10,000 RoCEv2 + 16 other",
        "fabric loss ?  capture loss 0  mirror loss ?",
        "NAK 3",
        "CPU 1.2 %  RSS 34.0 MiB",
    ]);
}

#[test]
fn small_screens_show_one_pane_and_large_ones_all() {
    let mut rig = small();
    rig.shows(&["1 Flows 4 ", "2 Opcodes ", "10.10.0.4", "4.20 Mbit/s", "▇██"]);
    rig.press("2");
    rig.shows(&["RC_RDMA_WRITE_MIDDLE", " 75.0 % ███", "25.0 % █"]);
    rig.press("3");
    rig.shows(&["5.30 µs", "12 "]);
    rig.press("tab");
    rig.shows(&["negative acknow…", "00:00:02.000  nak"]);
    let mut rig = Rig::new(120, 40, Options::default());
    rig.shows(&[
        "10.10.0.4",
        "RC_RDMA_WRITE_MIDDLE",
        "5.30 µs",
        "75.0 % ███",
        "negative ackno",
    ]);
    let mut rig = Rig::new(79, 24, Options::default());
    rig.shows(&["79 x 24 is too small", "needs 80 x 24"]);
}

#[test]
fn rows_are_sorted_reversed_and_filtered() {
    let mut rig = small();
    let sources = ["10.10.0.4", "10.10.0.3", "10.10.0.2", "10.10.0.1"];
    assert_eq!(rig.column(1), sources);
    rig.press("r");
    assert_eq!(rig.column(1)[0], "10.10.0.1");
    let source = FlowRow::TABLE.position("src").unwrap();
    while rig.view.listing(Pane::Flows).sort != source {
        rig.press("<");
    }
    rig.shows(&["Source▲"]);
    rig.press("s down enter");
    rig.shows(&["Destination▲"]);
    rig.press("/ 0 . 3 enter");
    assert_eq!(rig.column(1), ["10.10.0.3"]);
    rig.shows(&["1 Flows 1 of 4", "2 Opcodes", " /0.3 "]);
    rig.press("esc");
    assert_eq!(rig.column(1).len(), 4);
    rig.press("/ x");
    rig.view.key(Key::Alt('?'));
    rig.shows(&["Next pane."]);
    rig.press("?");
    rig.press("/ r a n k space = space 1 space o r space x space = space 1 enter");
    rig.shows(&["filter /rank = 1 or x = 1", "`x`"]);
    rig.press("esc");
    assert_eq!(rig.column(1).len(), 4);
}

#[test]
fn a_frozen_screen_stays_while_windows_arrive_and_steps_back_through_them() {
    let mut rig = small();
    rig.press("f");
    rig.view.window(window(3));
    rig.shows(&["FROZEN -1", "00:00:02.000"]);
    rig.press("left");
    rig.shows(&["FROZEN -2", "00:00:01.000", "4.10 Mbit/s"]);
    rig.press("f");
    rig.shows(&["00:00:03.000", "4.30 Mbit/s"]);
    rig.press("left left left left");
    rig.shows(&["earliest window kept", "00:00:00.000"]);
}

#[test]
fn times_are_in_utc_or_in_the_zone_that_is_asked_for() {
    small().shows(&["2026-01-01 UTC  00:00:02.000"]);
    let options = Options {
        zone: Zone::local(|_| 5 * HOUR_NS + 30 * MINUTE_NS),
        ..Options::default()
    };
    let mut rig = Rig::new(120, 40, options);
    rig.shows(&["2026-01-01 UTC+5:30  05:30:02.000"]);
    // Events are in the same zone.
    rig.press("4");
    rig.shows(&["05:30:02.000  nak"]);
}

#[test]
fn a_seekable_source_is_asked_to_seek() {
    let options = Options {
        seekable: true,
        ..Options::default()
    };
    let mut rig = Rig::new(80, 24, options);
    assert_eq!(rig.press("left"), Effect::Seek(Seek::Windows(-1)));
    assert_eq!(rig.press("L"), Effect::Seek(Seek::Minutes(1)));
    assert_eq!(rig.press("B"), Effect::Seek(Seek::Begin));
    rig.view.replace(vec![window(7)]);
    rig.shows(&["00:00:07.000"]);
    rig.view.header().motion = Motion::Speed(1.0);
    assert_eq!(rig.press("space"), Effect::Pause(true));
    assert_eq!(rig.press("]"), Effect::Speed(2.0));
}

#[test]
fn the_detail_page_explains_every_field_of_the_row() {
    let mut rig = small();
    rig.press("down enter");
    rig.shows(&["flows: all fields of the row", "10.10.0.3", "Source IP address."]);
    let mut seen = String::new();
    for _ in 0..3 * FlowRow::TABLE.columns.len() {
        seen += &rig.lines().join("\n");
        rig.press("down");
    }
    for column in FlowRow::TABLE.columns {
        assert!(seen.contains(column.name), "{}", column.name);
    }
    rig.press("esc");
    assert_eq!(rig.column(1).len(), 4);
}

#[test]
fn windows_are_merged_and_rates_can_be_in_bytes() {
    let mut rig = small();
    rig.press("-");
    rig.shows(&["1 s is the window of the source"]);
    rig.press("+");
    rig.shows(&["+2 s", "20,032 frames", "00:00:01.000"]);
    rig.press("+");
    rig.shows(&["5 windows requested; 3 are kept", "+3 s"]);
    rig.press("- - u");
    rig.shows(&["11.9 MiB/s", "+1 s"]);
}

#[test]
fn the_help_page_lists_every_key() {
    let mut options = Options::default();
    options.keys.bind_text("quit=ctrl-q").unwrap();
    let mut rig = Rig::new(80, 24, options);
    rig.press("?");
    let mut seen = String::new();
    for _ in 0..60 {
        seen += &rig.lines().join("\n");
        rig.press("down");
    }
    for action in crate::Action::ALL {
        assert!(seen.contains(action.help()), "{}", action.name());
    }
    assert!(seen.contains("q ctrl-c ctrl-q"));
    assert_eq!(rig.press("ctrl-q"), Effect::Quit);
}

#[test]
fn ascii_is_ascii_and_no_color_is_no_color() {
    let options = Options {
        glyphs: Glyphs::Ascii,
        theme: Theme::Plain,
        ..Options::default()
    };
    let mut rig = Rig::new(120, 40, options);
    for keys in ["f", "? down", "esc enter", "esc s", "esc / x"] {
        rig.press(keys);
        assert!(rig.lines().join("\n").is_ascii());
        let cells = &rig.terminal.backend().buffer().content;
        let colored = |cell: &Cell| cell.fg != Color::Reset || cell.bg != Color::Reset;
        assert!(!cells.iter().any(colored));
        assert!(cells.iter().any(|cell| cell.modifier.contains(Modifier::REVERSED)));
    }
}

#[test]
fn estimates_are_marked_and_losses_have_causes() {
    let mut rig = small();
    let mut rows = window(4);
    rows.windows[0].flows_exact = false;
    rows.windows[0].flows = 200_000;
    rows.windows[0].estimated_flows_stderr_ratio = 0.01;
    rows.windows[0].capture_lost_packets = 5;
    rows.windows[0].fabric_lost_packets = Some(11);
    rows.windows[0].retransmitted_packets = Some(412);
    rows.flows[0].error_frame_bytes = 100_000;
    rig.view.window(rows);
    rig.view.header().losses = Losses {
        live: true,
        interface_frames: Some(7),
        socket_frames: None,
        windows_not_shown: 0,
    };
    rig.shows(&[
        "flows 200,000 ± 2,000",
        "fabric loss 11  retransmitted 412  capture loss 12  ring 5  interface 7",
        "E··~",
        "≤4.77 MiB",
        "≤4.40 Mbit/s",
    ]);
}

#[test]
fn the_mouse_chooses_rows_sorts_by_headings_and_turns_tabs() {
    let mut rig = small();
    rig.view.mouse(Mouse::Press(10, 8));
    assert_eq!(rig.view.listing(Pane::Flows).cursor, 2);
    rig.view.mouse(Mouse::Wheel(10, 8, -1));
    assert_eq!(rig.view.listing(Pane::Flows).cursor, 1);
    rig.view.mouse(Mouse::Press(8, 5));
    rig.shows(&["Source▲"]);
    rig.view.mouse(Mouse::Press(16, 4));
    assert_eq!(rig.view.focus(), Pane::Opcodes);
}

#[test]
fn an_empty_view_draws_whatever_is_pressed() {
    let mut view = View::new(Header::default(), Options::default());
    for (width, height) in [(80, 24), (120, 40), (1, 1), (300, 100)] {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        view.resize(width, height);
        for action in crate::Action::ALL {
            view.act(*action);
            terminal.draw(|frame| draw(&view, frame)).unwrap();
        }
    }
}

#[test]
fn any_keys_over_any_windows_draw_at_any_size() {
    let mut rig = Rig::new(200, 60, Options::default());
    // A fixed walk through all actions from all states.
    let mut state = 1_u32;
    for step in 0..1_500 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let actions = crate::Action::ALL;
        rig.view.act(actions[(state >> 16) as usize % actions.len()]);
        if step % 17 == 0 {
            rig.view.window(window(3 + step / 17));
        }
        if step % 5 == 0 {
            let (width, height) = (80 + (state >> 8) % 120, 24 + (state >> 24) % 36);
            rig.view.resize(width as u16, height as u16);
            rig.terminal = Terminal::new(TestBackend::new(width as u16, height as u16)).unwrap();
        }
        rig.lines();
    }
}

/// Lost packets are part of the frames of their window, dropped frames are not; both are capture loss.
#[test]
fn capture_loss_of_rings_and_of_sockets_is_shown() {
    let mut rig = small();
    let mut rows = window(3);
    rows.windows[0].frames += 7;
    rows.windows[0].capture_lost_packets = 7;
    rows.windows[0].capture_dropped_frames = Some(5);
    rig.view.window(rows);
    rig.shows(&[
        "10,023 frames = 10,000 RoCEv2 + 16 other",
        "+ 7 capture loss",
        "capture loss 12",
    ]);
}

/// A loss stays in the header, in red, when the next window has none; zero is not highlighted.
#[test]
fn a_loss_of_an_earlier_window_stays_visible() {
    let mut rig = small();
    let red = |rig: &mut Rig, text: &str| {
        let line = rig.lines()[3].clone();
        let at = line.find(text).unwrap();
        let cell = &rig.terminal.backend().buffer()[(at as u16, 3)];
        cell.fg == Color::Indexed(203)
    };
    for (second, lost) in [(3, 2), (4, 0)] {
        let mut rows = window(second);
        rows.windows[0].fabric_lost_packets = Some(lost);
        rows.windows[0].retransmitted_packets = Some(2 * lost);
        rig.view.window(rows);
    }
    rig.shows(&["fabric loss 2  retransmitted 4  capture loss 0"]);
    assert!(red(&mut rig, "fabric loss") && red(&mut rig, "retransmitted"));
    assert!(!red(&mut rig, "capture loss"));
    let mut rows = window(9);
    rows.windows[0].fabric_lost_packets = Some(0);
    rig.view.replace(vec![rows]);
    rig.shows(&["fabric loss 0  capture loss 0"]);
    assert!(!red(&mut rig, "fabric loss"));
}

#[test]
fn traffic_is_grouped_by_source_destination_queue_pair_and_opcode() {
    let mut rig = small();
    rig.press("b");
    rig.shows(&["6 By src 4", "10.10.0.4", "40.0 %"]);
    rig.press("b");
    rig.shows(&["6 By dst 1", "10.10.0.21", "100.0 %"]);
    rig.press("b");
    rig.shows(&["6 By qp 4", "10.10.0.21 QP 260"]);
    rig.press("b");
    rig.shows(&["6 By opcode 2", "RC_RDMA_WRITE_MIDDLE"]);
    rig.press("b");
    rig.shows(&["6 By src 4"]);
    rig.press("/ 0 . 3 enter");
    rig.shows(&["6 By src 1 of 4"]);
    rig.press("enter");
    rig.shows(&["groups: all fields of the row", "10.10.0.3"]);
}

/// A dead writer must not look like one that has little to write.
#[test]
fn the_header_states_how_old_the_newest_data_are() {
    let newest = |now_s: i64| Newest {
        end: Time(1_767_225_787 * SECOND_NS),
        stale_ns: 65 * SECOND_NS,
        now: Time((1_767_225_787 + now_s) * SECOND_NS),
    };
    for width in [80, 120] {
        let mut rig = Rig::new(width, 40, Options::default());
        assert!(!rig.lines()[0].contains("newest"));
        for (age_s, text) in [
            (-3, "newest 00:03:07, 0 s ago"),
            (12, "newest 00:03:07, 12 s ago"),
            (65, "newest 00:03:07, 1 min ago"),
            (66, "STALE: newest 00:03:07, 1 min ago"),
            (2 * 86_400, "STALE: newest 2026-01-01 00:03:07, 2 days ago"),
        ] {
            rig.view.header().newest = Some(newest(age_s));
            rig.shows(&[text]);
            assert_eq!(rig.lines()[0].contains("STALE"), age_s > 65);
        }
    }
}
