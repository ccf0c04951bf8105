//! The index as a whole, against the one in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, io, thread};

use bytemuck::Zeroable as _;
use proptest::prelude::*;
use tempfile::TempDir;

use super::folder::{Folder, META};
use super::{TextIndex, TextView, TextWriter};
use crate::bm25::Texts;
use crate::disk_index::filter::Filter;
use crate::disk_index::passage::Passage;
use crate::text::{Mode, Term, for_each_token};
use crate::{Error, Scored};

/// An index on disk and the same texts in memory, under the same numbers.
struct Pair {
    folder: TempDir,
    index: TextIndex,
    writer: Option<TextWriter>,
    reference: Texts,
    passages: Vec<Passage>,
    keys: Vec<u64>,
    is_gone: Vec<bool>,
}

impl Pair {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let index = TextIndex::create(&folder.path().join("texts")).expect("created");
        let writer = Some(index.writer().expect("a writer"));
        Self {
            folder,
            index,
            writer,
            reference: Texts::new(Mode::Memctx),
            passages: Vec::new(),
            keys: Vec::new(),
            is_gone: Vec::new(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("texts")
    }

    fn writer(&mut self) -> &mut TextWriter {
        self.writer.as_mut().expect("not finished")
    }

    fn add(&mut self, key: u64, text: &str) {
        self.add_passage(key, Passage::zeroed(), text);
    }

    fn add_passage(&mut self, key: u64, passage: Passage, text: &str) {
        let row = self.reference.push(text).expect("room");
        self.writer().add(row, passage.session, text).expect("added");
        self.passages.push(passage);
        self.keys.push(key);
        self.is_gone.push(false);
    }

    fn remove(&mut self, key: u64) {
        let is_own = |row: &usize| self.keys[*row] == key && !self.is_gone[*row];
        let rows: Vec<usize> = (0..self.passages.len()).filter(is_own).collect();
        self.writer().remove(rows.iter().map(|&row| row as u32).collect()).expect("removed");
        for row in rows {
            self.reference.remove(row as u32);
            self.is_gone[row] = true;
        }
    }

    fn commit(&mut self) -> Arc<TextView> {
        let payload = format!("{} rows", self.passages.len());
        self.writer().commit(&payload).expect("committed");
        let view = self.index.view().expect("a view");
        assert_eq!(view.payload(), payload);
        view
    }

    fn finish(&mut self) -> Arc<TextView> {
        self.writer.take().expect("not finished").finish().expect("finished");
        self.index.view().expect("a view")
    }

    /// Check that the view answers as the reference implementation does, but for the rounding of scores to f32.
    fn check(&self, view: &TextView, query: &str, k: usize, filter: &Filter) {
        let admit = |row: u32| !self.is_gone[row as usize] && filter.admits(row, &self.passages[row as usize]);
        let expected = self.reference.search(query, k, admit);
        let found = view
            .best(&words(query), k, filter.session, &|row| filter.admits(row, &self.passages[row as usize]))
            .expect("an answer");
        assert_eq!(found.len(), expected.len(), "{query:?} {filter:?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!(admit(found.number), "{query:?} {filter:?}: {found:?}");
            let own = self.reference.explain(query, found.number).value;
            assert!(is_near(found.score, own), "{query:?}: {found:?} should score {own}");
            assert!(is_near(found.score, expected.score), "{query:?} {filter:?}: {found:?} for {expected:?}");
        }
    }

    fn check_statistics(&self, view: &TextView, tokens: &[&str]) {
        let (own, expected) = (view.statistics(), self.reference.statistics());
        assert_eq!(own, expected);
        for token in tokens {
            assert_eq!(view.count(token), self.reference.count(Term::new(token)), "{token}");
        }
    }
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * b.abs().max(1e-3)
}

/// Return the words of a query, weighed by how often they are in it.
fn words(query: &str) -> Vec<(String, f64)> {
    let mut counts = BTreeMap::new();
    for_each_token(query, Mode::Memctx, |token| *counts.entry(token.to_owned()).or_insert(0.0) += 1.0);
    counts.into_iter().collect()
}

/// Return the best of all passages.
fn best(view: &TextView, words: &[(String, f64)], k: usize) -> Result<Vec<Scored>, Error> {
    view.best(words, k, None, &|_| true)
}

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// Return a text of few and of many words that are common and rare.
    fn text(&mut self, most: u64) -> String {
        let count = 1 + self.roll(most);
        let words = (0..count).map(|_| {
            let rarity = 1 + self.roll(9);
            format!("w{}", self.roll(1 << rarity))
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn answers_as_the_index_in_memory(
        batches in prop::collection::vec(
            prop::collection::vec(("(deploy|port|飞书|payHook|x){1,2}( (deploy|Port|alpha|beta|x|一二)){0,12}", 0..9_u64), 0..12),
            1..5,
        ),
        removed in prop::collection::vec(0..9_u64, 0..5),
        query in "(deploy|port|飞书|二|x)( (payHook|alpha|alpha|gamma|x)){0,6}",
        k in 0..12_usize,
    ) {
        let mut pair = Pair::new();
        for (batch, at) in batches.iter().zip(0..) {
            for (text, key) in batch {
                pair.add(*key, text);
            }
            if let Some(&key) = removed.get(at) {
                pair.remove(key);
            }
            // What is added behind a removal stays.
            pair.add(removed.first().copied().unwrap_or(0), "port of alpha");
            let view = pair.commit();
            pair.check(&view, &query, k, &Filter::default());
            pair.check_statistics(&view, &["deploy", "port", "飞书", "payhook", "none"]);
        }
        let view = pair.finish();
        pair.check(&view, &query, k, &Filter::default());
        pair.check_statistics(&view, &["deploy", "port", "飞书", "payhook", "none"]);
    }
}

fn filters() -> Vec<Filter> {
    let make = |change: fn(&mut Filter)| {
        let mut filter = Filter::default();
        change(&mut filter);
        filter
    };
    vec![
        Filter::default(),
        make(|filter| filter.session = Some(1)),
        make(|filter| filter.session = Some(77)),
        make(|filter| filter.session = Some(u32::MAX)),
        make(|filter| filter.roles = Some(vec![2, u32::MAX])),
        make(|filter| filter.roles = Some(Vec::new())),
        make(|filter| filter.topics = Some(0b1001)),
        make(|filter| filter.since = Some(2_000_500.0)),
        make(|filter| filter.until = Some(100_000.0)),
        make(|filter| (filter.since, filter.until) = (Some(500_000.0), Some(700_000.0))),
        make(|filter| filter.since = Some(1e12)),
        make(|filter| (filter.session, filter.roles, filter.topics) = (Some(1), Some(vec![1]), Some(0b10))),
        make(|filter| (filter.session, filter.since) = (Some(77), Some(1_000_000.0))),
        make(|filter| filter.hide((0..u32::MAX).step_by(3).take(2_000))),
    ]
}

#[test]
fn long_lists_are_skipped_through_without_a_loss() {
    let mut pair = Pair::new();
    let mut dice = Dice(5);
    for row in 0..3_000_u32 {
        let session = if dice.roll(3) > 0 { 1 } else { 70 + dice.roll(30) as u32 };
        let passage = Passage {
            session,
            seconds: row,
            marks: 1 << dice.roll(8) | (dice.roll(4) as u32) << 24,
            ..Passage::zeroed()
        };
        let text = dice.text(40);
        pair.add_passage(u64::from(row / 2), passage, &text);
        if dice.roll(50) == 0 {
            pair.remove(dice.roll(u64::from(row)));
        }
        if row % 900 == 899 {
            pair.commit();
        }
    }
    let view = pair.commit();
    for query in ["w0", "w1 w7", "w3 w3 w40 w200 w201", "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 w10", "none", ""] {
        for filter in filters() {
            for k in [1, 10, 5_000] {
                pair.check(&view, query, k, &filter);
            }
        }
    }
    pair.check_statistics(&view, &["w0", "w1", "w200", "none"]);
}

#[test]
fn long_texts_score_nearly_as_exactly() {
    let mut pair = Pair::new();
    let mut dice = Dice(9);
    for row in 0..300 {
        let text = dice.text(900);
        pair.add(row, &text);
    }
    let view = pair.commit();
    for found in best(&view, &words("w5 w300"), 300).expect("an answer") {
        let exact = pair.reference.explain("w5 w300", found.number).value;
        assert!((found.score / exact - 1.0).abs() < 0.1, "{found:?} for {exact}");
    }
}

#[test]
fn weights_count_and_equals_come_in_the_order_of_their_rows() {
    let mut pair = Pair::new();
    for row in 0..40 {
        pair.add(row, if row % 2 == 0 { "red fox" } else { "blue fox" });
        if row % 8 == 7 {
            pair.commit();
        }
    }
    let view = pair.finish();
    let ask = |words: &[(&str, f64)], k| {
        let words: Vec<(String, f64)> = words.iter().map(|(word, weight)| ((*word).to_owned(), *weight)).collect();
        best(&view, &words, k).expect("an answer")
    };
    let rows = |hits: &[Scored]| hits.iter().map(|hit| hit.number).collect::<Vec<_>>();
    assert_eq!(rows(&ask(&[("fox", 1.0)], 5)), [0, 1, 2, 3, 4]);
    assert_eq!(rows(&ask(&[("blue", 0.5), ("red", 0.4)], 3)), [1, 3, 5]);
    let (whole, half) = (ask(&[("red", 1.0)], 1)[0].score, ask(&[("red", 0.5)], 1)[0].score);
    assert!(is_near(whole, half * 2.0) && whole > 0.0);
    assert_eq!(ask(&[("red", 0.0), ("blue", f64::NAN)], 3), []);
    assert_eq!(ask(&[], 3), []);
}

#[test]
fn a_view_stays_and_others_see_the_next() {
    let mut pair = Pair::new();
    let reader = TextIndex::open(&pair.path()).expect("opened");
    let empty = reader.view().expect("a view");
    assert_eq!((empty.payload(), empty.statistics().documents), ("", 0));
    assert_eq!(best(&empty, &words("fox"), 3).expect("an answer"), []);
    let mut views = Vec::new();
    for row in 0..30 {
        pair.add(row, "a fox");
        pair.commit();
        let view = reader.view().expect("a view");
        assert!(Arc::ptr_eq(&view, &reader.view().expect("a view")) || row > 7, "nothing changed");
        views.push(view);
    }
    pair.remove(0);
    pair.commit();
    pair.finish();
    assert_eq!(reader.view().expect("a view").count("fox"), 29);
    for (view, count) in views.iter().zip(1..) {
        assert_eq!(view.payload(), format!("{count} rows"));
        assert_eq!(view.count("fox"), count);
        assert_eq!(best(view, &words("fox"), 99).expect("an answer").len(), count);
    }
}

#[test]
fn readers_never_see_half_a_commit() {
    let pair = Pair::new();
    let reader = TextIndex::open(&pair.path()).expect("opened");
    let Pair { folder, index, writer, .. } = pair;
    let mut writer = writer.expect("a writer");
    let writing = thread::spawn(move || {
        for row in 0..120_u32 {
            writer.add(row, 0, "a fox").expect("added");
            writer.commit(&(row + 1).to_string()).expect("committed");
        }
        writer.finish().expect("finished");
    });
    let mut is_over = false;
    while !is_over {
        is_over = writing.is_finished();
        for index in [&reader, &index] {
            let view = index.view().expect("a view");
            let seen = view.payload().parse().unwrap_or(0);
            assert!(!is_over || seen == 120, "{seen}");
            assert_eq!(view.count("fox"), seen);
            assert_eq!(best(&view, &words("fox"), 200).expect("an answer").len(), seen);
        }
    }
    writing.join().expect("written");
    drop(folder);
}

#[test]
fn there_is_one_writer() {
    let mut pair = Pair::new();
    let other = TextIndex::open(&pair.path()).expect("opened");
    assert!(matches!(other.writer().err(), Some(Error::Locked { .. })));
    pair.finish();
    other.writer().expect("the lock is free");
}

#[test]
fn a_foreign_index_is_refused() {
    let scratch = tempfile::tempdir().expect("a folder");
    let path = scratch.path().join("texts");
    assert!(matches!(TextIndex::open(&path).err(), Some(Error::Io { .. })), "there is none");
    TextIndex::create(&path).expect("created");
    assert!(matches!(TextIndex::create(&path).err(), Some(Error::Io { .. })), "there is one");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).expect("made").permissions().mode() & 0o777, 0o700);
    }
    let other = scratch.path().join("other");
    fs::create_dir(&other).expect("made");
    let mut schema = tantivy::schema::Schema::builder();
    schema.add_text_field("text", tantivy::schema::TEXT);
    tantivy::Index::builder()
        .schema(schema.build())
        .open_or_create(Folder::open(&other).expect("opened"))
        .expect("created");
    assert!(matches!(TextIndex::open(&other).err(), Some(Error::Refused { .. })), "it has other fields");
}

