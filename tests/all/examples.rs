//! The examples as a stranger runs them: with `--help`, a wrong word, numbers out of bounds, unknown flags, a reader
//! that leaves, a terminal, and a kill.
#![cfg(not(furcate_rayon))]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::Duration;
use std::{env, fs};
use testkit::process::output_within;

/// An example that runs for longer than this hangs.
const LONG: Duration = Duration::from_secs(120);

/// An example that takes numbers.
struct Numbers {
    name: &'static str,
    /// The positional arguments, each with its least and greatest value.
    arguments: &'static [(&'static str, u64, u64)],
}

const NUMBERS: &[Numbers] = &[
    Numbers {
        name: "crawl",
        arguments: &[("RANGES", 1, 100_000), ("MILLISECONDS", 1, 10_000), ("IN_FLIGHT", 0, 0)],
    },
    Numbers { name: "deadline_search", arguments: &[("CITIES", 5, 500), ("MILLISECONDS", 1, 60_000)] },
    Numbers { name: "fannkuch", arguments: &[("N", 3, 12)] },
    Numbers { name: "find_first", arguments: &[("POSITION", 0, 500_000_000), ("LENGTH", 1, 500_000_000)] },
    Numbers { name: "graph", arguments: &[("NODES", 1, 20_000_000)] },
    #[cfg(target_os = "linux")]
    Numbers { name: "io_uring", arguments: &[("BLOCKS", 1, 10_000)] },
    Numbers { name: "latency", arguments: &[("REQUESTS", 1, 100_000), ("MILLISECONDS", 1, 10_000)] },
    Numbers { name: "max_subarray", arguments: &[("LENGTH", 1, 500_000_000)] },
    Numbers { name: "merge_sort", arguments: &[("LENGTH", 1, 100_000_000)] },
    Numbers { name: "pipeline", arguments: &[("BLOCKS", 1, 100_000)] },
];

/// The folder of the examples, which `cargo test` builds before it runs tests.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let mut folder = env::current_exe().expect("the test's binary");
    folder.pop();
    folder.set_file_name("examples");
    folder
});

/// A built example.
fn program(name: &str) -> Command {
    let path = FOLDER.join(name);
    assert!(path.exists(), "no {}: run all tests, `cargo test --workspace`", path.display());
    let mut command = Command::new(path);
    command.stdin(Stdio::null()).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command
}

/// The names of the examples, as cargo finds them.
fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("examples");
    let entries = fs::read_dir(folder).expect("the examples").map(|entry| entry.expect("an entry").path());
    let examples =
        entries.filter(|path| path.extension().is_some_and(|rs| rs == "rs") || path.join("main.rs").exists());
    examples.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect()
}

fn output_of(command: &mut Command) -> Output {
    output_within(command, LONG)
}

fn run(name: &str, arguments: &[&str]) -> Output {
    let output = output_of(program(name).args(arguments));
    let (out, err) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
    assert!(
        !err.contains("panicked") && output.status.code().is_some(),
        "{name} {arguments:?}: {}\n{err}{}",
        output.status,
        String::from_utf8_lossy(out)
    );
    output
}

/// Runs an example with arguments that it must refuse, and checks its code and its message.
fn refused(name: &str, arguments: &[&str], words: &[&str]) {
    let output = run(name, arguments);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{name} {arguments:?}\n{err}");
    assert!(output.stdout.is_empty(), "{name} {arguments:?} begins to work");
    for word in words {
        assert!(err.contains(word), "{name} {arguments:?}: no word of `{word}` in\n{err}");
    }
}

/// Runs an example that must succeed without a word on standard error.
fn succeeds(name: &str, arguments: &[&str]) -> String {
    let output = run(name, arguments);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && err.is_empty(), "{name} {arguments:?}: {}\n{err}", output.status);
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

#[test]
fn every_example_is_tested_here() {
    for name in names() {
        let known = ["grep", "io_uring", "server", "words"].contains(&&name[..])
            || NUMBERS.iter().any(|example| example.name == name);
        assert!(known, "the example `{name}` is not in the list: add it to `NUMBERS`");
    }
}

