//! Libraries of text.

use super::against_one_thread;
use crate::random::Random;
use crate::{Case, Size};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tokenizers::Tokenizer;
use tokenizers::models::TrainerWrapper;
use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::whitespace::WhitespaceSplit;

/// A tokenizer that has learned pairs of letters from the lines.
fn trained(lines: &[String]) -> Tokenizer {
    let trainer = BpeTrainer::builder().show_progress(false).vocab_size(600).min_frequency(2).build();
    let mut trainer = TrainerWrapper::from(trainer);
    let mut tokenizer = Tokenizer::new(BPE::default());
    tokenizer.with_pre_tokenizer(Some(WhitespaceSplit));
    tokenizer.train(&mut trainer, lines.iter()).expect("there are lines to learn from");
    tokenizer
}

pub(super) fn train(size: Size) -> Case {
    let lines = Random(50).lines(size.pick(6000, 60));
    against_one_thread(move || trained(&lines).get_vocab(false))
}

pub(super) fn encode(size: Size) -> Case {
    let lines = Random(51).lines(size.pick(6000, 60));
    let tokenizer = trained(&lines[..lines.len() / 10]);
    against_one_thread(move || {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        tokenizer.encode_batch(lines, false).expect("all letters are known")
    })
}

/// Style sheets by their names.
struct Sheets(HashMap<PathBuf, String>);

impl lightningcss::bundler::SourceProvider for Sheets {
    type Error = std::io::Error;

    fn read<'a>(&'a self, file: &Path) -> Result<&'a str, Self::Error> {
        self.0.get(file).map(String::as_str).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    fn resolve(
        &self,
        specifier: &str,
        _originating_file: &Path,
    ) -> Result<lightningcss::bundler::ResolveResult, Self::Error> {
        Ok(PathBuf::from(specifier).into())
    }
}

/// Combines style sheets that import each other. The library parses one at a time, and other workers wait for its lock.
pub(super) fn lightningcss(size: Size) -> Case {
    use lightningcss::bundler::Bundler;
    use lightningcss::stylesheet::{ParserOptions, PrinterOptions};
    let (count, rules) = size.pick((60, 300), (6, 10));
    let mut random = Random(52);
    let mut sheets = HashMap::new();
    for sheet in 0..count {
        let mut text = String::new();
        // Each sheet imports four others, as the nodes of a tree.
        for import in (4 * sheet + 1..=4 * sheet + 4).filter(|import| *import < count) {
            writeln!(text, "@import \"{import}.css\";").expect("a string takes all text");
        }
        for rule in 0..rules {
            let (color, width, turn) = (random.below(1 << 24), random.below(100), random.below(360));
            writeln!(
                text,
                ".s{sheet} > .r{rule}:hover, #r{rule} a[href] {{ color: #{color:06x}; margin: 0 {width}px calc(1em + \
                 {width}px); transform: rotate({turn}deg); background: linear-gradient({turn}deg, red, #{color:06x}) }}"
            )
            .expect("a string takes all text");
        }
        sheets.insert(PathBuf::from(format!("{sheet}.css")), text);
    }
    let sheets = Sheets(sheets);
    against_one_thread(move || {
        let mut bundler = Bundler::new(&sheets, None, ParserOptions::default());
        let sheet = bundler.bundle(Path::new("0.css")).expect("the sheets are valid");
        let printed = sheet.to_css(PrinterOptions::default()).expect("the sheet can be printed");
        printed.code
    })
}
