//! Model metadata beside a file of vectors.

use std::io::{self, Write as _};

use serde::{Deserialize, Deserializer, Serialize};

use super::directory::Directory;
use crate::{Error, Result};

/// The model that made the vectors. Vectors that differ in any of these cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub(crate) model: String,
    /// The revision of the model. It was a number once.
    #[serde(deserialize_with = "text_or_number")]
    pub(crate) revision: String,
    pub(crate) dim: usize,
}

/// The position up to which the log is embedded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Everything before this place has its vectors,
    pub(crate) offset: u64,
    /// which so many lines lie before
    pub(crate) line: u64,
    /// and whose last bytes have this checksum.
    pub(crate) tail: u32,
}

/// The metadata of a file of vectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Imprint {
    #[serde(flatten)]
    pub(crate) stamp: Stamp,
    /// All vectors that are not zero have this length by this norm.
    #[serde(default = "l2")]
    pub(crate) norm: String,
    #[serde(default)]
    pub(crate) done: Done,
    /// The file that is about to be called `vectors.bin`, where it is not called so yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
}

impl Imprint {
    pub(crate) fn new(stamp: &Stamp) -> Self {
        Self { stamp: stamp.clone(), norm: l2(), done: Done::default(), file: None }
    }

    /// Read what stands in a file; none if that is nothing of ours.
    pub(crate) fn read(directory: &Directory, name: &str) -> Option<Self> {
        serde_json::from_reader(directory.read(name).ok()??).ok()
    }

    /// Write it, so that readers see the old one or the new one in full.
    pub(crate) fn write(&self, directory: &Directory, name: &str) -> Result<()> {
        let path = directory.file(name);
        let write = || -> io::Result<()> {
            let mut file = tempfile::Builder::new().prefix(".stamp-").tempfile_in(directory.path())?;
            serde_json::to_writer(&mut file, self)?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|refused| refused.error)?;
            crate::file::sync_folder(directory.path())
        };
        write().map_err(Error::io(&path))
    }
}

fn l2() -> String {
    "l2".to_owned()
}

fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Revision {
        Text(String),
        Number(u32),
    }
    Ok(match Revision::deserialize(deserializer)? {
        Revision::Text(text) => text,
        Revision::Number(number) => number.to_string(),
    })
}