/// Copy a folder in which a thread may be writing: if a file goes meanwhile, start over.
fn copy(from: &Path, to: &Path) {
    let copied = || -> io::Result<()> {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
        Ok(())
    };
    while let Err(fault) = copied() {
        assert_eq!(fault.kind(), io::ErrorKind::NotFound, "{fault}");
        fs::remove_dir_all(to).expect("removed");
    }
}

/// Return an index of two parts, from one of which something was removed.
fn small() -> Pair {
    let mut pair = Pair::new();
    for row in 0..40 {
        pair.add(row, &format!("fox {row} jumps"));
        if row % 20 == 19 {
            pair.commit();
        }
    }
    pair.remove(3);
    pair.commit();
    pair.finish();
    pair
}

/// Return the answers to all queries of a small index.
fn answers(index: &TextIndex) -> Option<(String, usize, u64, Vec<Scored>)> {
    let view = index.view().ok()?;
    let length = view.statistics().average_length.to_bits();
    let mut hits = best(&view, &words("fox jumps 7 39"), 99).ok()?;
    hits.extend(view.best(&words("12 13"), 99, Some(0), &|row| row != 12).ok()?);
    Some((view.payload().to_owned(), view.count("fox"), length, hits))
}

#[test]
fn damage_is_found_or_does_not_matter() {
    let pair = small();
    let whole = answers(&pair.index).expect("an answer");
    let scratch = tempfile::tempdir().expect("a folder");
    let path = scratch.path().join("copy");
    copy(&pair.path(), &path);
    let mut refused = 0;
    let mut files = 0;
    for entry in fs::read_dir(pair.path()).expect("listed") {
        let name = entry.expect("an entry").file_name();
        let bytes = fs::read(pair.path().join(&name)).expect("read");
        files += usize::from(!bytes.is_empty());
        let mut try_with = |damaged: Option<&[u8]>, what: &str| {
            match damaged {
                Some(damaged) => fs::write(path.join(&name), damaged).expect("written"),
                None => fs::remove_file(path.join(&name)).expect("removed"),
            }
            match TextIndex::open(&path).ok().map(|index| answers(&index)) {
                Some(Some(found)) => assert_eq!(found, whole, "{name:?} {what}"),
                Some(None) => panic!("{name:?} {what}: opened, but there is no answer"),
                None => refused += 1,
            }
        };
        let mut dice = Dice(bytes.len() as u64);
        for _ in 0..30.min(bytes.len()) {
            let mut damaged = bytes.clone();
            let at = dice.roll(bytes.len() as u64) as usize;
            damaged[at] ^= 1 << dice.roll(8);
            try_with(Some(&damaged), &format!("with a flip at {at}"));
        }
        for kept in [0, bytes.len() / 2, bytes.len().saturating_sub(1)] {
            try_with(Some(&bytes[..kept]), &format!("cut to {kept}"));
        }
        try_with(None, "removed");
        fs::write(path.join(&name), &bytes).expect("written");
    }
    assert!(files >= 12 && refused > files * 25, "{refused} of {files} files");
    assert_eq!(answers(&TextIndex::open(&path).expect("whole again")), Some(whole));
}

