//! The choice of tables and rows.

/// The words after `--` on the command line. A table or row is chosen if its name contains one of the words; without
/// words, all are chosen.
#[derive(Debug)]
pub struct Choice {
    words: Vec<String>,
    found: bool,
}

impl Choice {
    /// Returns the words that this process was started with.
    #[must_use]
    pub fn from_args() -> Self {
        // `cargo bench` hands over flags of its own harness.
        let words = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
        Self { words, found: false }
    }

    /// Whether the table or row of this name is chosen.
    pub fn has(&mut self, name: &str) -> bool {
        let has = self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()));
        self.found |= has;
        has
    }

    /// As [`has`](Self::has), for names that have to begin with a word.
    pub fn has_beginning(&mut self, name: &str) -> bool {
        let has = self.words.is_empty() || self.words.iter().any(|word| name.starts_with(word.as_str()));
        self.found |= has;
        has
    }

    /// Checks at the end that something was chosen, so that a misspelt word is noticed.
    ///
    /// # Panics
    ///
    /// If nothing was chosen.
    pub fn finish(self) {
        assert!(self.found, "nothing has a name with any of {:?} in it", self.words);
    }
}

/// Returns the number of threads that `THREADS` in the environment asks for.
///
/// # Panics
///
/// If it is no number.
#[must_use]
pub fn threads() -> Option<usize> {
    std::env::var("THREADS").ok().map(|text| text.parse().expect("THREADS is a number"))
}

/// Returns the numbers of threads to measure with: the one that `THREADS` asks for, or else those for the number of processors (2 at least).
pub fn thread_counts(for_processors: impl FnOnce(usize) -> [usize; 2]) -> Vec<usize> {
    threads().map_or_else(|| for_processors(processors().max(2)).to_vec(), |threads| vec![threads])
}

/// Returns the number of processors that this process may use.
#[must_use]
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Whether `PAPER` is set in the environment. If so, sizes are the papers', and tables take minutes.
#[must_use]
pub fn paper() -> bool {
    std::env::var_os("PAPER").is_some()
}

/// Whether `QUICK` is set in the environment. If so, sizes are just large enough to show that everything runs, and that
/// results agree.
#[must_use]
pub fn quick() -> bool {
    std::env::var_os("QUICK").is_some()
}
