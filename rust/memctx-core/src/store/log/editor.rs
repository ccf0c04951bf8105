//! Verification, repair and removal: the only operations that take lines out of a log, under the store's lock.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde_json::value::RawValue;
use tempfile::NamedTempFile;

use super::append_only::Log;
use super::directory::Directory;
use super::fact::{self, Fact};
use super::fact_log::KNOWLEDGE;
use super::lines::{LONGEST, Lines, trim};
use super::lock::{Format, Held, Lock};
use super::reader::Scan;
use super::segment::{Segment, has_surrogate, without_lone_surrogates};
use super::{SEGMENTS, vectors};
use crate::file::{read_exact_at, sync_folder};
use crate::store::health::Health;
use crate::store::search_filter::SearchFilter;
use crate::store::settings::Durability;
use crate::{Error, Result};

/// The folder of the disk index, among the derived files.
const DISK_INDEX: &str = "cold";
/// Attempts at deleting a folder in which another process may be creating files.
const ATTEMPTS: usize = 20;
/// Bytes copied at a time.
const CHUNK: u64 = 256 * 1024;

/// Verifies and rewrites the files of a store.
#[derive(Debug)]
pub struct LogEditor {
    directory: Directory,
    lock: Lock,
}

/// Something in a store that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, by its name in the directory.
    pub file: &'static str,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The offset of the line, in bytes.
    pub offset: Option<u64>,
    /// The fault.
    pub fault: String,
}

/// The result of a verification.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// Segments that can be read.
    pub segments: usize,
    /// States of facts that can be read.
    pub facts: usize,
    /// Vectors that can be read.
    pub vectors: usize,
    /// Everything that cannot be read; of many damaged lines the first, and a count of the others.
    pub problems: Vec<Problem>,
}

/// The segments to remove. With neither a session nor an age none match.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only those of these sessions; of any session if empty.
    pub sessions: Vec<String>,
    /// Only those older than this, in milliseconds since 1970. Without it, the facts of the sessions are removed too.
    pub before: Option<f64>,
}

/// The result of a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Lines of segments.
    pub segments: usize,
    /// Lines of facts.
    pub facts: usize,
    /// Derived files and folders, by their paths in the directory.
    pub files: Vec<PathBuf>,
    /// Bytes of all of these.
    pub bytes: u64,
}

/// The lines of both logs that a selection matches.
#[derive(Debug, Default)]
struct Matches {
    segments: Vec<Range<u64>>,
    facts: Vec<Range<u64>>,
    /// Ids of segments that no other line has.
    ids: FxHashSet<String>,
}

/// The keys a line is selected by. Any other fault of the line does not matter.
#[derive(Debug, Deserialize)]
struct Keys<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "sessionId")]
    session: Option<&'a RawValue>,
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
}

impl LogEditor {
    /// Open the store of a directory that exists.
    pub fn open(path: &Path, lock_timeout: Duration) -> Result<Self> {
        let directory = Directory::existing(path)?;
        Format::check_readable(&directory)?;
        Ok(Self { lock: Lock::new(directory.clone(), lock_timeout), directory })
    }

    /// Wait until no other process writes to the store.
    pub fn wait_for_writers(&self) -> Result<()> {
        self.lock.acquire(Instant::now()).map(drop)
    }

    /// Read everything, and report what cannot be read. It takes no lock and writes nothing.
    pub fn verify(&self) -> Result<Verified> {
        let mut scan = Scan::of(&self.directory, SearchFilter::default())?;
        let segments = scan.by_ref().count();
        let mut problems = problems_of(SEGMENTS, scan.health());
        let (mut facts, mut health) = (0, Health::default());
        self.each_line(KNOWLEDGE, |range, number, bytes| match number.zip(fault_of(bytes, fact_fault)) {
            Some((number, fault)) => health.skip(number, range.start, fault),
            None => facts += usize::from(number.is_some() && bytes.is_ok_and(|bytes| !is_blank(bytes))),
        })?;
        problems.extend(problems_of(KNOWLEDGE, &health));
        let (vectors, fault) = vectors::verify(&self.directory);
        problems.extend(fault.map(|fault| Problem { file: vectors::FILE, line: None, offset: None, fault }));
        Ok(Verified { segments, facts, vectors, problems })
    }

    /// Move damaged lines to a file beside their log, keep the vectors that can be read, and remove derived files.
    pub fn repair(&self) -> Result<()> {
        let held = self.acquire()?;
        let mut is_changed = false;
        for (name, check) in [(SEGMENTS, segment_fault as Check), (KNOWLEDGE, fact_fault as Check)] {
            let mut damaged = Vec::new();
            self.each_line(name, |range, number, bytes| {
                if number.is_some() && fault_of(bytes, check).is_some() {
                    damaged.push(range);
                }
            })?;
            if !damaged.is_empty() {
                self.rewrite(&held, name, &damaged, Some(&format!("{name}.damaged")))?;
                is_changed = true;
            }
        }
        is_changed |= vectors::repair(&self.directory)?;
        if is_changed {
            self.remove_files(&self.derived(true))?;
        }
        Ok(())
    }