#[test]
fn damage_that_comes_later_is_a_fault_and_not_a_panic() {
    let mut pair = small();
    let before = answers(&pair.index).expect("an answer");
    let mut writer = pair.index.writer().expect("a writer");
    writer.add(40, 0, "a late fox").expect("added");
    writer.commit("late").expect("committed");
    writer.finish().expect("finished");
    fs::write(pair.path().join(META), "{}").expect("written");
    assert!(matches!(pair.index.view().err(), Some(Error::Corrupt { .. })));
    fs::remove_file(pair.path().join(META)).expect("removed");
    assert!(matches!(pair.index.view().err(), Some(Error::Io { .. })));
    assert_eq!(before.1, 39);
    pair.writer = None;
}

#[test]
fn postings_that_are_cut_short_while_they_are_open_are_a_fault() {
    let pair = small();
    let view = pair.index.view().expect("a view");
    let fox = || best(&view, &words("fox jumps"), 5);
    assert_eq!(fox().expect("found").len(), 5);
    pair.index.check().expect("whole");
    for entry in fs::read_dir(pair.path()).expect("listed") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "idx") {
            fs::OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(8)).expect("cut");
        }
    }
    assert!(fox().is_err_and(|fault| fault.is_damage()));
    assert!(pair.index.check().is_err_and(|fault| fault.is_damage()));
}

