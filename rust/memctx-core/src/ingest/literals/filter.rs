//! Where a window may begin.

use super::kernel::{BLOCK, Kernel, SETS, Tables};
use super::window::{LONGEST, Window, frequency};

/// Groups of windows; each is a bit of a byte in one of the sets of tables.
const GROUPS: usize = SETS * 8;
/// Blocks that are looked at in one go.
const BLOCKS: usize = 32;
/// What the kernel reads behind a block.
const BEHIND: usize = LONGEST - 1;

/// Finds windows, and some that only look like one.
#[derive(Clone)]
pub(super) struct Filter {
    tables: [Tables; SETS],
    kernel: Kernel,
}

/// Windows that are compared as one: at each place any lower half of a byte of theirs goes with any upper half.
#[derive(Clone, Copy, Default)]
struct Group {
    /// Lower and upper halves, one bit for each of the 16 values.
    halves: [(u16, u16); LONGEST],
}

impl Filter {
    /// A filter that lets all of these windows through.
    pub(super) fn new(mut windows: Vec<Window>) -> Self {
        // Those that stand in many texts choose their group first.
        windows.sort_by(|a, b| b.frequency().total_cmp(&a.frequency()));
        let mut groups = [(Group::default(), 0.0); GROUPS];
        for window in &windows {
            let joined = groups.map(|(group, frequency)| {
                let joined = group.with(window);
                let new = joined.frequency();
                (joined, new, new - frequency)
            });
            let best = (0..GROUPS).min_by(|&a, &b| joined[a].2.total_cmp(&joined[b].2)).unwrap_or(0);
            groups[best] = (joined[best].0, joined[best].1);
        }
        Self { tables: tables(&groups.map(|(group, _)| group)), kernel: Kernel::pick() }
    }

    /// Every place where a window may begin, in order.
    pub(super) fn for_each(&self, text: &[u8], mut visit: impl FnMut(usize)) {
        let mut found = [0; BLOCKS];
        let mut start = 0;
        loop {
            let blocks = (text.len() - start).saturating_sub(BEHIND) / BLOCK;
            let found = &mut found[..blocks.min(BLOCKS)];
            if found.is_empty() {
                break;
            }
            self.kernel.run(&self.tables, &text[start..], found);
            for &mut bits in found {
                for_each_bit(bits, |bit| visit(start + bit));
                start += BLOCK;
            }
        }
        // The rest is shorter than a block and what is read behind it, so zeros go there.
        let rest = &text[start..];
        let mut padded = [0; 2 * BLOCK + BEHIND];
        padded[..rest.len()].copy_from_slice(rest);
        let mut found = [0; 2];
        self.kernel.run(&self.tables, &padded, &mut found);
        for (block, bits) in found.into_iter().enumerate() {
            for_each_bit(bits, |bit| {
                let at = block * BLOCK + bit;
                if at < rest.len() {
                    visit(start + at);
                }
            });
        }
    }
}

fn for_each_bit(mut bits: u64, mut visit: impl FnMut(usize)) {
    while bits != 0 {
        visit(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

impl Group {
    fn with(mut self, window: &Window) -> Self {
        for (place, (low, high)) in self.halves.iter_mut().enumerate() {
            match window.admitted(place) {
                None => (*low, *high) = (u16::MAX, u16::MAX),
                Some(bytes) => {
                    for byte in bytes {
                        *low |= 1 << (byte & 0xF);
                        *high |= 1 << (byte >> 4);
                    }
                }
            }
        }
        self
    }

    /// About how many places of a text it lets through.
    fn frequency(&self) -> f32 {
        let of_place = |&(low, high): &(u16, u16)| {
            let admitted = (0..=u8::MAX).filter(|byte| low >> (byte & 0xF) & high >> (byte >> 4) & 1 != 0);
            admitted.map(frequency).sum::<f32>()
        };
        self.halves.iter().map(of_place).product()
    }
}

/// For each place the groups that admit a lower half, and those that admit an upper half.
fn tables(groups: &[Group; GROUPS]) -> [Tables; SETS] {
    let mut tables = [Tables::default(); SETS];
    for (number, group) in groups.iter().enumerate() {
        let (set, bit) = (number / 8, number % 8);
        for ((low, high), table) in group.halves.iter().zip(&mut tables[set].0) {
            for half in 0..16 {
                table.0[half] |= ((low >> half & 1) as u8) << bit;
                table.1[half] |= ((high >> half & 1) as u8) << bit;
            }
        }
    }
    tables
}
