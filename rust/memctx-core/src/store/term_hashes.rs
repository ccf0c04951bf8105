//! Search terms as keyed hashes, for a text index that must not hold words.
//!
//! Hashes are stored elsewhere for years, so they are made of the bytes of a token and not of [`crate::text::Term`].

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::warm::passage::passages;
use crate::bm25::for_each_lookup;
use crate::text::{Mode, for_each_token};

/// Return the distinct terms that the text index has of a document, hashed with a key, in ascending order.
///
/// ```
/// use memctx_core::store::{query_term_hashes, term_hashes};
///
/// let document = term_hashes("The payment webhook listens on port 8443", 7);
/// let query = query_term_hashes("which ports?", 7);
/// assert!(query.iter().any(|term| document.binary_search(term).is_ok()));
/// ```
#[must_use]
pub fn term_hashes(text: &str, key: u64) -> Vec<i64> {
    let mut hashes = Vec::new();
    // What is behind the last passage is not indexed.
    for passage in passages(text) {
        for_each_token(&text[passage], Mode::Memctx, |token| hashes.push(hash(token, key)));
    }
    distinct(hashes)
}

/// Return the distinct terms that a search for a query looks up, hashed with a key, in ascending order: its words
/// without function words, unless there are no others, and the other forms of English words.
#[must_use]
pub fn query_term_hashes(query: &str, key: u64) -> Vec<i64> {
    let mut hashes = Vec::new();
    for_each_lookup(Mode::Memctx, query, |token| hashes.push(hash(token, key)));
    distinct(hashes)
}

fn hash(token: &str, key: u64) -> i64 {
    xxh3_64_with_seed(token.as_bytes(), key).cast_signed()
}

fn distinct(mut hashes: Vec<i64>) -> Vec<i64> {
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bm25::Texts;

    #[test]
    fn hashes_stay_the_same() {
        // XXH3 of "port" and "8443" with the seed 7, as signed numbers.
        assert_eq!(term_hashes("port 8443, Port", 7), PINNED);
        assert_ne!(term_hashes("port 8443", 8), PINNED);
        assert!(term_hashes("", 7).is_empty() && query_term_hashes("", 7).is_empty());
    }

    const PINNED: [i64; 2] = [811_540_730_598_619_019, 3_709_207_271_027_323_875];

    proptest! {
        #[test]
        fn a_query_shares_hashes_with_what_the_index_finds(
            contents in prop::collection::vec("(deploy|deploys|port|ports|飞书|payHook|x){1,2}( (deployed|port|alpha|beta|the)){0,6}", 1..20),
            query in "(deploy|ports|飞书|the|pay_hook)( (deployed|port|alpha|gamma|of)){0,6}",
            key in any::<u64>(),
        ) {
            let mut texts = Texts::new(Mode::Memctx);
            for content in &contents {
                texts.push(content).expect("room");
            }
            let found = texts.query(&query).best(contents.len(), |_| true);
            let asked = query_term_hashes(&query, key);
            for (number, content) in (0..).zip(&contents) {
                let shares = term_hashes(content, key).iter().any(|term| asked.binary_search(term).is_ok());
                prop_assert_eq!(shares, found.iter().any(|hit| hit.number == number));
            }
        }
    }
}