#[test]
fn merged_parts_leave_no_files() {
    let mut pair = Pair::new();
    for row in 0..40 {
        pair.add(row, "a fox");
        if row % 8 == 7 {
            pair.commit();
        }
    }
    pair.writer().merge().expect("merged");
    let files = fs::read_dir(pair.path()).expect("listed").map(|entry| entry.expect("an entry").path());
    let postings = files.filter(|path| path.extension().is_some_and(|extension| extension == "idx"));
    assert_eq!(postings.count(), pair.index.view().expect("a view").shards.len());
}

#[test]
fn only_uncommitted_texts_are_lost() {
    let mut pair = small();
    let before = answers(&pair.index);
    let mut writer = pair.index.writer().expect("a writer");
    for row in 40..60 {
        writer.add(row, 0, "fox jumps").expect("added");
    }
    writer.remove([7].into_iter().collect()).expect("removed");
    let scratch = tempfile::tempdir().expect("a folder");
    let path = scratch.path().join("copy");
    copy(&pair.path(), &path);
    drop(writer);
    for index in [TextIndex::open(&path).expect("opened"), TextIndex::open(&pair.path()).expect("opened")] {
        assert_eq!(answers(&index), before);
        let mut writer = index.writer().expect("a writer");
        writer.add(40, 0, "fox jumps again").expect("added");
        writer.commit("again").expect("committed");
        assert_eq!(index.view().expect("a view").count("again"), 1);
    }
    pair.writer = None;
}