    /// Report what [`LogEditor::remove`] would take.
    pub fn find(&self, selection: &Selection) -> Result<Removal> {
        self.matches(selection).map(|found| self.removal(selection, &found))
    }

    /// Delete the lines that match, their vectors and what was derived from them; of an empty selection, snapshots only.
    pub fn remove(&self, selection: &Selection) -> Result<Removal> {
        let held = self.acquire()?;
        let found = self.matches(selection)?;
        let removal = self.removal(selection, &found);
        if !found.segments.is_empty() {
            // Vectors first: a crash may leave a segment without its vector, but no vector of a deleted segment.
            vectors::remove(&self.directory, &found.ids)?;
            self.rewrite(&held, SEGMENTS, &found.segments, None)?;
        }
        if !found.facts.is_empty() {
            self.rewrite(&held, KNOWLEDGE, &found.facts, None)?;
        }
        self.remove_files(&removal.files)?;
        Ok(removal)
    }

    fn acquire(&self) -> Result<Held> {
        if cfg!(windows) {
            let why = "logs that may be in use cannot be replaced on Windows";
            return Err(Error::Refused { path: self.directory.path().to_owned(), why });
        }
        Format::check_writable(&self.directory)?;
        self.lock.acquire(Instant::now())
    }

    fn matches(&self, selection: &Selection) -> Result<Matches> {
        let Selection { sessions, before } = selection;
        let mut found = Matches::default();
        if sessions.is_empty() && before.is_none() {
            return Ok(found);
        }
        let mut staying: FxHashSet<String> = FxHashSet::default();
        self.each_line(SEGMENTS, |range, _, bytes| {
            let keys = |keys: &Keys<'_>| (keys.id(), keys.is_of(sessions), keys.timestamp());
            // A line that cannot be read stays, for `repair`.
            let Some((id, is_of, timestamp)) = bytes.ok().and_then(|bytes| Keys::read(bytes, keys)) else { return };
            let is_old = before.is_none_or(|before| timestamp.is_some_and(|timestamp| timestamp < before));
            let is_match = (sessions.is_empty() || is_of) && is_old;
            if is_match {
                found.segments.push(range);
            }
            if let Some(id) = id {
                if is_match { &mut found.ids } else { &mut staying }.insert(id);
            }
        })?;
        found.ids.retain(|id| !staying.contains(id));
        if before.is_none() {
            self.each_line(KNOWLEDGE, |range, _, bytes| {
                if bytes.ok().and_then(|bytes| Keys::read(bytes, |keys| keys.is_of(sessions))) == Some(true) {
                    found.facts.push(range);
                }
            })?;
        }
        Ok(found)
    }

    fn removal(&self, selection: &Selection, found: &Matches) -> Removal {
        let files = if !found.segments.is_empty() {
            self.derived(true)
        } else if selection.sessions.is_empty() && selection.before.is_none() {
            self.derived(false)
        } else {
            Vec::new()
        };
        let lines: u64 = found.segments.iter().chain(&found.facts).map(|range| range.end - range.start).sum();
        let bytes = lines + files.iter().map(|file| size_of(&self.directory.path().join(file))).sum::<u64>();
        Removal { segments: found.segments.len(), facts: found.facts.len(), files, bytes }
    }

