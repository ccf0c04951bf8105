//! Open generation of the disk index.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::column::Column;
use super::manifest::Manifest;
use super::offsets::VectorFile;
use super::passage::Piece;
use super::records::Records;
use super::texts::TextIndex;
use super::vectors::VectorIndex;
use super::view::View;
use super::{DEAD, PASSAGES, PIECES, TEXTS};
use crate::file::Identity;
use crate::store::{Directory, Model, open_vectors};
use crate::{Error, Result};

/// A generation, with what was committed when it was last looked at.
pub(super) struct Opened {
    folder: PathBuf,
    log: Identity,
    texts: TextIndex,
    view: Arc<View>,
    looked: Option<Instant>,
}

impl Opened {
    /// Look at a generation again or, if it is another one than before, for the first time, which takes longer.
    pub(super) fn renew(
        before: Option<Self>,
        folder: PathBuf,
        log: File,
        directory: &Directory,
        model: &Model,
    ) -> Result<Self> {
        let identity = Identity::of(&log.metadata().map_err(Error::io(&folder))?);
        match before.filter(|before| before.folder == folder && before.log == identity) {
            Some(before) => before.look(&log, directory, model),
            None => Self::open(folder, log, identity, directory, model),
        }
    }

    fn open(folder: PathBuf, log: File, identity: Identity, directory: &Directory, model: &Model) -> Result<Self> {
        let texts = TextIndex::open(&folder.join(TEXTS))?;
        let newest = texts.view()?;
        let manifest =
            Manifest::parse(newest.payload(), &model.words()).map_err(|fault| Error::corrupt(&folder, 0, fault))?;
        manifest.check_log(&log).map_err(|fault| Error::corrupt(&folder, 0, fault))?;
        let view = View {
            folder: folder.clone(),
            log: Arc::new(log),
            texts: newest,
            passages: Column::open(&folder.join(PASSAGES), 1, manifest.passages)?,
            pieces: Records::open(&folder.join(PIECES), size_of::<Piece>(), manifest.pieces)?,
            dead: Column::open(&folder.join(DEAD), 1, manifest.dead)?.iter().copied().collect(),
            vectors: VectorIndex::open(&folder, model.dim(), &manifest.vectors)?,
            exact: open_vectors(directory, model.stamp(), VectorFile::open),
            manifest,
        };
        Ok(Self { folder, log: identity, texts, view: Arc::new(view), looked: Some(Instant::now()) })
    }

    fn look(self, file: &File, directory: &Directory, model: &Model) -> Result<Self> {
        let Self { folder, log, texts, view: old, .. } = self;
        let newest = texts.view()?;
        // What was read is held, so a file that was cut short disturbs no search; but no other process could open it.
        texts.check()?;
        old.check()?;
        let is_exact = old.exact.as_ref().is_some_and(|exact| !exact.is_replaced());
        let check_log =
            |manifest: &Manifest| manifest.check_log(file).map_err(|fault| Error::corrupt(&folder, 0, fault));
        if newest.payload() == old.texts.payload() && is_exact {
            check_log(&old.manifest)?;
            return Ok(Self { folder, log, texts, view: old, looked: Some(Instant::now()) });
        }
        let manifest =
            Manifest::parse(newest.payload(), &model.words()).map_err(|fault| Error::corrupt(&folder, 0, fault))?;
        check_log(&manifest)?;
        let view = View {
            folder: folder.clone(),
            log: Arc::clone(&old.log),
            texts: newest,
            passages: old.passages.grown(manifest.passages)?,
            pieces: old.pieces.grown(manifest.pieces)?,
            dead: Column::open(&folder.join(DEAD), 1, manifest.dead)?.iter().copied().collect(),
            vectors: old.vectors.grown(&manifest.vectors)?,
            exact: open_vectors(directory, model.stamp(), VectorFile::open),
            manifest,
        };
        Ok(Self { folder, log, texts, view: Arc::new(view), looked: Some(Instant::now()) })
    }

    /// Return the log that it was made from.
    pub(super) fn log(&self) -> Identity {
        self.log
    }

    /// Return whether it was looked at lately.
    pub(super) fn is_fresh(&self, age: Duration) -> bool {
        self.looked.is_some_and(|looked| looked.elapsed() < age)
    }

    /// Look again next time, however short that is.
    pub(super) fn expire(&mut self) {
        self.looked = None;
    }

    /// Return the view of the commit that was opened.
    pub(super) fn view(&self) -> Arc<View> {
        Arc::clone(&self.view)
    }
}
