//! Traces that are written to files and read back, by the library and by the program.

use furcate::policy::CancelToken;
use furcate::prelude::*;
use furcate::trace::{Settings, Trace};
use furcate_trace::{read_chrome, svg};
use miniserde::{Deserialize, json};
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use testkit::traces::{traced, traced_by};
use testkit::{pool, spin};

fn file(trace: &Trace) -> Vec<u8> {
    let mut file = Vec::new();
    trace.write_chrome(&mut file).unwrap();
    file
}

/// Forks, leaves, blocks, reductions, logs, offers, suspended tasks, a cancelled search, and a call that was stopped.
fn many_kinds() -> Trace {
    let pool = pool(3);
    let (_, trace) = traced(|| {
        pool.install(|| {
            let chain = || (0..4000_u64).into_par_iter();
            chain().size_limit(100).map(|x| x + 1).log("with \"quotes\"").sum::<u64>();
            chain().adaptive().for_each(|x| spin(Duration::from_nanos(x)));
            chain().find_any(|x| *x == 3000);
            let stop = CancelToken::new();
            stop.cancel();
            assert!(chain().by_blocks([7, 70]).stop_on(&stop).find_last(|x| *x == 3).is_err());
            (0..50_u64).into_par_iter().map(|x| async move { x }).io_await().sum::<u64>()
        })
    });
    trace
}

#[test]
fn a_trace_survives_a_file() {
    let (_, lossy) = traced_by(Settings::new().events_per_thread(1), || {
        pool(2).install(|| (0..20_000_u64).into_par_iter().size_limit(1).sum::<u64>())
    });
    assert!(lossy.lost() > 0);
    for trace in [many_kinds(), lossy, Trace::default()] {
        let read = read_chrome(&file(&trace)[..]).unwrap();
        assert_eq!(read.threads().len(), trace.threads().len());
        for (read, thread) in read.threads().iter().zip(trace.threads()) {
            assert_eq!(read.events(), thread.events());
            assert_eq!((read.name(), read.lost()), (thread.name(), thread.lost()));
            assert_eq!(read.processor_time(), thread.processor_time());
        }
        assert_eq!(read.duration(), trace.duration());
        assert_eq!(read.summary().to_string(), trace.summary().to_string());
        assert_eq!(svg(&read), svg(&trace));
    }
}

#[test]
fn errors_say_what_to_do() {
    let whole = file(&traced(|| furcate::join(|| (), || ())).1);
    let whole = std::str::from_utf8(&whole).unwrap();
    let error = |text: &str| read_chrome(text.as_bytes()).unwrap_err().to_string();
    assert!(error("").contains("is empty"), "{}", error(""));
    for end in [1, 20, whole.len() / 2, whole.len() - 3] {
        assert!(error(&whole[..end]).contains("cut off after line"), "{}", error(&whole[..end]));
    }
    assert!(error("digraph {}").contains("not JSON"));
    for foreign in
        ["[]", "{}", "7", r#"{"traceEvents":[]}"#, &whole.replace(r#""furcate":"1""#, r#""furcate":"99""#)]
    {
        assert!(error(foreign).contains("this version"), "{foreign}: {}", error(foreign));
    }
    for (from, to) in
        [("CallBegin", "Call"), (r#""payload":""#, r#""payload":"x"#), (r#""lost":0"#, r#""l":0"#)]
    {
        let changed = whole.replace(from, to);
        assert!(changed != whole && error(&changed).contains("wrong or missing"), "{from}");
    }
}

/// Runs `furcate-trace` with these arguments. Returns whether it succeeded, and what it printed.
fn program(directory: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_furcate-trace"));
    let output = command.current_dir(directory).args(arguments).output().unwrap();
    let words = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(words).unwrap())
}

#[test]
fn the_program_prints_and_draws() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = many_kinds();
    std::fs::write(path.join("trace.json"), file(&trace)).unwrap();
    let summary = trace.summary().to_string();

    assert_eq!(program(path, &["--text", "trace.json"]), (true, summary.clone()));
    assert!(!path.join("trace.svg").exists());
    assert_eq!(program(path, &["trace.json"]), (true, format!("{summary}picture: trace.svg\n")));
    assert_eq!(std::fs::read_to_string(path.join("trace.svg")).unwrap(), svg(&trace));
    assert!(program(path, &["trace.json", "-o", "other.svg"]).0 && path.join("other.svg").exists());
    assert!(program(path, &["--help"]).0);
    let arguments = ["trace.json", "--text", "--folded", "out.folded"];
    assert_eq!(program(path, &arguments), (true, format!("{summary}stacks: out.folded\n")));
    let mut stacks = Vec::new();
    trace.write_folded(&mut stacks).unwrap();
    assert_eq!(std::fs::read(path.join("out.folded")).unwrap(), stacks);

    let cases: [(&[&str], &str); 12] = [
        (&[], "usage"),
        (&["none.json"], "FURCATE_TRACE=none.json"),
        (&["trace.json", "trace.json", "-o", "./trace.json"], "would replace"),
        (&["trace.json", "-o"], "needs a name"),
        (&["trace.json", "--svg"], "no option --svg"),
        (&["trace.json", "trace.json", "--folded", "x"], "of one trace"),
        (&["trace.json", "--text", "-o", "x.svg"], "leave one"),
        (&["trace.json", "-o", "no/x.svg"], "cannot write no/x.svg"),
        (&["trace.json", "--folded"], "needs a name"),
        (&["trace.json", "--folded", "trace.json"], "would replace the trace"),
        (&["trace.json", "--folded", "no/x"], "cannot write no/x"),
        (&["trace.svg"], "not JSON"),
    ];
    for (arguments, words) in cases {
        let (success, printed) = program(path, arguments);
        assert!(!success && printed.contains(words), "{arguments:?}: {printed}");
    }
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "traceEvents")]
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    ph: String,
    name: String,
    pid: u64,
    tid: u64,
    ts: f64,
    id: Option<u64>,
    args: Option<Args>,
}

