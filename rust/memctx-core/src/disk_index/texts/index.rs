//! Text index in its folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustc_hash::FxHashMap;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::footer::Footer;
use tantivy::directory::{Directory as _, FileHandle, FileSlice};
use tantivy::index::{Index, IndexMeta, IndexSettings};
use tantivy::{HasLen as _, Searcher, TantivyError};

use super::analyzer::{self, Analyzer};
use super::fault::{guarded, is_missing};
use super::folder::{Folder, META};
use super::schema::{Fields, schema};
use super::shard::{Shard, version};
use super::view::TextView;
use super::writer::TextWriter;
use crate::file::Identity;
use crate::{Error, Result};

/// The words of all passages on disk: one writes, any number of threads and processes search.
pub(in crate::disk_index) struct TextIndex {
    folder: PathBuf,
    files: Folder,
    index: Index,
    fields: Fields,
    schema: Searcher,
    current: Mutex<Current>,
}

/// The newest commit that was seen.
struct Current {
    stamp: Option<Stamp>,
    view: Arc<TextView>,
    /// The files of that commit, whose checksums hold, and their lengths.
    sound: FxHashMap<PathBuf, u64>,
}

/// Tells one commit from another without reading it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    identity: Identity,
    length: u64,
    modified: Option<SystemTime>,
}

/// Number of times that files may vanish under a reader, because a merge replaced them, before they count as lost.
const ATTEMPTS: usize = 20;
/// Bytes of a file that are checked at a time.
const CHUNK: usize = 1 << 20;

impl TextIndex {
    /// Make a new index in a folder, which is made as well.
    pub(in crate::disk_index) fn create(folder: &Path) -> Result<Self> {
        create_private(folder).map_err(Error::io(folder))?;
        let (schema, _) = schema();
        // Nothing is stored, so there is nothing to compress in a thread of its own.
        let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
        let builder = Index::builder().schema(schema).settings(settings);
        let files = guarded(folder, || Ok(Folder::open(folder)?))?;
        let index = guarded(folder, || builder.open_or_create(files.clone()))?;
        Self::of(folder, files, index)
    }

    /// Open the index in a folder. Every byte that may be read later on is checked.
    pub(in crate::disk_index) fn open(folder: &Path) -> Result<Self> {
        let files = guarded(folder, || Ok(Folder::open(folder)?))?;
        let index = guarded(folder, || {
            let index = Index::open(files.clone())?;
            if index.schema() == schema().0 { Ok(index) } else { Err(TantivyError::SchemaError(String::new())) }
        })?;
        Self::of(folder, files, index)
    }

    fn of(folder: &Path, files: Folder, index: Index) -> Result<Self> {
        let (schema, fields) = schema();
        index.tokenizers().register(analyzer::NAME, Analyzer::default());
        let schema = guarded(folder, || Ok(Index::create_in_ram(schema).reader()?.searcher()))?;
        let (folder, payload) = (folder.to_owned(), String::new());
        let view = TextView { folder: folder.clone(), fields, shards: Vec::new(), payload, schema: schema.clone() };
        let current = Current { stamp: None, view: Arc::new(view), sound: FxHashMap::default() };
        let opened = Self { folder, files, index, fields, schema, current: Mutex::new(current) };
        opened.view()?;
        Ok(opened)
    }

    /// The one who adds texts. There can be one at a time, in all processes.
    pub(in crate::disk_index) fn writer(&self) -> Result<TextWriter> {
        TextWriter::new(&self.folder, &self.index, self.fields)
    }

