//! The index of texts in its folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustc_hash::FxHashSet;
use tantivy::directory::error::OpenReadError;
use tantivy::index::{Index, IndexMeta, IndexSettings};
use tantivy::{Searcher, TantivyError};

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
pub(in crate::cold) struct TextIndex {
    folder: PathBuf,
    index: Index,
    fields: Fields,
    schema: Searcher,
    current: Mutex<Current>,
}

/// The newest commit that was seen.
struct Current {
    stamp: Option<Stamp>,
    view: Arc<TextView>,
    /// The files of that commit, whose checksums hold.
    sound: FxHashSet<PathBuf>,
}

/// Tells one commit from another without reading it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    identity: Identity,
    length: u64,
    modified: Option<SystemTime>,
}

/// How often files may vanish from under a reader, because a merge replaced them, before they count as lost.
const ATTEMPTS: usize = 20;

impl TextIndex {
    /// Make a new index in a folder, which is made as well.
    pub(in crate::cold) fn create(folder: &Path) -> Result<Self> {
        create_private(folder).map_err(Error::io(folder))?;
        let (schema, _) = schema();
        // Nothing is stored, so there is nothing to compress in a thread of its own.
        let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
        let builder = Index::builder().schema(schema).settings(settings);
        let index = guarded(folder, || builder.open_or_create(Folder::open(folder)?))?;
        Self::of(folder, index)
    }

    /// Open the index in a folder. Every byte that may be read later on is checked.
    pub(in crate::cold) fn open(folder: &Path) -> Result<Self> {
        let index = guarded(folder, || {
            let index = Index::open(Folder::open(folder)?)?;
            if index.schema() == schema().0 { Ok(index) } else { Err(TantivyError::SchemaError(String::new())) }
        })?;
        Self::of(folder, index)
    }

    fn of(folder: &Path, index: Index) -> Result<Self> {
        let (schema, fields) = schema();
        index.tokenizers().register(analyzer::NAME, Analyzer::default());
        let schema = guarded(folder, || Ok(Index::create_in_ram(schema).reader()?.searcher()))?;
        let (folder, payload) = (folder.to_owned(), String::new());
        let view = TextView { folder: folder.clone(), fields, shards: Vec::new(), payload, schema: schema.clone() };
        let current = Current { stamp: None, view: Arc::new(view), sound: FxHashSet::default() };
        let opened = Self { folder, index, fields, schema, current: Mutex::new(current) };
        opened.view()?;
        Ok(opened)
    }

    /// The one who adds texts. There can be one at a time, in all processes.
    pub(in crate::cold) fn writer(&self) -> Result<TextWriter> {
        TextWriter::new(&self.folder, &self.index, self.fields)
    }

    /// The newest commit, whoever made it.
    pub(in crate::cold) fn view(&self) -> Result<Arc<TextView>> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = Some(self.stamp()?);
        if stamp != current.stamp {
            current.view = Arc::new(guarded(&self.folder, || self.newest(&mut current))?);
            // A commit between the stamp and the reading of it is read once more by the next call.
            current.stamp = stamp;
        }
        Ok(Arc::clone(&current.view))
    }

    fn stamp(&self) -> Result<Stamp> {
        let path = self.folder.join(META);
        let found = fs::metadata(&path).map_err(Error::io(&path))?;
        Ok(Stamp { identity: Identity::of(&found), length: found.len(), modified: found.modified().ok() })
    }

    /// Read the newest commit. No lock is taken, so that a writer that hangs makes nobody wait; instead it is read again if
    /// its files are deleted meanwhile.
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
        current.sound.retain(|path| files.contains(path));
        for path in files {
            if !current.sound.contains(&path) && self.is_sound(&path)? {
                current.sound.insert(path);
            }
        }
        let known = &current.view.shards;
        let open = |meta| match known.iter().find(|shard| shard.version() == version(meta)) {
            Some(shard) => Ok(Arc::clone(shard)),
            None => Shard::open(&self.index.segment(meta.clone())).map(Arc::new),
        };
        commit.segments.iter().map(open).collect()
    }

    /// Whether a file is as it was written; false if it is not there, which not all need to be.
    fn is_sound(&self, path: &Path) -> tantivy::Result<bool> {
        match self.index.directory().validate_checksum(path) {
            Ok(true) => Ok(true),
            Ok(false) => {
                let fault = io::Error::new(io::ErrorKind::InvalidData, "its checksum does not hold");
                Err(OpenReadError::wrap_io_error(fault, path.to_owned()).into())
            }
            Err(OpenReadError::FileDoesNotExist(_)) => Ok(false),
            Err(fault) => Err(fault.into()),
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
