//! `overhead_cost FORM N CUTOFF` computes fib(N), forked to CUTOFF, on one worker in one of the forms of the table
//! `overhead` of the bench `latency`, and prints the number of its leaves. Without arguments it prints the names of the
//! forms, each with the form without futures to which it is compared. `benches/instructions.sh` runs it.

use furcate_benches::latency::{FORMS, Overhead};
use std::hint::black_box;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, n, cutoff] = &args[..] else {
        FORMS.iter().for_each(|form| println!("{}\t{}", form.name, form.without));
        return ExitCode::SUCCESS;
    };
    let form = FORMS.iter().find(|form| form.name == name);
    let (Some(form), Ok(n), Ok(cutoff)) = (form, n.parse(), cutoff.parse()) else {
        eprintln!("overhead_cost: no form {name}, or no numbers {n} and {cutoff}");
        return ExitCode::FAILURE;
    };
    let pool = furcate::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started");
    let program = Overhead { n, cutoff };
    black_box(form.run(program, &pool));
    println!("{}", program.leaves());
    ExitCode::SUCCESS
}
