//! Chance that is the same everywhere: integers only, no platform, no hash map order.

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A `SplitMix64` generator.
pub(crate) struct Rng {
    state: u64,
}

impl Rng {
    /// A generator of its own for every list of numbers, such as a seed, a purpose and an index.
    pub(crate) fn keyed(keys: &[u64]) -> Self {
        let state = keys.iter().fold(0, |state, &key| mix(state ^ mix(key.wrapping_add(GOLDEN))));
        Self { state }
    }

    /// The next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A number from 0 up to, not including, `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    /// One of the items, all alike.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len() as u64) as usize]
    }
}

/// Ranks by the Zipf–Mandelbrot law: rank r has weight 1 / (r + 2.7).
pub(crate) struct Zipf {
    cumulative: Vec<u64>,
}

impl Zipf {
    /// The law over ranks 0 to `ranks` - 1.
    pub(crate) fn new(ranks: u64) -> Self {
        let weights = (0..ranks).map(|rank| (1 << 40) / (10 * rank + 27));
        let cumulative = weights.scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self { cumulative: cumulative.collect() }
    }

    /// Draw a rank.
    pub(crate) fn draw(&self, rng: &mut Rng) -> usize {
        let total = self.cumulative.last().copied().unwrap_or(1);
        let point = rng.below(total);
        self.cumulative.partition_point(|&sum| sum <= point)
    }
}

/// Spread every bit of the input over the whole output.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_ranks_are_drawn_more_often() {
        let (zipf, mut rng) = (Zipf::new(1000), Rng::keyed(&[1]));
        let mut counts = [0_u32; 1000];
        for _ in 0..100_000 {
            counts[zipf.draw(&mut rng)] += 1;
        }
        assert!(counts[0] > 2 * counts[8] && counts[8] > 5 * counts[150], "{:?}", &counts[..9]);
    }

    #[test]
    fn keys_matter_in_order() {
        assert_ne!(Rng::keyed(&[1, 2]).bits(), Rng::keyed(&[2, 1]).bits());
        assert_eq!(Rng::keyed(&[7, 3]).bits(), Rng::keyed(&[7, 3]).bits());
    }
}
