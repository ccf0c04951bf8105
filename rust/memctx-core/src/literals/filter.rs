//! Filter for possible starts of a window.

use super::kernel::{BLOCK, Kernel, SETS, Tables};
use super::window::{LONGEST, Window, frequency};

/// Groups of windows; each is a bit of a byte in one of the sets of tables.
const GROUPS: usize = SETS * 8;
/// Blocks that are looked at in one go.
const BLOCKS: usize = 32;
/// Bytes that the kernel reads beyond a block.
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
    /// About how often a byte that is admitted at a place stands in a text.
    admitted: [f32; LONGEST],
}

impl Filter {
    /// Create a filter that lets all of these windows through.
    pub(super) fn new(mut windows: Vec<Window>) -> Self {
        // Those that stand in many texts choose their group first.
        windows.sort_by(|a, b| {
            b.frequency().total_cmp(&a.frequency()).then_with(|| a.admitted_all().cmp(&b.admitted_all()))
        });
        windows.dedup_by_key(|window| window.admitted_all());
        let frequencies = std::array::from_fn(|byte| frequency(byte as u8));
        let mut groups = [Group::default(); GROUPS];
        for window in &windows {
            let joined = groups.map(|group| group.with(window, &frequencies));
            let growth = |&number: &usize| joined[number].frequency() - groups[number].frequency();
            let best = (0..GROUPS).min_by(|a, b| growth(a).total_cmp(&growth(b))).unwrap_or(0);
            groups[best] = joined[best];
        }
        Self { tables: tables(&groups), kernel: Kernel::pick() }
    }

    /// Visit every position where a window may begin, in order.
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
    fn with(mut self, window: &Window, frequencies: &[f32; 256]) -> Self {
        for (position, (halves, admitted)) in self.halves.iter_mut().zip(&mut self.admitted).enumerate() {
            let (mut low, mut high) = *halves;
            match window.admitted(position) {
                None => (low, high) = (u16::MAX, u16::MAX),
                Some(bytes) => {
                    for byte in bytes {
                        low |= 1 << (byte & 0xF);
                        high |= 1 << (byte >> 4);
                    }
                }
            }
            if (low, high) != *halves {
                *halves = (low, high);
                *admitted = sum(frequencies, low, high);
            }
        }
        self
    }

    /// Return the approximate share of positions that it lets through.
    fn frequency(&self) -> f32 {
        self.admitted.iter().product()
    }
}

/// Return the sum over all bytes that have one of these halves below and one of those above.
fn sum(frequencies: &[f32; 256], low: u16, high: u16) -> f32 {
    let of = |halves: u16| (0..16).filter(move |half| halves >> half & 1 != 0);
    of(high).flat_map(|high| of(low).map(move |low| frequencies[high << 4 | low])).sum()
}

/// Return for each position the groups that admit a lower half, and those that admit an upper half.
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