    /// Call `visit` for each line of a log with its range, number and bytes. A last line without its end has no number.
    fn each_line(
        &self,
        name: &str,
        mut visit: impl FnMut(Range<u64>, Option<u64>, std::result::Result<&[u8], &'static str>),
    ) -> Result<()> {
        let Some(file) = self.directory.read(name)?.map(Arc::new) else { return Ok(()) };
        let mut lines = Lines::new(&file, 0, 0);
        while let Some(line) = lines.next() {
            visit(line.offset..line.offset + line.length + 1, Some(line.number), line.bytes);
        }
        let path = self.directory.file(name);
        let start = lines.position();
        let end = file.metadata().map_err(Error::io(&path))?.len();
        if end > start && end - start <= LONGEST as u64 {
            let mut rest = vec![0; (end - start) as usize];
            read_exact_at(&file, &mut rest, start).map_err(Error::io(&path))?;
            visit(start..end, None, Ok(trim(&rest, start)));
        }
        Ok(())
    }

    /// Replace a log by one without some of its lines, which are appended to `aside` first. Open stores notice that.
    fn rewrite(&self, _held: &Held, name: &str, removed: &[Range<u64>], aside: Option<&str>) -> Result<()> {
        let path = self.directory.file(name);
        let Some(log) = self.directory.read(name)? else { return Ok(()) };
        let fresh = self.copy_without(name, &log, removed).map_err(Error::io(&path))?;
        if let Some(aside) = aside {
            let mut lines = Vec::new();
            removed.iter().try_for_each(|range| copy(&log, range.clone(), &mut lines)).map_err(Error::io(&path))?;
            let aside = Log::create(&self.directory, aside, Durability::Fsync)?;
            let place = aside.append_any(lines)?;
            aside.sync(place.end)?;
        }
        fresh.persist(&path).map_err(|refused| Error::io(&path)(refused.error))?;
        sync_folder(self.directory.path()).map_err(Error::io(&path))
    }

    fn copy_without(&self, name: &str, log: &File, removed: &[Range<u64>]) -> io::Result<NamedTempFile> {
        let prefix = format!(".{name}.");
        let mut fresh = tempfile::Builder::new().prefix(&prefix).suffix(".tmp").tempfile_in(self.directory.path())?;
        let mut start = 0;
        for range in removed {
            copy(log, start..range.start, &mut fresh)?;
            start = range.end;
        }
        copy(log, start..log.metadata()?.len(), &mut fresh)?;
        fresh.as_file().sync_all()?;
        Ok(fresh)
    }

    /// Return the derived files that there are: snapshots and, on request, the disk index.
    fn derived(&self, with_disk_index: bool) -> Vec<PathBuf> {
        // What is behind a link is not the store's.
        let Ok(folder) = self.directory.derived() else { return Vec::new() };
        let names = |entry: io::Result<fs::DirEntry>| Some(entry.ok()?.path());
        let mut files: Vec<PathBuf> = fs::read_dir(&folder).into_iter().flatten().filter_map(names).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "snapshot"));
        files.sort();
        files.extend(Some(folder.join(DISK_INDEX)).filter(|path| with_disk_index && path.exists()));
        files.iter().filter_map(|path| path.strip_prefix(self.directory.path()).ok()).map(Path::to_owned).collect()
    }

    fn remove_files(&self, files: &[PathBuf]) -> Result<()> {
        files.iter().map(|file| self.directory.path().join(file)).try_for_each(|path| {
            let remove = || if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            let mut removed = remove();
            for _ in 1..ATTEMPTS {
                if !path.exists() {
                    return Ok(());
                }
                removed = remove();
            }
            if path.exists() { removed.map_err(Error::io(&path)) } else { Ok(()) }
        })
    }
}

impl Keys<'_> {
    /// Apply `read` to the keys of a line; `None` if it is no JSON object.
    fn read<T>(line: &[u8], read: impl FnOnce(&Keys<'_>) -> T) -> Option<T> {
        let text = std::str::from_utf8(line).ok().filter(|text| text.trim_start().starts_with('{'))?;
        let text = if has_surrogate(text) { Cow::Owned(without_lone_surrogates(text)) } else { Cow::Borrowed(text) };
        serde_json::from_str::<Keys<'_>>(&text).ok().map(|keys| read(&keys))
    }

    fn id(&self) -> Option<String> {
        fact::read(self.id)
    }

    fn is_of(&self, sessions: &[String]) -> bool {
        fact::read::<String>(self.session).is_some_and(|session| sessions.contains(&session))
    }

    fn timestamp(&self) -> Option<f64> {
        fact::read(self.timestamp)
    }
}

/// Returns what is wrong with a line.
type Check = fn(&[u8]) -> Option<String>;

fn segment_fault(line: &[u8]) -> Option<String> {
    Segment::from_line(line).err()
}

fn fact_fault(line: &[u8]) -> Option<String> {
    Fact::from_line(line).err()
}

fn fault_of(bytes: std::result::Result<&[u8], &'static str>, check: Check) -> Option<String> {
    match bytes {
        Ok(bytes) if is_blank(bytes) => None,
        Ok(bytes) => check(bytes),
        Err(fault) => Some(fault.to_owned()),
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

fn problems_of(file: &'static str, health: &Health) -> Vec<Problem> {
    let named = health.skipped.iter().map(|skipped| Problem {
        file,
        line: Some(skipped.line),
        offset: Some(skipped.offset),
        fault: skipped.fault.clone(),
    });
    let more = health.skipped_lines.saturating_sub(health.skipped.len() as u64);
    let fault = format!("{more} more lines like these");
    named.chain((more > 0).then_some(Problem { file, line: None, offset: None, fault })).collect()
}

fn copy(from: &File, range: Range<u64>, to: &mut impl io::Write) -> io::Result<()> {
    let mut buffer = vec![0; (range.end - range.start).min(CHUNK) as usize];
    let mut at = range.start;
    while at < range.end {
        let some = (range.end - at).min(CHUNK) as usize;
        read_exact_at(from, &mut buffer[..some], at)?;
        to.write_all(&buffer[..some])?;
        at += some as u64;
    }
    Ok(())
}

/// Return the bytes of a file, or of all files below a folder.
fn size_of(path: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    if !found.is_dir() {
        return found.len();
    }
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| size_of(&entry.path())).sum()
}
