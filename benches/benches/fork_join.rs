//! The field's fork-join programs on every engine.
//!
//! `cargo bench -p furcate-benches --bench fork_join [-- program...]`; an argument selects the programs whose names
//! begin with it. `ROUNDS=n` for more or fewer rounds, `QUICK=1` for sizes just large enough to show that everything
//! runs, `PAPER=1` for the sizes of the papers, `THREADS=n` for the times with n threads only.
//!
//! T1 and TP are an engine's times with one thread and one for each processor, TS the time of the program without forks. One pool is
//! alive at a time: it is made and warmed up before its clock starts, and ended after its clock has stopped. So no idle
//! threads of one pool run during another pool's time.

use std::time::{Duration, Instant};

use furcate_benches::fork::{
    Engine, Furcate, FurcateHandle, Rayon, STACK, Serial, Visit, each, forms, warm_up,
};
use furcate_benches::programs::{Fib, Matmul, Program, Prompt, Queens, Quicksort, Tree};
use furcate_benches::{Choice, Timed, interleave_timed, paper, quick, rounds, thread_counts};

fn main() {
    // Peers that leave their threads' stacks to std get as much as the others.
    // SAFETY: no other thread has been started.
    unsafe { std::env::set_var("RUST_MIN_STACK", STACK.to_string()) };
    let contests = std::thread::Builder::new().stack_size(STACK).spawn(contests);
    contests.expect("a thread can be started").join().expect("no program fails");
}

/// Sizes of the programs.
struct Sizes {
    fib: u32,
    queens: usize,
    trees: [Tree; 2],
    matmul: usize,
    quicksort: usize,
    /// Time that stands for a millisecond in the prompt programs.
    unit: Duration,
    rounds: usize,
}

impl Sizes {
    fn chosen() -> Self {
        let usual = Self {
            fib: 38,
            queens: 13,
            trees: [Tree::T1, Tree::T3],
            matmul: 1_024,
            quicksort: 10_000_000,
            unit: Duration::from_millis(1),
            rounds: 7,
        };
        if quick() {
            Self {
                fib: 25,
                queens: 9,
                trees: [Tree::SMALL_T1, Tree::SMALL_T3],
                matmul: 256,
                quicksort: 100_000,
                unit: Duration::from_micros(100),
                rounds: 3,
            }
        } else if paper() {
            Self { fib: 45, queens: 14, trees: [Tree::T2L, Tree::T3L], matmul: 2_048, rounds: 3, ..usual }
        } else {
            usual
        }
    }
}

fn contests() {
    let sizes = Sizes::chosen();
    let rounds = rounds(sizes.rounds);
    let mut choice = Choice::from_args();

    if choice.has_beginning("fib") {
        speedups(&Fib(sizes.fib), rounds);
    }
    if choice.has_beginning("safety") {
        safety(&Fib(sizes.fib), rounds);
    }
    if choice.has_beginning("queens") {
        speedups(&Queens(sizes.queens), rounds);
    }
    for tree in sizes.trees {
        if choice.has_beginning(&tree.name()) {
            speedups(&tree, rounds);
        }
    }
    if choice.has_beginning("matmul") {
        speedups(&Matmul::new(sizes.matmul), rounds);
    }
    if choice.has_beginning("quicksort") {
        speedups(&Quicksort::new(sizes.quicksort), rounds);
    }
    for program in [Prompt::shallow(sizes.unit), Prompt::deep(sizes.unit)] {
        if choice.has_beginning(&program.name()) {
            promptness(&program, rounds);
        }
    }

    choice.finish();
    if cfg!(not(feature = "forte")) {
        println!("forte is left out: --features forte, which needs Rust 1.96 or --ignore-rust-version");
    }
}

/// A program's contenders: every engine with each of some numbers of threads.
struct Field<'a, P: Program> {
    program: &'a P,
    threads: &'a [usize],
    contenders: Vec<Timed<'a, P::Output>>,
}

impl<P: Program> Visit for Field<'_, P> {
    fn visit<E: Engine>(&mut self) {
        let program = self.program;
        let able = self.threads.iter().filter(|threads| **threads == 1 || E::PARALLEL);
        self.contenders.extend(able.map(|&threads| -> Timed<'_, P::Output> {
            let run = move || {
                let input = program.input();
                let engine = E::new(threads);
                warm_up(&engine);
                let start = Instant::now();
                let output = engine.run(|fork| program.forked(fork, input));
                (start.elapsed(), output)
            };
            (E::NAME, Box::new(run))
        }));
    }
}