#[test]
fn help_names_arguments_bounds_and_defaults() {
    for Numbers { name, arguments } in NUMBERS {
        let help = succeeds(name, &["--help"]);
        assert!(help.contains(&format!("Usage: {name}")), "{help}");
        for (argument, least, greatest) in *arguments {
            let line = help.lines().find(|line| line.trim().starts_with(&format!("[{argument}]")));
            let line = line.unwrap_or_else(|| panic!("{name} {argument}\n{help}"));
            let bounds = format!("[from {least} to {greatest}]");
            assert!(*greatest == 0 || line.contains(&bounds), "{name}: {line}");
            assert!(line.contains("[default: "), "{name}: {line}");
        }
        assert_eq!(succeeds(name, &["-h"]), help);
    }
    let help = succeeds("words", &["--help"]);
    for word in ["Usage: words", "[PATH]...", "--skewed", "--files", "--megabytes", "--rounds", "[default: "]
    {
        assert!(help.contains(word), "{help}");
    }
}

#[test]
fn wrong_arguments_are_refused_by_name_and_bounds() {
    let mut refusals = 0;
    for Numbers { name, arguments } in NUMBERS {
        for (i, (argument, least, greatest)) in arguments.iter().enumerate() {
            let below = least.checked_sub(1).map(|below| below.to_string());
            let above = (greatest + 1).to_string();
            let mut wrong = vec!["many", "", "1.5", "99999999999999999", "99999999999999999999999"];
            wrong.extend(below.as_deref());
            if *greatest > 0 {
                wrong.push(&above);
            }
            let bounds = format!("from {least} to {greatest}");
            let bounds = if *greatest > 0 { &bounds[..] } else { "from " };
            for value in wrong {
                let before = vec!["5"; i];
                refused(
                    name,
                    &[&before[..], &[value]].concat(),
                    &[&format!("[{argument}]"), value, "give a number ", bounds],
                );
                refusals += 1;
            }
        }
        refused(name, &["--no-such-flag"], &["--no-such-flag", "--help"]);
        refused(name, &["5"].repeat(arguments.len() + 1), &["unexpected argument", "--help"]);
    }
    println!("{refusals} values are refused");

    refused("words", &["no/such/path"], &["no/such/path", "PATH", "give a path that exists"]);
    refused("words", &["--skewed", "README.md"], &["--skewed", "cannot be used with"]);
    refused("words", &["--files", "100"], &["--skewed"]);
    refused("words", &["--skewed", "--files", "1"], &["--files", "from 2 to 100000"]);
    refused("words", &["--skewed", "--megabytes", "many"], &["--megabytes", "from 1 to 1000"]);
    refused("words", &["--rounds", "0"], &["--rounds", "from 3 to 1000"]);
    refused("words", &["--no-such-flag"], &["--no-such-flag"]);

    refused("grep", &["text"], &["<FILE>", "--help"]);
    refused("grep", &["--rounds", "5", "text", "README.md"], &["--compare"]);
    refused("grep", &["--compare", "--rounds", "1", "text", "README.md"], &["--rounds", "from 3 to 1000"]);
}

