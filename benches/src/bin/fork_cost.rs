//! `fork_cost ENGINE N` computes fib(N) on one worker of an engine, or without forks if the engine is `plain`, and
//! prints the number of forks. Without arguments it prints the engines' names. `benches/instructions.sh` runs it.

use std::process::ExitCode;

use furcate_benches::fork::{Engine, Visit, each, forms};
use furcate_benches::programs::{Fib, Program};

/// The name of the program without forks.
const PLAIN: &str = "plain";

/// All engines' names.
struct Names;

impl Visit for Names {
    fn visit<E: Engine>(&mut self) {
        println!("{}", E::NAME);
    }
}

/// Runs the program on the engine of a given name.
struct Run<'a> {
    engine: &'a str,
    program: Fib,
    output: Option<u64>,
}

impl Visit for Run<'_> {
    fn visit<E: Engine>(&mut self) {
        if E::NAME == self.engine {
            let input = self.program.input();
            self.output = Some(E::new(1).run(|fork| self.program.forked(fork, input)));
        }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [engine, n] = &args[..] else {
        println!("{PLAIN}");
        each(&mut Names);
        forms(&mut Names);
        return ExitCode::SUCCESS;
    };
    let Ok(n) = n.parse() else {
        eprintln!("fork_cost: {n} is no size");
        return ExitCode::FAILURE;
    };
    let program = Fib(n);
    let mut run = Run { engine, program, output: None };
    if engine == PLAIN {
        run.output = Some(program.serial(program.input()));
    } else {
        each(&mut run);
        forms(&mut run);
    }
    let Some(output) = run.output else {
        eprintln!("fork_cost: there is no engine {engine}");
        return ExitCode::FAILURE;
    };
    program.check(&output);
    println!("{}", program.forks().expect("fib knows its forks"));
    ExitCode::SUCCESS
}
