//! `furcate-trace trace.json`: a trace's summary as text, and its picture. `furcate-trace trace.*.json -o all.json`: the summaries of several processes, and one trace of all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::slice;

use furcate_trace::{Trace, read_chrome, write_processes};

const USAGE: &str = "usage: furcate-trace TRACE.json [-o PICTURE.svg | --text] [--folded STACKS.folded]
       furcate-trace TRACE.0.json TRACE.1.json ... [-o ALL.json]

Prints the summary of a trace, and draws its picture, into TRACE.svg unless -o names another file.
FURCATE_TRACE=TRACE.json records the trace of a program that uses furcate.
Of several traces, such as those of the ranks of a cluster, it prints each summary, and writes one trace of all processes, for Perfetto.

  -o PICTURE.svg  the picture's file
  -o ALL.json     the file for the trace of all processes
  --text          draws no picture
  --folded STACKS.folded
                  writes folded stacks, for flamegraph.pl, inferno and speedscope
";

fn main() -> ExitCode {
    match run() {
        // (`print` would panic where the reader of a pipe has seen enough.)
        Ok(text) => match io::stdout().write_all(text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                eprintln!("furcate-trace: standard output cannot be written: {error}");
                ExitCode::FAILURE
            }
            _ => ExitCode::SUCCESS,
        },
        Err(error) => {
            eprintln!("furcate-trace: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns what to print.
fn run() -> Result<String, String> {
    let (mut input, mut picture, mut stacks, mut text) = (None, None, None, false);
    let mut others = Vec::new();
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("-h" | "--help") => return Ok(USAGE.to_owned()),
            Some("--text") => text = true,
            Some("-o") => {
                let path = arguments.next().ok_or("-o needs a name: -o PICTURE.svg")?;
                picture = Some(PathBuf::from(path));
            }
            Some("--folded") => {
                let path = arguments.next().ok_or("--folded needs a name: --folded STACKS.folded")?;
                stacks = Some(PathBuf::from(path));
            }
            Some(option) if option.starts_with('-') => {
                return Err(format!("there is no option {option}\n{USAGE}"));
            }
            _ if input.is_none() => input = Some(PathBuf::from(argument)),
            _ => others.push(PathBuf::from(argument)),
        }
    }
    let Some(input) = input else { return Err(format!("which trace?\n{USAGE}")) };
    if text && picture.is_some() {
        return Err(
            "--text draws no picture, so -o has no meaning beside it: leave one of them out".to_owned()
        );
    }
    if !others.is_empty() {
        if stacks.is_some() {
            return Err("--folded writes the stacks of one trace: name one".to_owned());
        }
        others.push(input);
        return several(others, picture);
    }
    let trace = read(&input)?;
    let mut words = trace.summary().to_string();
    let inputs = slice::from_ref(&input);
    if let Some(path) = stacks {
        write(&path, inputs, "stacks", "--folded", |file| trace.write_folded(file))?;
        words += &format!("stacks: {}\n", path.display());
    }
    if !text {
        let path = picture.unwrap_or_else(|| input.with_extension("svg"));
        write(&path, inputs, "picture", "-o", |mut file| {
            file.write_all(furcate_trace::svg(&trace).as_bytes())
        })?;
        words += &format!("picture: {}\n", path.display());
    }
    Ok(words)
}

/// Writes a file that an option names, unless that is one of the traces.
fn write(
    path: &Path,
    inputs: &[PathBuf],
    what: &str,
    option: &str,
    content: impl FnOnce(File) -> io::Result<()>,
) -> Result<(), String> {
    let shown = path.display();
    // A path that cannot be resolved is no file yet.
    let replaced = fs::canonicalize(path).ok();
    if replaced.is_some() && inputs.iter().any(|input| fs::canonicalize(input).ok() == replaced) {
        return Err(format!("the {what} would replace the trace {shown}: name another file with {option}"));
    }
    File::create(path)
        .and_then(content)
        .map_err(|error| format!("cannot write {shown}: {error}; name another file with {option}"))
}

fn read(path: &Path) -> Result<Trace, String> {
    let shown = path.display();
    let file = File::open(path).map_err(|error| {
        format!("cannot open {shown}: {error}; `FURCATE_TRACE={shown}` before a program's name records its trace there")
    })?;
    read_chrome(file).map_err(|error| format!("{shown}: {error}"))
}

/// Returns the summaries of several processes. Writes their traces into one file, if that is named.
fn several(mut inputs: Vec<PathBuf>, all: Option<PathBuf>) -> Result<String, String> {
    // Rank 10 comes behind rank 9.
    inputs.sort_by_key(|input| (input.as_os_str().len(), input.clone()));
    let (mut words, mut traces) = (String::new(), Vec::new());
    for input in &inputs {
        let trace = read(input)?;
        words += &format!("{}\n{}", input.display(), trace.summary());
        traces.push((input.file_stem().unwrap_or_default().to_string_lossy().into_owned(), trace));
    }
    let Some(all) = all else { return Ok(words) };
    write(&all, &inputs, "file for all processes", "-o", |file| write_processes(&traces, file))?;
    Ok(words + &format!("all processes: {}; open it in https://ui.perfetto.dev\n", all.display()))
}