#[test]
fn grep_finds_lines() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/Cargo.toml");
    assert_eq!(succeeds("grep", &["[[example]]", manifest]).lines().next(), Some("[[example]]"));
    assert_eq!(succeeds("grep", &["no line has this", "/dev/null"]), "");
    let table = succeeds("grep", &["--compare", "--rounds", "3", "name", manifest]);
    assert!(table.contains("lines contain the text") && table.contains("furcate: par_lines()"), "{table}");
    let missing = run("grep", &["text", "no/such/file"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no/such/file"));
}

#[test]
fn server_has_help_and_refuses_wrong_arguments() {
    refused("server", &["serve", "--port", "80"], &["--port", "80", "from 1024 to 65535"]);
    refused("server", &["soak", "--requests", "many"], &["--requests", "many", "from 100 to 1000000"]);
    refused("server", &["compare", "--no-such-flag"], &["--no-such-flag"]);
    assert!(succeeds("server", &["soak", "--help"]).contains("[default: 100000]"));
}

#[test]
fn server_leaks_nothing_of_clients_that_leave() {
    let out = succeeds("server", &["soak", "--requests", "1000", "--leave", "20", "--clients", "16"]);
    assert!(out.contains("Nothing stays behind of 1,000 requests."), "{out}");
    let last = out.lines().find(|line| line.contains("100 %")).unwrap_or_else(|| panic!("{out}"));
    let numbers: Vec<&str> = last.split_whitespace().skip(2).collect();
    assert_eq!(numbers[..2], ["1,000", "200"], "requests, and those that were left: {out}");
}

#[test]
fn server_compares_both_kinds() {
    let out = succeeds("server", &["compare", "--seconds", "1", "--clients", "2"]);
    for row in ["furcate", "by hand"] {
        let row = out.lines().find(|line| line.trim_start().starts_with(row));
        let row = row.unwrap_or_else(|| panic!("no row:\n{out}"));
        assert!(row.chars().any(|c| c.is_ascii_digit()), "{out}");
    }
}

#[test]
fn the_least_values_work() {
    for Numbers { name, arguments } in NUMBERS {
        let least: Vec<String> = arguments
            .iter()
            .filter(|argument| argument.2 > 0)
            .map(|argument| argument.1.to_string())
            .collect();
        let least: Vec<&str> = least.iter().map(String::as_str).collect();
        let out = succeeds(name, &least);
        assert!(!out.is_empty(), "{name} prints nothing");
    }
    let out = succeeds("words", &["--skewed", "--files", "2", "--megabytes", "1", "--rounds", "3"]);
    let sentence = out.lines().last().unwrap_or_default();
    assert!(
        sentence.contains(" won") || sentence.contains("All chains tie: "),
        "no sentence about the winner: {sentence}"
    );
}

/// A needle behind the end, and numbers with times: all times of a table have the unit that the table head names.
#[test]
fn times_share_a_unit() {
    for (name, arguments) in [
        ("find_first", &["20", "10"][..]),
        ("graph", &["1000"]),
        ("fannkuch", &["5"]),
        ("merge_sort", &["100"]),
    ] {
        let out = succeeds(name, arguments);
        let heads = out.lines().find(|line| line.contains('[')).unwrap_or_else(|| panic!("{name}:\n{out}"));
        let mut units: Vec<&str> =
            heads.split('[').skip(1).filter_map(|part| part.split(']').next()).collect();
        units.dedup();
        assert!(matches!(units[..], ["s" | "ms" | "us" | "ns"]), "{name}: {units:?}\n{out}");
        assert!(!out.contains("µs"), "{name} prints a time as Debug does:\n{out}");
    }
}

#[cfg(unix)]
mod unix {
    use super::{program, succeeds};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::fs::{self, File};
    use std::io::Read;
    use std::process::Stdio;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn a_killed_pipeline_leaves_no_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let begin = Instant::now();
        let mut child = program("pipeline")
            .arg("100000")
            .env("TMPDIR", folder.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("the example starts");
        // Long enough for files to be made: the program creates one at once.
        while begin.elapsed() < Duration::from_secs(2) {
            thread::sleep(Duration::from_millis(10));
            assert!(child.try_wait().expect("a child").is_none(), "100,000 blocks are done too soon");
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn no_folder_for_temporary_files_is_an_error() {
        let output =
            program("pipeline").arg("1").env("TMPDIR", "/no/such/folder").output().expect("it starts");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(err.contains("/no/such/folder") && !err.contains("panicked"), "{err}");
    }

    #[test]
    fn a_reader_that_leaves_is_no_error() {
        let mut child = program("words")
            .args(["README.md", "--rounds", "3"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the example starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }

    #[test]
    fn work_of_more_than_a_second_shows_its_progress_on_a_terminal_and_nowhere_else() {
        let arguments = ["500", "5"]; // two contenders wait for 1.25 s each
        succeeds("latency", &arguments);

        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&terminal).expect("a terminal");
        unlockpt(&terminal).expect("a terminal");
        let path = ptsname(&terminal, Vec::new()).expect("a terminal");
        let end =
            File::options().read(true).write(true).open(path.to_str().expect("a path")).expect("a terminal");
        let child = program("latency")
            .args(arguments)
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdout(Stdio::piped())
            .stderr(end)
            .spawn()
            .expect("the example starts");
        let reader = thread::spawn(move || {
            let (mut shown, mut piece) = (Vec::new(), [0; 4096]);
            let mut terminal = File::from(terminal);
            // The end of the child's terminal is an error on Linux, and an end of file elsewhere.
            while let Ok(n @ 1..) = terminal.read(&mut piece) {
                shown.extend_from_slice(&piece[..n]);
            }
            String::from_utf8_lossy(&shown).into_owned()
        });
        let output = child.wait_with_output().expect("it ends");
        let shown = reader.join().expect("the terminal is read");
        assert!(output.status.success());
        assert!(shown.contains("latency") && shown.contains("/5 ["), "no bar: {shown:?}");
    }
}
