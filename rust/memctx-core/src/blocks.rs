//! A file of named, checksummed arrays.
//!
//! Each block is 24 bytes of header (name, length in bytes, CRC-32, zero) and its bytes, padded to eight. The last
//! block is `end`. Arrays are written as they lie in memory, so a file is good for machines of one byte order only,
//! which its first block tells.

use std::fs::File;
use std::io::{self, Write};

use bytemuck::Pod;

use crate::file::read_exact_at;

type Name = [u8; 8];

const HEADER: usize = 24;
const ALIGN: usize = 8;
/// Read and checked at a time, while it is still in the cache.
const CHUNK: usize = 256 * 1024;
const MAGIC: Name = *b"memctx\0\x01";
const END: Name = *b"end\0\0\0\0\0";
const ORDER: u64 = 0x0102_0304_0506_0708;

/// Writes blocks one behind the other.
pub(crate) struct BlockWriter<W> {
    out: W,
}

impl<W: Write> BlockWriter<W> {
    pub(crate) fn new(out: W) -> io::Result<Self> {
        let mut writer = Self { out };
        writer.write_bytes(MAGIC, bytemuck::bytes_of(&ORDER))?;
        Ok(writer)
    }

    pub(crate) fn write<T: Pod>(&mut self, name: &str, values: &[T]) -> io::Result<()> {
        self.write_bytes(name_of(name), bytemuck::cast_slice(values))
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.write_bytes(END, &[])?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn write_bytes(&mut self, name: Name, bytes: &[u8]) -> io::Result<()> {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&name);
        header[8..16].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        header[16..20].copy_from_slice(&crc32fast::hash(bytes).to_le_bytes());
        self.out.write_all(&header)?;
        self.out.write_all(bytes)?;
        self.out.write_all(&[0; ALIGN][..padding(bytes.len() as u64) as usize])
    }
}

/// Finds blocks by name.
#[derive(Debug)]
pub(crate) struct BlockReader {
    file: File,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    name: Name,
    offset: u64,
    bytes: u64,
    crc: u32,
}

/// Reason why a file of blocks cannot be used.
pub(crate) type Fault = &'static str;

const CUT: Fault = "cut short";

impl BlockReader {
    /// Read where the blocks are.
    pub(crate) fn new(file: File) -> Result<Self, Fault> {
        let length = file.metadata().map_err(|_| CUT)?.len();
        let mut blocks: Vec<Block> = Vec::new();
        let mut at = 0;
        loop {
            let mut header = [0; HEADER];
            read_exact_at(&file, &mut header, at).map_err(|_| CUT)?;
            let (name, rest) = header.split_first_chunk::<8>().ok_or(CUT)?;
            let (bytes, rest) = rest.split_first_chunk::<8>().ok_or(CUT)?;
            let (crc, _) = rest.split_first_chunk::<4>().ok_or(CUT)?;
            let (bytes, offset) = (u64::from_le_bytes(*bytes), at + HEADER as u64);
            if bytes > length - offset {
                return Err(CUT);
            }
            blocks.push(Block { name: *name, offset, bytes, crc: u32::from_le_bytes(*crc) });
            at = offset + bytes + padding(bytes);
            if *name == END {
                break;
            }
            if at > length {
                return Err(CUT);
            }
        }
        let reader = Self { file, blocks };
        if reader.blocks[0].name != MAGIC {
            return Err("not a snapshot of this version");
        }
        match reader.read_block::<u64>(&reader.blocks[0])?[..] {
            [ORDER] => Ok(reader),
            _ => Err("made on a machine of another byte order"),
        }
    }

    /// Return the values of a block.
    pub(crate) fn read<T: Pod>(&self, name: &str) -> Result<Vec<T>, Fault> {
        let wanted = name_of(name);
        let block = self.blocks.iter().find(|block| block.name == wanted).ok_or("a part is missing")?;
        self.read_block(block)
    }

    /// Return the one value of a block.
    pub(crate) fn read_one<T: Pod>(&self, name: &str) -> Result<T, Fault> {
        match self.read(name)?[..] {
            [value] => Ok(value),
            _ => Err("a part has the wrong size"),
        }
    }

    fn read_block<T: Pod>(&self, block: &Block) -> Result<Vec<T>, Fault> {
        if !block.bytes.is_multiple_of(size_of::<T>() as u64) {
            return Err("a part has the wrong size");
        }
        let count = block.bytes as usize / size_of::<T>();
        // With room to grow, so that the first addition need not copy all of it.
        let mut values = bytemuck::zeroed_vec::<T>(count + count / 8);
        values.truncate(count);
        let mut checksum = crc32fast::Hasher::new();
        let mut offset = block.offset;
        for chunk in bytemuck::cast_slice_mut::<T, u8>(&mut values).chunks_mut(CHUNK) {
            read_exact_at(&self.file, chunk, offset).map_err(|_| "it cannot be read")?;
            checksum.update(chunk);
            offset += chunk.len() as u64;
        }
        if checksum.finalize() == block.crc { Ok(values) } else { Err("a checksum does not hold") }
    }
}

fn name_of(name: &str) -> Name {
    let mut padded = [0; 8];
    padded[..name.len()].copy_from_slice(name.as_bytes());
    padded
}

fn padding(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGN as u64) - bytes
}

/// Many texts as one block of bytes and one of ends.
pub(crate) fn join<'a>(texts: impl Iterator<Item = &'a str>) -> (Vec<u8>, Vec<u64>) {
    let (mut joined, mut ends) = (Vec::new(), Vec::new());
    for text in texts {
        joined.extend_from_slice(text.as_bytes());
        ends.push(joined.len() as u64);
    }
    (joined, ends)
}

/// Return the texts of such blocks.
pub(crate) fn split(joined: &[u8], ends: &[u64]) -> Result<Vec<Box<str>>, Fault> {
    let mut start = 0;
    let mut texts = Vec::with_capacity(ends.len());
    for &end in ends {
        let text = joined.get(start..end as usize).ok_or("a text is missing")?;
        texts.push(std::str::from_utf8(text).map_err(|_| "a text is not UTF-8")?.into());
        start = end as usize;
    }
    Ok(texts)
}
