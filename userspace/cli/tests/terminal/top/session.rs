//! One session: open a file, sort, filter, freeze, detail, quit.

use crate::top::input;
use crate::top::terminal::Terminal;

/// The lines between the headings and the footer of the top pane.
fn rows(screen: &str) -> Vec<Vec<&str>> {
    let lines: Vec<&str> = screen.lines().collect();
    let title = lines.iter().position(|line| line.starts_with('─')).unwrap();
    let above_footer = lines.iter().take(lines.len() - 1).skip(title + 2);
    above_footer
        .take_while(|line| !line.trim().is_empty() && !line.starts_with('─'))
        .map(|line| line.split_whitespace().collect())
        .collect()
}

/// The column of source addresses.
fn sources(screen: &str) -> Vec<&str> {
    rows(screen).iter().filter_map(|row| row.get(1).copied()).collect()
}

#[track_caller]
fn drive(terminal: &Terminal) {
    // The view plays the file to its end.
    terminal.wait("ended");
    // The view measures itself once a second.
    let screen = terminal.wait("CPU ");
    for text in [
        "demo.pcap  file  ended",
        "00:00:03.000  +1 s",
        "frames = ",
        " RoCEv2 + ",
        "fabric loss 8  retransmitted 16  capture loss 0",
        "exact",
        "1 Flows ",
    ] {
        assert!(screen.contains(text), "{text}\n{screen}");
    }
    let ranks: Vec<u32> = rows(&screen).iter().map(|row| row[0].parse().unwrap()).collect();
    assert!(ranks.is_sorted() && ranks[0] == 1 && ranks.len() > 5, "{screen}");

    // Sorted by source from the list of all columns, then reversed.
    terminal.press(&["s"]);
    terminal.wait("Sort flows by");
    terminal.press(&["Home", "Down", "Down", "Down", "Down", "Down", "Down", "Enter"]);
    let screen = terminal.wait("Source▲");
    assert!(sources(&screen).is_sorted(), "{screen}");
    terminal.press(&["r"]);
    let screen = terminal.wait("Source▼");
    assert!(sources(&screen).is_sorted_by(|a, b| a >= b), "{screen}");
    terminal.press(&[">"]);
    terminal.wait("Destination▲");

    // An invalid filter points at its error; a valid one hides rows.
    terminal.press(&["/"]);
    terminal.type_in("src host 10.10.0.11 and paket > 1");
    terminal.press(&["Enter"]);
    terminal.wait("`paket`");
    terminal.press(&["C-u"]);
    terminal.type_in("src host 10.10.0.11");
    terminal.press(&["Enter"]);
    // The text of the filter is on the screen before it is applied.
    terminal.until("the rows of the filter", |screen| {
        screen.contains(" of ")
            && screen.contains("/src host 10.10.0.11")
            && sources(screen).iter().all(|source| *source == "10.10.0.11")
    });
    terminal.press(&["Escape"]);
    terminal.until("all rows", |screen| !screen.contains("/src host"));

    // Frozen, and one window back.
    terminal.press(&["f"]);
    terminal.wait("FROZEN");
    terminal.press(&["Left"]);
    let screen = terminal.wait("FROZEN -1");
    assert!(screen.contains("00:00:02.000  +1 s"), "{screen}");
    terminal.press(&["+"]);
    terminal.wait("00:00:01.000  +2 s");
    terminal.press(&["-", "f"]);
    terminal.until("the latest window", |screen| {
        !screen.contains("FROZEN") && screen.contains("00:00:03.000  +1 s")
    });

    // Rates in bytes, every field of a row, the keys.
    terminal.press(&["u"]);
    terminal.wait("iB/s");
    terminal.press(&["u", "Down", "Enter"]);
    terminal.wait("all fields of the row");
    terminal.wait("Source IP address.");
    // Alone: a terminal may take Escape and the next key for one with Alt.
    terminal.press(&["Escape"]);
    terminal.until("no detail", |screen| !screen.contains("all fields of the row"));
    terminal.press(&["?"]);
    terminal.wait("Next pane.");
    terminal.press(&["Escape"]);
    terminal.until("the tables", |screen| !screen.contains("Next pane."));
}

#[test]
fn a_session_at_80_by_24() {
    let line = format!("$ROCESCOPE top -r {} --speed max", input::capture());
    let terminal = Terminal::run(80, 24, &line);
    drive(&terminal);
    // One pane at a time: a key opens each of the others.
    terminal.press(&["2"]);
    terminal.wait("RC_RDMA_WRITE_");
    terminal.press(&["Tab"]);
    terminal.wait("RTT p50");
    terminal.press(&["4"]);
    terminal.wait("Detail");
    terminal.quit();
}

#[test]
fn a_session_at_120_by_40() {
    // By its name alone, for the picture.
    let (folder, name) = input::capture().rsplit_once('/').unwrap();
    let line = format!("cd {folder}; $ROCESCOPE top -r {name} --speed max --mouse");
    let terminal = Terminal::run(120, 40, &line);
    drive(&terminal);
    let screen = terminal.screen();
    for text in [
        "1 Flows",
        "2 Opcodes",
        "3 Connections",
        "4 Events",
        "RC_RDMA_WRITE_",
        "RTT p99",
    ] {
        assert!(screen.contains(text), "{text}\n{screen}");
    }
    picture(&terminal);
    terminal.quit();
}

/// The session as the README shows it: frozen at a window, all panes, sorted by rate.
fn picture(terminal: &Terminal) {
    terminal.press(&["f"]);
    terminal.wait("FROZEN");
    terminal.press(&["Left"]);
    terminal.wait("FROZEN -1");
    let mut presses = 0;
    while !terminal.screen().contains("▼Frame rate") {
        terminal.press(&[">"]);
        presses += 1;
        assert!(presses < 20, "{}", terminal.screen());
        terminal.until("a column", |screen| screen.contains('▼') || screen.contains('▲'));
    }
    let painted = terminal.painted();
    assert!(painted.contains("\u{1b}["), "colours");
    if let Some(path) = std::env::var_os("ROCESCOPE_PICTURE") {
        std::fs::write(path, painted).unwrap();
    }
}

#[test]
fn no_color_means_none_and_without_utf8_all_is_ascii() {
    let line = format!("LC_ALL=C NO_COLOR=1 $ROCESCOPE top -r {} --speed max", input::capture());
    let terminal = Terminal::run(120, 40, &line);
    terminal.wait("ended");
    terminal.press(&["Enter"]);
    terminal.wait("all fields of the row");
    assert!(terminal.screen().is_ascii(), "{}", terminal.screen());
    let painted = terminal.painted();
    // 30 to 48 and 90 to 107 are colours; 39 and 49 reset them.
    let colored = |code: &str| matches!(code.parse(), Ok(30..=38 | 40..=48 | 90..=107));
    let codes = painted.split("\u{1b}[").skip(1);
    for code in codes.filter_map(|rest| rest.split_once('m')) {
        assert!(!code.0.split(';').any(colored), "{}", code.0);
    }
}

#[test]
fn keys_can_be_bound_and_columns_chosen_at_the_start() {
    let line = format!(
        "$ROCESCOPE top -r {} --speed max --bind quit=x --sort dst_qpn --bytes",
        input::capture()
    );
    let terminal = Terminal::run(80, 24, &line);
    terminal.wait("ended");
    terminal.wait("▼QP");
    terminal.wait("iB/s");
    terminal.press(&["x"]);
    terminal.is_restored();
}
