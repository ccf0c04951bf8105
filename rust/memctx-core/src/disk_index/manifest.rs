//! Manifest of a commit of the disk index.

use std::fs::File;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::TEXTS;
use super::column::Sum;
use super::vectors::VectorSums;
use crate::file::read_private;
use crate::store::tail;

/// Raised whenever the same log would be kept otherwise than before.
const VERSION: u32 = 3;
/// More than the list of files of any text index takes.
const LARGEST: u64 = 64 << 20;

/// Position reached in the log, with the length of each column there. It is part of the text index's commit, so the two
/// sides cannot disagree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) version: u32,
    /// Name of the model that made the vectors.
    pub(super) model: String,
    /// The log has been read up to this place,
    pub(super) offset: u64,
    /// which so many lines lie before
    pub(super) line: u64,
    /// and whose last bytes have this checksum.
    pub(super) tail: u32,
    pub(super) segments: u64,
    pub(super) passages: Sum,
    pub(super) pieces: Sum,
    /// The rows of segments that were written again.
    pub(super) dead: Sum,
    pub(super) vectors: VectorSums,
    /// Passages whose vectors were still to come.
    #[serde(default)]
    pub(super) lacking: u64,
}

impl Manifest {
    /// Of a disk index that holds nothing yet.
    pub(super) fn empty(model: &str) -> Self {
        Self {
            version: VERSION,
            model: model.to_owned(),
            offset: 0,
            line: 0,
            tail: 0,
            segments: 0,
            passages: Sum::default(),
            pieces: Sum::default(),
            dead: Sum::default(),
            vectors: VectorSums::default(),
            lacking: 0,
        }
    }

    /// Return the manifest of the last commit of a generation without opening anything else.
    pub(super) fn peek(folder: &Path, model: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Meta {
            payload: String,
        }
        let bytes = read_private(&folder.join(TEXTS).join("meta.json"), LARGEST).ok()?;
        // Behind it is a checksum, which is compared when it is opened.
        let meta: Meta = serde_json::Deserializer::from_slice(&bytes).into_iter().next()?.ok()?;
        Self::parse(&meta.payload, model).ok()
    }

    /// Return whether this is the log that was taken in; the error says that it is not.
    pub(super) fn check_log(&self, log: &File) -> Result<(), String> {
        match tail(log, self.offset) {
            Ok(found) if found == self.tail || self.offset == 0 => Ok(()),
            _ => Err("made from another log".to_owned()),
        }
    }

    pub(super) fn to_payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Read what a commit says; the error says why it is of no use.
    pub(super) fn parse(payload: &str, model: &str) -> Result<Self, String> {
        let found: Self = serde_json::from_str(payload).map_err(|_| "a manifest that cannot be read".to_owned())?;
        if found.version != VERSION {
            return Err(format!("version {}, not {VERSION}", found.version));
        }
        if found.model != model {
            return Err(format!("made for the vectors of {:?}, not {model:?}", found.model));
        }
        Ok(found)
    }
}
