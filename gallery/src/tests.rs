use crate::programs::PROGRAMS;
use crate::{Column, Program};

/// Each column of each program gives the right answer, for a short input and for the least ones.
#[test]
fn all_columns_agree() {
    let wrong = |program: &Program, size: usize| {
        let mut case = (program.case)(size);
        Column::ALL.into_iter().find_map(|column| {
            case.run(column);
            let error = case.check().err()?;
            Some(format!("{} by {}, size {size}: {error}", program.name, column.name()))
        })
    };
    let errors: Vec<String> = PROGRAMS.iter().filter_map(|program| wrong(program, program.quick)).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}