#[derive(Deserialize)]
struct Args {
    name: Option<String>,
}

#[test]
fn several_processes_become_one_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let first = many_kinds();
    std::thread::sleep(Duration::from_millis(20));
    let second = many_kinds();
    for (name, trace) in [("trace.9.json", &first), ("trace.10.json", &second)] {
        std::fs::write(path.join(name), file(trace)).unwrap();
    }
    let (success, printed) = program(path, &["trace.10.json", "trace.9.json", "-o", "all.json"]);
    let summaries = format!("trace.9.json\n{}trace.10.json\n{}", first.summary(), second.summary());
    assert!(success && printed.starts_with(&summaries), "{printed}");
    assert_eq!(program(path, &["trace.9.json", "trace.10.json"]), (true, summaries));

    let all: File = json::from_str(&std::fs::read_to_string(path.join("all.json")).unwrap()).unwrap();
    let (mut depths, mut times) = (HashMap::<_, i64>::new(), HashMap::new());
    let (mut names, mut processes, mut arrows) = (Vec::new(), HashMap::new(), HashMap::<_, Vec<_>>::new());
    for Record { ph, name, pid, tid, ts, id, args } in all.records {
        if name == "process_name" {
            names.push((pid, args.unwrap().name.unwrap()));
        }
        let before = times.insert(tid, ts);
        assert!(before.is_none_or(|before| before <= ts), "events of a thread are in order");
        assert_eq!(*processes.entry(tid).or_insert(pid), pid, "a number is that of one thread");
        let depth = depths.entry(tid).or_default();
        *depth += i64::from(ph == "B") - i64::from(ph == "E");
        assert!(*depth >= 0);
        if let Some(id) = id {
            assert!(*depth > 0, "Perfetto wants a slice around each end of an arrow");
            arrows.entry(id).or_default().push((ph, pid));
        }
        // Microseconds, up to what rounding changes: the second process began 20 ms after the first one's end.
        let end = first.duration().as_secs_f64() * 1e6 + 1.0;
        assert!(
            if pid == 1 { ts <= end } else { ts > end },
            "process {pid} at {ts}, the first one until {end}"
        );
    }
    assert_eq!(names, [(1, "trace.9".to_owned()), (2, "trace.10".to_owned())]);
    assert!(depths.values().all(|depth| *depth == 0));
    for ends in arrows.into_values() {
        let mut phases: Vec<_> = ends.iter().map(|(phase, _)| &**phase).collect();
        phases.sort_unstable();
        assert!(phases == ["f", "s"] && ends[0].1 == ends[1].1, "{ends:?}");
    }
}
