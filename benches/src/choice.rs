//! Which tables and rows are wanted.

/// The words after `--` on the command line: what has a name that contains one of them is chosen, without words all is.
#[derive(Debug)]
pub struct Choice {
    words: Vec<String>,
    found: bool,
}

impl Choice {
    /// The words that this process was started with.
    #[must_use]
    pub fn from_args() -> Self {
        // `cargo bench` hands over flags of its own harness.
        let words = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
        Self { words, found: false }
    }

    /// Is it chosen?
    pub fn has(&mut self, name: &str) -> bool {
        let has = self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()));
        self.found |= has;
        has
    }

    /// To be called in the end: a misspelt word is not to pass for a run.
    ///
    /// # Panics
    ///
    /// If nothing was chosen.
    pub fn finish(self) {
        assert!(self.found, "nothing has a name with any of {:?} in it", self.words);
    }
}

/// Is `QUICK` set in the environment? Then sizes only show that everything runs, and that results agree.
#[must_use]
pub fn quick() -> bool {
    std::env::var_os("QUICK").is_some()
}
