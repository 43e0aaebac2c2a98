use crate::programs::PROGRAMS;
use crate::table::quartiles;
use crate::{Column, Program};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Each program has a name of its own, which is that of its file, and three columns. (`run all --quick` checks their results.)
#[test]
fn programs_have_names_and_columns() {
    let names: HashSet<_> = PROGRAMS.iter().map(|program| program.name).collect();
    assert_eq!(names.len(), PROGRAMS.len());
    for program in PROGRAMS {
        assert!(program.source.contains(&format!("name: \"{}\"", program.name)), "{}", program.name);
        assert!(Column::ALL.iter().all(|&column| program.lines(column) > 1), "{}", program.name);
    }
}

/// Columns that differ by more than the library's name say so: by a schedule.
#[test]
fn a_schedule_stands_in_the_third_column() {
    for program in PROGRAMS {
        let [_, rayon, furcate] = Column::ALL.map(|column| program.code(column));
        assert!(furcate.contains(program.schedule), "{}", program.name);
        // `find_first` has furcate's default search beside rayon's best words.
        if program.schedule.is_empty() && program.name != "find_first" {
            assert_eq!(rayon.replace("rayon", "furcate"), furcate, "{}", program.name);
        }
    }
}

/// Each checker notices a wrong answer: the one for another size. (It may also panic.)
#[test]
fn checkers_refuse_the_answer_for_another_size() {
    for program in PROGRAMS {
        // NAS' sizes are numbers of classes, from 0 on.
        let sizes = if program.quick == 0 { [0, 1] } else { [program.quick, program.quick / 4] };
        let [mut case, other] = sizes.map(program.case);
        case.run(Column::Sequential);
        let output = case.output().expect("it has run");
        let checked = catch_unwind(AssertUnwindSafe(|| other.check_other(output)));
        assert!(!matches!(checked, Ok(Ok(()))), "{} takes the answer for another size", program.name);
    }
}

/// The output that is checked is that of the last run.
#[test]
fn a_wrong_answer_is_an_error() {
    fn wrong(input: &Vec<u32>) -> Vec<u32> {
        input.iter().map(|x| x + 1).collect()
    }
    let mut case = crate::program::reads(vec![1, 2], [wrong, wrong, Vec::clone], |input, output| {
        crate::program::equal(output, input)
    });
    assert_eq!(case.check(), Err("nothing has run".into()));
    case.run(Column::Rayon);
    assert_eq!(case.check(), Err("[2, 3] instead of [1, 2]".into()));
    case.run(Column::Furcate);
    assert_eq!(case.check(), Ok(()));
}

#[test]
fn a_column_is_a_module_without_its_indentation() {
    let source = "x\nmod sequential {\n    // a\n    fn run() {\n        b();\n    }\n}\ny\n";
    let program = Program { source, ..PROGRAMS[0] };
    assert_eq!(program.code(Column::Sequential), "// a\nfn run() {\n    b();\n}\n");
    assert_eq!(program.lines(Column::Sequential), 3);
}

#[test]
fn quartiles_are_values() {
    assert_eq!(quartiles(&[1.0, 2.0, 3.0, 4.0, 5.0]), [2.0, 3.0, 4.0]);
    assert_eq!(quartiles(&[1.0, 2.0]), [1.0, 1.5, 2.0]);
}
