//! Writer of a whole file, and append to one.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write};
use std::path::Path;

use crc32fast::Hasher;

use super::header::{COUNT_AT, HEADER_BYTES, Header};
use super::reader::Source;
use super::trailer::{self, Trailer};
use crate::file::{open_regular, sync_folder};
use crate::vector::check_finite;
use crate::{Error, Result};

/// Bytes written at a time.
const CHUNK: usize = 256 * 1024;

/// Rewrite a file: readers see the old one or the new one in full, also after a crash.
///
/// `values` holds one vector of `dim` values for each id, one behind the other.
pub fn write(path: &Path, ids: &[&str], values: &[f32], dim: usize, with_checksum: bool) -> Result<()> {
    let header = Header::new(dim, ids.len())?;
    check_entries(ids, values, dim)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::metadata(folder).map_err(Error::io(path))?;
    let temporary = tempfile::Builder::new().prefix(".vmem-").tempfile_in(folder);
    // The error names the temporary file, which is an internal detail.
    let temporary = temporary.map_err(|refused| Error::io(path)(refused.kind().into()))?;
    fill(temporary.as_file(), header, ids, values, with_checksum).map_err(Error::io(path))?;
    temporary.persist(path).map_err(|refused| Error::io(path)(refused.error))?;
    sync_folder(folder).map_err(Error::io(path))
}

fn fill(file: &File, header: Header, ids: &[&str], values: &[f32], with_checksum: bool) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(CHUNK, file);
    out.write_all(&header.to_bytes())?;
    let mut body = Body { checksum: trailer::checksum(header), bytes: 0, is_checked: with_checksum };
    body.write(&mut out, ids, values, header)?;
    if with_checksum {
        out.write_all(&body.trailer(header.count).to_bytes())?;
    }
    out.flush()?;
    file.sync_all()
}

/// Add entries behind those that are there, without rewriting these.
///
/// The entries are on disk before anything counts them, so a crash leaves the file with the old entries or with all.
/// A checksum is carried on where the file has one. Only one process may append at a time.
pub fn append(path: &Path, ids: &[&str], values: &[f32], dim: usize) -> Result<()> {
    let mut source = Source::open(path)?;
    let header = source.header;
    if dim != header.dim as usize {
        return Err(Error::Dimension { expected: header.dim as usize, found: dim });
    }
    check_entries(ids, values, dim)?;
    let (count, mut body) = Body::of(&mut source)?;
    let count = Header::new(dim, count + ids.len())?.count;
    let mut file = open_regular(OpenOptions::new().write(true), path).map_err(Error::io(path))?;
    extend(&mut file, header, count, &mut body, ids, values).map_err(Error::io(path))
}

fn extend(
    file: &mut File,
    header: Header,
    count: u32,
    body: &mut Body,
    ids: &[&str],
    values: &[f32],
) -> io::Result<()> {
    file.seek(SeekFrom::Start(HEADER_BYTES as u64 + body.bytes))?;
    let mut out = BufWriter::with_capacity(CHUNK, &*file);
    body.write(&mut out, ids, values, header)?;
    out.flush()?;
    drop(out);
    file.set_len(HEADER_BYTES as u64 + body.bytes)?;
    file.sync_data()?;
    if body.is_checked {
        file.write_all(&body.trailer(count).to_bytes())?;
    }
    file.seek(SeekFrom::Start(COUNT_AT))?;
    file.write_all(&count.to_le_bytes())?;
    file.sync_data()
}

/// The entries of a file as they are written.
struct Body {
    checksum: Hasher,
    bytes: u64,
    is_checked: bool,
}

impl Body {
    /// Return the complete entries of a file: how many, and where to go on.
    fn of(source: &mut Source<'_>) -> Result<(usize, Self)> {
        if let Some(Trailer { count, body_bytes, crc }) = source.trailer {
            let checksum = Hasher::new_with_initial_len(crc, body_bytes + size_of::<u32>() as u64);
            return Ok((count as usize, Self { checksum, bytes: body_bytes, is_checked: true }));
        }
        let mut bytes = 0;
        let report = source.walk(|id, vector| {
            bytes += (2 + id.len() + vector.len()) as u64;
            true
        })?;
        Ok((report.complete, Self { checksum: Hasher::new(), bytes, is_checked: false }))
    }

    fn write(&mut self, out: &mut impl Write, ids: &[&str], values: &[f32], header: Header) -> io::Result<()> {
        let mut entry = Vec::new();
        for (id, vector) in ids.iter().zip(values.chunks_exact(header.dim as usize)) {
            entry.clear();
            entry.extend_from_slice(&(id.len() as u16).to_le_bytes());
            entry.extend_from_slice(id.as_bytes());
            entry.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
            out.write_all(&entry)?;
            self.bytes += entry.len() as u64;
            if self.is_checked {
                self.checksum.update(&entry);
            }
        }
        Ok(())
    }

    fn trailer(&self, count: u32) -> Trailer {
        Trailer { count, body_bytes: self.bytes, crc: self.checksum.clone().finalize() }
    }
}

fn check_entries(ids: &[&str], values: &[f32], dim: usize) -> Result<()> {
    if values.len() != ids.len() * dim {
        return Err(Error::Dimension { expected: ids.len() * dim, found: values.len() });
    }
    if let Some((number, id)) = ids.iter().enumerate().find(|(_, id)| id.len() > usize::from(u16::MAX)) {
        let found = format!("{} bytes long (id {number})", id.len());
        return Err(Error::argument("ids", "at most 65535 bytes long in UTF-8", found));
    }
    check_finite(values, dim)
}
