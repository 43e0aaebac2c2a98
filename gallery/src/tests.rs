use crate::programs::PROGRAMS;
use crate::table::quartiles;
use crate::{Column, Program};
use std::collections::HashSet;

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

/// A checker notices a wrong answer: the histogram of another input.
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
