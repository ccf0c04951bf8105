//! Pieces of words by the most probable cut: the unigram model of `SentencePiece`.

use std::fmt;

use rustc_hash::{FxBuildHasher, FxHashMap};

/// Stands before the first piece of a word.
const START: char = '\u{2581}';
/// Subtracted from the lowest score for a character that no piece has.
const UNKNOWN: f32 = 10.0;

/// The pieces in a tree of characters.
pub(super) struct Unigram {
    /// From a node and a character to the next node.
    next: FxHashMap<(u32, char), u32>,
    /// The piece that ends at a node: its number, unless it is the mere beginning of a word, and its score.
    pieces: Vec<Option<(Option<u32>, f32)>>,
    unknown: f32,
}

impl fmt::Debug for Unigram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unigram").field("nodes", &self.pieces.len()).finish_non_exhaustive()
    }
}

impl Unigram {
    /// Build the tree of pieces and their scores, which are numbered in order. Empty pieces have numbers only.
    pub(super) fn new<'a>(pieces: impl ExactSizeIterator<Item = (&'a str, f32)>) -> Self {
        // Two nodes for each piece, or nearly so.
        let count = 2 * pieces.len();
        let next = FxHashMap::with_capacity_and_hasher(count, FxBuildHasher);
        let mut nodes = Vec::with_capacity(count);
        nodes.push(None);
        let mut tree = Self { next, pieces: nodes, unknown: 0.0 };
        let mut lowest = 0.0_f32;
        for (number, (piece, score)) in (0..).zip(pieces) {
            if piece.is_empty() {
                continue;
            }
            let mut node = 0;
            for c in piece.chars() {
                let nodes = &mut tree.pieces;
                node = *tree.next.entry((node, c)).or_insert_with(|| {
                    nodes.push(None);
                    nodes.len() as u32 - 1
                });
            }
            let is_beginning = piece.chars().eq([START]);
            tree.pieces[node as usize] = Some(((!is_beginning).then_some(number), score));
            lowest = lowest.min(score);
        }
        tree.unknown = lowest - UNKNOWN;
        tree
    }

    /// Add the numbers of a word's pieces; what no piece has is left out, as is the mere beginning of a word.
    pub(super) fn cut(&self, word: &str, into: &mut Vec<u32>) {
        let characters: Vec<char> = std::iter::once(START).chain(word.chars()).collect();
        // The best way to each place: its score, where its last piece begins, and that piece.
        let mut best: Vec<(f32, usize, Option<u32>)> = vec![(f32::NEG_INFINITY, 0, None); characters.len() + 1];
        best[0].0 = 0.0;
        for start in 0..characters.len() {
            let score = best[start].0;
            let mut node = 0;
            let mut has_single = false;
            for (end, &c) in (start + 1..).zip(&characters[start..]) {
                let Some(&next) = self.next.get(&(node, c)) else { break };
                node = next;
                if let Some((piece, own)) = self.pieces[node as usize] {
                    has_single |= end == start + 1;
                    if score + own > best[end].0 {
                        best[end] = (score + own, start, piece);
                    }
                }
            }
            if !has_single && score + self.unknown > best[start + 1].0 {
                best[start + 1] = (score + self.unknown, start, None);
            }
        }
        let first = into.len();
        let mut end = characters.len();
        while end > 0 {
            let (_, start, piece) = best[end];
            into.extend(piece);
            end = start;
        }
        into[first..].reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces() -> Unigram {
        let all =
            [("", 0.0), ("▁", -3.0), ("▁data", -5.0), ("base", -5.0), ("▁database", -9.0), ("d", -6.0), ("s", -6.0)];
        Unigram::new(all.into_iter())
    }

    fn cut(word: &str) -> Vec<u32> {
        let mut into = vec![7];
        pieces().cut(word, &mut into);
        into.split_off(1)
    }

    #[test]
    fn the_most_probable_cut_wins() {
        assert_eq!(cut("database"), [4]);
        assert_eq!(cut("databases"), [4, 6]);
        assert_eq!(cut("database".repeat(2).as_str()), [4, 5, 3]);
    }

    #[test]
    fn unknown_characters_are_left_out() {
        assert_eq!(cut("dXs"), [5, 6]);
        assert!(cut("X").is_empty());
    }
}
