//! Libraries that read folders.

use super::against_one_thread;
use crate::random::Random;
use crate::{Case, Size};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder for the time of a process.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rayon-programs-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder can be made");
        Folder(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The system cleans its temporary files, too.
        _ = fs::remove_dir_all(&self.0);
    }
}

/// Lists a tree of folders.
pub(super) fn jwalk(size: Size) -> Case {
    use jwalk::{Parallelism, WalkDir};
    let (folders, files) = size.pick((30, 12), (4, 3));
    let root = Folder::new("jwalk");
    for outer in 0..folders {
        for inner in 0..folders {
            let folder = root.path().join(format!("{outer}/{inner}"));
            fs::create_dir_all(&folder).expect("a folder can be made");
            for file in 0..files {
                fs::write(folder.join(format!("{file}.txt")), "").expect("a file can be written");
            }
        }
    }
    let list = |walk: WalkDir| -> Vec<PathBuf> {
        walk.sort(true).into_iter().map(|entry| entry.expect("all can be read").path()).collect()
    };
    let expected = list(WalkDir::new(root.path()).parallelism(Parallelism::Serial));
    Case::of(expected, move || list(WalkDir::new(root.path())))
}

/// Counts lines of code. The library lists files with threads of its own, and counts on rayon's pool.
pub(super) fn tokei(size: Size) -> Case {
    use tokei::{Config, Languages};
    let (files, lines) = size.pick((300, 1500), (12, 40));
    let mut random = Random(70);
    let root = Folder::new("tokei");
    for file in 0..files {
        let (ending, comment) = [("rs", "//"), ("c", "//"), ("py", "#"), ("sh", "#")][file % 4];
        let mut text = String::new();
        for line in 0..lines {
            let written = match random.below(8) {
                0 => writeln!(text),
                1 => writeln!(text, "{comment} Comment {line}."),
                2 => writeln!(text, "call(\"text {comment}\", {line}); {comment} why"),
                _ => writeln!(text, "    value_{line} = other({}) + {line};", random.below(1000)),
            };
            written.expect("a string takes all text");
        }
        fs::write(root.path().join(format!("{file}.{ending}")), text).expect("a file can be written");
    }
    against_one_thread(move || {
        let config = Config { no_ignore: Some(true), ..Config::default() };
        let mut languages = Languages::new();
        languages.get_statistics(&[root.path()], &[], &config);
        let counts = languages
            .into_iter()
            .map(|(kind, language)| (kind.name(), language.blanks, language.code, language.comments));
        counts.collect::<Vec<_>>()
    })
}
