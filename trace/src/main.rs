//! `furcate-trace trace.json`: a trace's summary as text, and its picture.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: furcate-trace TRACE.json [-o PICTURE.svg | --text] [--folded STACKS.folded]

Prints the summary of a trace, and draws its picture, into TRACE.svg unless -o names another file.
FURCATE_TRACE=TRACE.json records the trace of a program that uses furcate.

  -o PICTURE.svg  the picture's file
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
            _ => return Err(format!("one trace at a time\n{USAGE}")),
        }
    }
    let Some(input) = input else { return Err(format!("which trace?\n{USAGE}")) };
    if text && picture.is_some() {
        return Err(
            "--text draws no picture, so -o has no meaning beside it: leave one of them out".to_owned()
        );
    }
    let shown = input.display();
    let file = File::open(&input).map_err(|error| {
        format!("cannot open {shown}: {error}; `FURCATE_TRACE={shown}` before a program's name records its trace there")
    })?;
    let trace = furcate_trace::read_chrome(file).map_err(|error| format!("{shown}: {error}"))?;
    let mut words = trace.summary().to_string();
    let mut write = |path: PathBuf, what: &str, option: &str, content: &[u8]| {
        let shown = path.display();
        if path == input {
            return Err(format!(
                "the {what} would replace the trace {shown}: name another file with {option}"
            ));
        }
        fs::write(&path, content)
            .map_err(|error| format!("cannot write {shown}: {error}; name another file with {option}"))?;
        words += &format!("{what}: {shown}\n");
        Ok(())
    };
    if let Some(path) = stacks {
        let mut content = Vec::new();
        trace.write_folded(&mut content).expect("a vector takes everything");
        write(path, "stacks", "--folded", &content)?;
    }
    if !text {
        let path = picture.unwrap_or_else(|| input.with_extension("svg"));
        write(path, "picture", "-o", furcate_trace::svg(&trace).as_bytes())?;
    }
    Ok(words)
}
