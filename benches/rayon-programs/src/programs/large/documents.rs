//! A typesetter, and an index of documents.

use crate::programs::against_one_thread;
use crate::random::Random;
use crate::{Case, Size};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use typst::diag::{FileError, FileResult};
use typst::foundations::{Bytes, Datetime, Duration};
use typst::syntax::{FileId, Source};
use typst::text::{Font, FontBook};
use typst::utils::LazyHash;
use typst::{Library, LibraryExt, World};
use typst_kit::fonts::FontStore;
use typst_layout::PagedDocument;

/// A document of one file.
struct Document {
    library: LazyHash<Library>,
    fonts: FontStore,
    source: Source,
}

impl World for Document {
    fn library(&self) -> &LazyHash<Library> {
        &self.library
    }

    fn book(&self) -> &LazyHash<FontBook> {
        self.fonts.book()
    }

    fn main(&self) -> FileId {
        self.source.id()
    }

    fn source(&self, _id: FileId) -> FileResult<Source> {
        Ok(self.source.clone())
    }

    fn file(&self, _id: FileId) -> FileResult<Bytes> {
        Err(FileError::Other(None))
    }

    fn font(&self, index: usize) -> Option<Font> {
        self.fonts.font(index)
    }

    fn today(&self, _offset: Option<Duration>) -> Option<Datetime> {
        None
    }
}

/// Sets a book. Its chapters are laid out beside each other.
pub(super) fn typst(size: Size) -> Case {
    let (chapters, paragraphs) = size.pick((24, 12), (4, 2));
    let mut random = Random(100);
    let mut text = String::from("#set page(numbering: \"1\")\n#set par(justify: true)\n#outline()\n");
    for chapter in 0..chapters {
        writeln!(text, "#pagebreak()\n= Chapter {chapter}\n").expect("a string takes all text");
        // Chapters are not equally long.
        for line in random.lines(paragraphs + chapter % 5) {
            writeln!(text, "{line}\n").expect("a string takes all text");
        }
        let cells: String = (0..60).map(|_| format!("[{}],", random.below(1000))).collect();
        writeln!(text, "#table(columns: 6, {cells})").expect("a string takes all text");
    }
    let mut fonts = FontStore::new();
    fonts.extend(typst_kit::fonts::embedded());
    let document =
        Document { library: LazyHash::new(Library::default()), fonts, source: Source::detached(text) };
    let case = against_one_thread(move || {
        let pages: PagedDocument = typst::compile(&document).output.expect("the document is valid");
        let mut hasher = DefaultHasher::new();
        pages.hash(&mut hasher);
        (pages.pages().len(), hasher.finish())
    });
    // Without the results that the compiler keeps.
    Case { ready: Box::new(|| typst::comemo::evict(0)), ..case }
}

/// Ranked searches for words in the segments of an index.
pub(super) fn tantivy(size: Size) -> Case {
    use tantivy::collector::{Count, TopDocs};
    use tantivy::merge_policy::NoMergePolicy;
    use tantivy::query::{EnableScoring, QueryParser};
    use tantivy::schema::{Schema, TEXT};
    use tantivy::{Executor, Index, IndexWriter, doc};
    let (count, queries, segments) = size.pick((40_000, 40, 12), (400, 4, 3));
    let mut random = Random(101);
    let lines = random.lines(count);
    let mut schema = Schema::builder();
    let body = schema.add_text_field("body", TEXT);
    let index = Index::create_in_ram(schema.build());
    let mut writer: IndexWriter =
        index.writer_with_num_threads(1, 50_000_000).expect("it takes more than the least memory");
    writer.set_merge_policy(Box::new(NoMergePolicy));
    for segment in lines.chunks(count.div_ceil(segments)) {
        for line in segment {
            writer.add_document(doc!(body => line.as_str())).expect("the field exists");
        }
        writer.commit().expect("the index is in memory");
    }
    let searcher = index.reader().expect("the index is in memory").searcher();
    let parser = QueryParser::for_index(&index, vec![body]);
    let queries: Vec<_> = (0..queries)
        .map(|_| {
            let line = &lines[random.below(count as u64) as usize];
            let words: Vec<&str> = line.split(' ').take(8).collect();
            parser.parse_query(&words.join(" ")).expect("words are a query")
        })
        .collect();
    let search = move |executor: &Executor| {
        let found = queries.iter().map(|query| {
            let wanted = (TopDocs::with_limit(10).order_by_score(), Count);
            let scoring = EnableScoring::enabled_from_searcher(&searcher);
            searcher.search_with_executor(query, &wanted, executor, scoring).expect("the index is in memory")
        });
        found.collect::<Vec<_>>()
    };
    let pool =
        Executor::multi_thread(rayon::current_num_threads(), "search-").expect("threads can be started");
    Case::of(search(&Executor::single_thread()), move || search(&pool))
}
