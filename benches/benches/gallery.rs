//! The programs of `furcate-gallery`: each as a loop, on rayon and on furcate, in processes of their own.
//!
//! `cargo bench -p furcate-benches --bench gallery`; words after `--` choose programs by parts of their names. `ROUNDS=n` more or fewer rounds,
//! `THREADS=n` other pools, `QUICK=1` small sizes.

use furcate_benches::{Choice, processors, quick, record, rounds, threads};
use furcate_gallery::measure::{self, Settings, measure};
use furcate_gallery::programs::PROGRAMS;
use furcate_gallery::{Column, table};

fn main() -> Result<(), String> {
    if let Some(result) = measure::child() {
        return result;
    }
    let quick = quick();
    let threads = threads().unwrap_or_else(processors);
    let rounds = rounds(if quick { 1 } else { 7 });
    let settings = Settings { threads, size: None, quick, rounds, inside: false };
    print!("{}", table::head(&settings));
    let mut choice = Choice::from_args();
    for program in PROGRAMS.iter().filter(|program| choice.has(program.name)) {
        let measured = measure(program, &settings)?;
        print!("{}", table::row(&measured));
        let name = |column: Column| if column == Column::Sequential { "serial" } else { column.name() };
        let rows = Column::ALL.map(|column| (name(column), measured.times[column as usize].clone()));
        record::record(program.name, rows);
    }
    choice.finish();
    Ok(())
}