    /// The newest commit of any process.
    pub(in crate::disk_index) fn view(&self) -> Result<Arc<TextView>> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = Some(self.stamp()?);
        if stamp != current.stamp {
            current.view = Arc::new(guarded(&self.folder, || self.newest(&mut current))?);
            // A commit between the stamp and the reading of it is read once more by the next call.
            current.stamp = stamp;
        }
        Ok(Arc::clone(&current.view))
    }

    /// Fail if a file of the newest commit that was seen is shorter by now: the next to open it would find it damaged.
    pub(in crate::disk_index) fn check(&self) -> Result<()> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // One that is gone was merged into another.
        let is_cut = |path: &Path, length| self.files.length(path).is_some_and(|found| found < length);
        match current.sound.iter().find(|(path, length)| is_cut(path, **length)) {
            Some((path, length)) => {
                let fault = format!("it has been cut short: it had {length} bytes");
                Err(Error::corrupt(&self.folder.join(path), 0, fault))
            }
            None => Ok(()),
        }
    }

    fn stamp(&self) -> Result<Stamp> {
        let path = self.folder.join(META);
        let found = fs::metadata(&path).map_err(Error::io(&path))?;
        Ok(Stamp { identity: Identity::of(&found), length: found.len(), modified: found.modified().ok() })
    }

    /// Read the newest commit. No lock is taken, so that a writer that hangs blocks no reader; instead it is read again
    /// if its files are deleted meanwhile.
    fn newest(&self, current: &mut Current) -> tantivy::Result<TextView> {
        let mut attempts = 1;
        loop {
            let commit = self.index.load_metas()?;
            match self.shards(&commit, current) {
                Err(fault) if attempts < ATTEMPTS && is_missing(&fault) => attempts += 1,
                shards => {
                    return Ok(TextView {
                        folder: self.folder.clone(),
                        fields: self.fields,
                        shards: shards?,
                        payload: commit.payload.unwrap_or_default(),
                        schema: self.schema.clone(),
                    });
                }
            }
        }
    }

    fn shards(&self, commit: &IndexMeta, current: &mut Current) -> tantivy::Result<Vec<Arc<Shard>>> {
        let files = commit.list_segment_files();
        current.sound.retain(|path, _| files.contains(path));
        // Held until all are open, so that what is searched is what was checked, also if a merge deletes it meanwhile.
        let mut held = Vec::new();
        for path in files {
            if !current.sound.contains_key(&path)
                && let Some(file) = self.checked(&path)?
            {
                current.sound.insert(path, file.len() as u64);
                held.push(file);
            }
        }
        let known = &current.view.shards;
        let open = |meta| match known.iter().find(|shard| shard.version() == version(meta)) {
            Some(shard) => Ok(Arc::clone(shard)),
            None => Shard::open(&self.index.segment(meta.clone())).map(Arc::new),
        };
        commit.segments.iter().map(open).collect()
    }

    /// Return a file that is as it was written; none if it does not exist, which is allowed for some.
    fn checked(&self, path: &Path) -> tantivy::Result<Option<Arc<dyn FileHandle>>> {
        let file = match self.files.get_file_handle(path) {
            Err(OpenReadError::FileDoesNotExist(_)) => return Ok(None),
            found => found?,
        };
        let is_sound = || -> io::Result<bool> {
            let (footer, content) = Footer::extract_footer(FileSlice::new(Arc::clone(&file)))?;
            let mut hasher = crc32fast::Hasher::new();
            for start in (0..content.len()).step_by(CHUNK) {
                hasher.update(&content.read_bytes_slice(start..content.len().min(start + CHUNK))?);
            }
            Ok(hasher.finalize() == footer.crc)
        };
        let unsound = || io::Error::new(io::ErrorKind::InvalidData, "its checksum does not hold");
        match is_sound() {
            Ok(true) => Ok(Some(file)),
            Ok(false) => Err(OpenReadError::wrap_io_error(unsound(), path.to_owned()).into()),
            Err(fault) => Err(OpenReadError::wrap_io_error(fault, path.to_owned()).into()),
        }
    }
}

/// Make a folder that only its owner may enter.
#[cfg(unix)]
fn create_private(path: &Path) -> io::Result<()> {
    std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(path)
}

/// Make a folder.
#[cfg(not(unix))]
fn create_private(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}
