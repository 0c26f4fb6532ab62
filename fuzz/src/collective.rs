//! What `rocescope collective import` and `--nccl-debug` read, and the analysis of it.

use rocescope_collective::analysis::{Analysis, analyze};
use rocescope_collective::document::Document;
use rocescope_collective::dot::dot;
use rocescope_collective::failed::Joiner;
use rocescope_collective::hang::Hangs;
use rocescope_collective::read::{
    File, Imported, comma, flight_recorder, nccl_debug, nccl_failures, nccl_inspector, nccl_profiler, nccl_ras, pickle,
};
use rocescope_collective::steps::Builder;
use rocescope_collective::telemetry::Source;

/// Between the files of an input.
const NEXT: &str = "\n=====\n";

/// Input: a byte that selects the reader, and its files.
///
/// | byte | files |
/// |---|---|
/// | `c`, `p`, `i`, `f` | of each rank or process: `CoMMA`, the example profiler, NCCL Inspector, the flight recorder |
/// | `r` | reports of NCCL's RAS |
/// | `d` | logs of NCCL |
/// | 0x80 | a pickle, with this byte |
pub fn run(input: &[u8]) {
    let Some((selector, bytes)) = input.split_first() else {
        return;
    };
    if pickle::is_pickle(input) {
        if let Ok(text) = pickle::json(input) {
            let name = "rank_0".to_owned();
            analyzed(&flight_recorder::read(&[File { name, text }], "fuzz"));
        }
        return;
    }
    let text = String::from_utf8_lossy(bytes);
    let texts: Vec<String> = text.split(NEXT).map(str::to_owned).collect();
    let named = texts.iter().zip(0..);
    let files: Vec<File> = named
        .map(|(text, number)| File {
            name: format!("rank_{number}"),
            text: text.clone(),
        })
        .collect();
    let imported = match selector {
        b'c' => comma::read(&files, "fuzz"),
        b'p' => nccl_profiler::read(&files, "fuzz"),
        b'i' => nccl_inspector::read(&files, "fuzz"),
        b'f' => flight_recorder::read(&files, "fuzz"),
        b'r' => nccl_ras::read(&files, "fuzz"),
        b'd' => {
            let failures = nccl_failures::read(&files, 0);
            let (failed, _) = Joiner::new(failures.clone()).join();
            assert_eq!(failed.len(), failures.all.len());
            let ranks = nccl_debug::read(&files);
            assert!(ranks.of(None, 0).is_none_or(|rank| text.contains(&rank.to_string())));
            return;
        }
        _ => return,
    };
    analyzed(&imported);
}

fn analyzed(imported: &Imported) {
    let telemetry = imported.telemetry.as_slice().telemetry();
    let mut builder = Builder::default();
    let mut hangs = Hangs::default();
    for row in &imported.steps {
        builder.add(row);
        hangs.add(row);
    }
    let steps = builder.finish();
    assert!(steps.steps.len() <= imported.steps.len());
    assert!(steps.steps.iter().all(|step| step.duration_ns >= 0 && step.number > 0));
    let analysis = Analysis {
        hangs: hangs.find(),
        ..analyze(steps, &telemetry)
    };
    assert!(analysis.path.total_ns >= 0);
    assert!(analysis.path.parts.len() <= analysis.steps.steps.len());
    assert!(analysis.contributors.iter().all(|(_, rating)| !rating.is_nan()));
    let document = Document::of(&analysis);
    assert!(
        document
            .summary
            .iter()
            .chain(&document.complaints)
            .all(|line| !line.contains('\n'))
    );
    let _ = (document.text(), dot(&analysis));
}