/// Runs a program without forks, then on all engines; returns the times of the first, and of the others by name.
fn race<P: Program>(
    program: &P,
    title: &str,
    threads: &[usize],
    rounds: usize,
    engines: fn(&mut Field<'_, P>),
) -> (Duration, Vec<(&'static str, Vec<Duration>)>) {
    program.check(&program.serial(program.input()));
    let plain = move || {
        let input = program.input();
        let start = Instant::now();
        let output = program.serial(input);
        (start.elapsed(), output)
    };
    let mut field = Field { program, threads, contenders: vec![("plain", Box::new(plain))] };
    engines(&mut field);
    let medians = interleave_timed(title, rounds, &mut field.contenders);
    let (plain, forked) = medians.rows.split_first().expect("the plain program ran");
    let rows = forked.chunk_by(|(a, _), (b, _)| a == b);
    (plain.1, rows.map(|row| (row[0].0, row.iter().map(|(_, time)| *time).collect())).collect())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The table of a program that is to be sped up.
fn speedups<P: Program>(program: &P, rounds: usize) {
    let threads = thread_counts(|all| [1, all]);
    let most = threads.iter().max().expect("there is one");
    let (plain, rows) = race(program, &program.name(), &threads, rounds, |field| each(field));
    println!("{}: TS {:.1} ms, medians of {rounds} interleaved rounds", program.name(), milliseconds(plain));
    let per_fork = if program.forks().is_some() { "  ns/fork" } else { "" };
    println!(
        "{:<15} {:>8} {:>8} {:>8}{per_fork}",
        "engine",
        "T1/TS",
        format!("T{most}/TS"),
        format!("T1/T{most}")
    );
    for (engine, times) in rows {
        let over_plain = |time: &Duration| time.as_secs_f64() / plain.as_secs_f64();
        if let [threads] = threads[..] {
            println!("{engine:<15} {:>8.2} on {threads} thread(s)", over_plain(&times[0]));
            continue;
        }
        let one = over_plain(&times[0]);
        let many = times.get(1).map(over_plain);
        let [many, gain] = [many, many.map(|many| one / many)]
            .map(|ratio| ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")));
        let per_fork = program.forks().map_or_else(String::new, |forks| {
            format!(" {:>8.2}", (times[0].as_secs_f64() - plain.as_secs_f64()) * 1e9 / forks as f64)
        });
        println!("{engine:<15} {one:>8.2} {many:>8} {gain:>8}{per_fork}");
    }
    println!();
}

/// T1/TS of fib(45) in the paper on lace.rs, from its tables of times.
const SAFETY: [(&str, f64); 6] = [
    ("C Lace", 2.02),
    ("lace.rs, unsafe", 2.97),
    ("lace.rs, safe + inlining", 3.58),
    ("lace.rs, safe", 11.28),
    ("Rayon", 17.31),
    ("lace.rs, Chase-Lev", 17.32),
];

/// The table of what safety costs: forms of a split deque, and the engines with a safe API, on one worker.
fn safety(program: &Fib, rounds: usize) {
    let title = format!("safety: {}", program.name());
    let (plain, rows) = race(program, &title, &[1], rounds, |field| {
        field.visit::<Serial>();
        forms(field);
        field.visit::<FurcateHandle>();
        field.visit::<Furcate>();
        field.visit::<Rayon>();
    });
    println!("{title}: TS {:.1} ms, medians of {rounds} interleaved rounds", milliseconds(plain));
    println!("{:<32} {:>8} {:>10} {:>8}", "engine", "T1/TS", "T1/unsafe", "ns/fork");
    let forks = program.forks().expect("fib knows its forks") as f64;
    let bare = rows.iter().find(|(engine, _)| *engine == "split-unsafe").expect("the form is run").1[0];
    for (engine, times) in rows {
        let [over_plain, over_bare] = [plain, bare].map(|base| times[0].as_secs_f64() / base.as_secs_f64());
        let per_fork = (times[0].as_secs_f64() - plain.as_secs_f64()) * 1e9 / forks;
        println!("{engine:<32} {over_plain:>8.2} {over_bare:>10.2} {per_fork:>8.2}");
    }
    for (engine, over_plain) in SAFETY {
        println!("{:<32} {over_plain:>8.2} {:>10.2}", format!("{engine} (paper)"), over_plain / SAFETY[1].1);
    }
    println!();
}

/// The table of a program that is to be scheduled well on two threads.
fn promptness(program: &Prompt, rounds: usize) {
    let (plain, rows) = race(program, &program.name(), &[2], rounds, |field| each(field));
    let best = program.best();
    println!(
        "{}: TS {:.1} ms, best {:.1} ms, medians of {rounds} interleaved rounds",
        program.name(),
        milliseconds(plain),
        milliseconds(best)
    );
    println!("{:<15} {:>8} {:>8}", "engine", "T2 (ms)", "T2/best");
    for (engine, times) in rows {
        let ratio = times[0].as_secs_f64() / best.as_secs_f64();
        println!("{engine:<15} {:>8.1} {ratio:>8.2}", milliseconds(times[0]));
    }
    println!();
}
