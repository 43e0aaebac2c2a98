//! Tables of `many_cores` are read, and errors name the line.

use super::{OVERVIEW, charts, draw, read};

const HEADER: &str = "program,workers,cores,T1 us,TP us,best us,T1/TP,efficiency,begun,all begun us,steals,failed,\
    parks,wake-ups,heavy,interr.,/s/core,lines us,locks us";

fn line(program: &str, workers: u32, efficiency: &str) -> String {
    format!(
        "\"{program}\",{workers},{workers},100.0,50.0,50.0,2.00,{efficiency},2,9.1,1,2,3,4,5,6,7,10.0,5.0"
    )
}

fn table(lines: &[String]) -> String {
    format!("{HEADER}\n{}\n", lines.join("\n"))
}

#[test]
fn rows_are_read_with_commas_in_names() {
    let rows = read(&table(&[line("tree, leaves of 10 us", 2, "0.961"), line("server", 64, "0.5")])).unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (&*rows[0].program, rows[0].workers, rows[0].efficiency),
        ("tree, leaves of 10 us", 2.0, 0.961)
    );
    assert_eq!((rows[0].lines, rows[0].locks), (0.1, 0.05));
}

#[test]
fn tables_may_follow_each_other() {
    let tables = [table(&[line("server", 1, "1.0")]), table(&[line("server", 2, "0.9")])].concat();
    assert_eq!(read(&tables).unwrap().len(), 2);
}

#[test]
fn errors_name_the_line() {
    let good = line("server", 1, "1.0");
    let with = |bad: &str| read(&table(&[good.clone(), bad.to_owned()])).unwrap_err();
    let few = line("server", 2, "1.0").replace(",10.0,5.0", "");
    let real = line("server", 2, "1.0").replace(",2,9.1,", ",-,-,");
    for (bad, error) in [
        (&*line("server", 2, "fast"), "line 3: `efficiency` is `fast`, but must be a number of 0 or more"),
        (&line("server", 2, "NaN"), "line 3: `efficiency` is `NaN`, but must be a number of 0 or more"),
        (&line("server", 0, "1.0"), "line 3: `workers` must not be 0"),
        (&few, "line 3: 17 values, but 19 columns"),
        (&line("server", 1, "0.9"), "line 3: `server` with 1 workers is in line 2, too"),
        ("simulated", "line 3: the row does not begin with a program's name in quotes"),
    ] {
        assert_eq!(with(bad), error);
    }
    assert!(with(&real).starts_with("line 3: the row is of a real run"));
    assert!(read("a,b\n").unwrap_err().starts_with("line 1: no column is called `program`"));
    assert_eq!(read("").unwrap_err(), "the table is empty");
    assert_eq!(read(HEADER).unwrap_err(), "the table has no rows");
}

#[test]
fn every_title_says_that_the_values_are_simulated() {
    let programs = OVERVIEW.into_iter().chain(["100,000 timers"]);
    let lines = programs.flat_map(|name| [1, 256].map(|workers| line(name, workers, "0.9")));
    let charts = charts(&read(&table(&lines.collect::<Vec<_>>())).unwrap());
    let names: Vec<_> = charts.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names[..2], ["simulated-efficiency", "simulated-tree-leaves-of-10-us"]);
    assert_eq!((names.len(), names[7]), (8, "simulated-100-000-timers"));
    for (name, plot) in &charts {
        assert_eq!(plot.svg().matches(">simulated: ").count(), 1, "{name}");
    }
    assert!(OVERVIEW.iter().all(|name| charts[0].1.svg().contains(&format!(">{name}</text>"))));
}

#[test]
fn an_overview_without_programs_is_an_error() {
    let folder = std::env::temp_dir().join(format!("furcate-many-cores-{}", std::process::id()));
    let table = table(&[line("search, no hit", 2, "0.9")]);
    let error = draw(&table, &folder, true).unwrap_err();
    assert!(error.starts_with("the table has none of the overview's programs: tree"), "{error}");
    draw(&table, &folder, false).unwrap();
    let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(files, ["simulated-search-no-hit.svg"]);
    std::fs::remove_dir_all(&folder).unwrap();
}