const VICTIM: &str = "MEMCTX_TEXTS_VICTIM";

#[test]
fn a_killed_writer_leaves_its_last_commit() {
    if let Some(folder) = env::var_os(VICTIM) {
        write_until_killed(Path::new(&folder));
    }
    let scratch = tempfile::tempdir().expect("a folder");
    let path = scratch.path().join("texts");
    drop(TextIndex::create(&path).expect("created"));
    let mut last = 0;
    for round in 0..6 {
        let name = "disk_index::texts::tests::a_killed_writer_leaves_its_last_commit";
        let mut victim = Command::new(env::current_exe().expect("a path"))
            .args(["--exact", name, "--nocapture"])
            .env(VICTIM, &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("started");
        let index = TextIndex::open(&path).expect("opened");
        // Not before it has written something, and at another moment each time.
        while index.view().expect("a view").statistics().documents == last {
            assert!(victim.try_wait().expect("asked").is_none(), "it lives until it is killed");
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(17 * round));
        victim.kill().expect("killed");
        victim.wait().expect("gone");
        let view = TextIndex::open(&path).expect("whole").view().expect("a view");
        let documents = view.statistics().documents;
        assert!(documents > last, "{documents}");
        assert_eq!(view.payload(), documents.to_string());
        assert_eq!(best(&view, &words("fox"), 9_999).expect("an answer").len(), documents);
        last = documents;
    }
}

fn write_until_killed(folder: &Path) -> ! {
    let index = TextIndex::open(folder).expect("opened");
    let mut writer = index.writer().expect("a writer");
    let mut row = index.view().expect("a view").statistics().documents as u32;
    loop {
        for _ in 0..5 {
            writer.add(row, 0, "a fox").expect("added");
            row += 1;
        }
        writer.commit(&row.to_string()).expect("committed");
    }
}
