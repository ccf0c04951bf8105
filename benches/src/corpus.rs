//! Segments and queries by number.

use crate::lexicon::TOPICS;
use crate::prose::{Kind, Writer};
use crate::rng::Rng;

/// Shares of the kinds in a hundred segments.
const MIX: [(Kind, u64); 5] =
    [(Kind::English, 44), (Kind::Chinese, 28), (Kind::Code, 18), (Kind::Japanese, 5), (Kind::Korean, 5)];
const SHORTEST: u64 = 500;
/// Leaves room for the line of code that reaches the length.
const LONGEST: u64 = 1_900;
const SHORT_QUERY_TERMS: usize = 8;
const LONG_QUERY_TERMS: usize = 49;

/// Purpose of a generator; part of its key, so that streams never meet.
#[derive(Clone, Copy)]
enum Stream {
    Identity = 101,
    Plan = 102,
    Text = 103,
    Query = 104,
}

/// A seeded, endless corpus: segment 5 is the same whether 10 or 10,000 are asked for.
pub struct Corpus {
    seed: u64,
    writer: Writer,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// A version 4 UUID.
    pub id: String,
    /// Language and style.
    pub kind: Kind,
    /// 500 to 2,000 characters.
    pub text: String,
}

/// One question in two lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// About 8 terms.
    pub short: String,
    /// About 49 terms, like the last two or three messages of a user.
    pub long: String,
}

/// Properties of a segment that are drawn before it is written.
struct Plan {
    kind: Kind,
    topic: u64,
    length: usize,
}

impl Corpus {
    /// The corpus of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, writer: Writer::new(seed) }
    }

    /// Segment number `index`.
    #[must_use]
    pub fn segment(&self, index: u64) -> Segment {
        let Plan { kind, topic, length } = self.plan(index);
        let text = self.writer.write(kind, topic, length, &mut self.rng(Stream::Text, index));
        Segment { id: self.id(index), kind, text }
    }

    /// The first `count` segments.
    #[must_use]
    pub fn segments(&self, count: u64) -> Vec<Segment> {
        (0..count).map(|index| self.segment(index)).collect()
    }

    /// The ids of the first `count` segments.
    #[must_use]
    pub fn ids(&self, count: u64) -> Vec<String> {
        (0..count).map(|index| self.id(index)).collect()
    }

    /// A text of the kind given, otherwise as segment number `index` would be.
    #[must_use]
    pub fn text(&self, kind: Kind, index: u64) -> String {
        let Plan { topic, length, .. } = self.plan(index);
        self.writer.write(kind, topic, length, &mut self.rng(Stream::Text, index))
    }

    /// Query number `index`, on the topic of one of the first `segments` segments.
    #[must_use]
    pub fn query(&self, index: u64, segments: u64) -> Query {
        let mut rng = self.rng(Stream::Query, index);
        let Plan { kind, topic, .. } = self.plan(rng.below(segments));
        Query {
            short: self.writer.ask(kind, topic, SHORT_QUERY_TERMS, &mut rng),
            long: self.writer.ask(kind, topic, LONG_QUERY_TERMS, &mut rng),
        }
    }

    fn rng(&self, stream: Stream, index: u64) -> Rng {
        Rng::keyed(&[self.seed, stream as u64, index])
    }

    fn plan(&self, index: u64) -> Plan {
        let mut rng = self.rng(Stream::Plan, index);
        let kind = kind_at(rng.below(100));
        let topic = rng.below(TOPICS);
        // The smaller of two draws: short messages are more usual than long ones.
        let length = rng.between(SHORTEST, LONGEST).min(rng.between(SHORTEST, LONGEST));
        Plan { kind, topic, length: length as usize }
    }

    fn id(&self, index: u64) -> String {
        let mut rng = self.rng(Stream::Identity, index);
        let (high, low) = (rng.bits(), rng.bits());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xFFFF,
            high & 0xFFF,
            0x8000 | (low >> 50),
            low & 0xFFFF_FFFF_FFFF,
        )
    }
}

fn kind_at(percent: u64) -> Kind {
    let mut upper = 0;
    let found = MIX.into_iter().find(|&(_, share)| {
        upper += share;
        percent < upper
    });
    found.map_or(Kind::English, |(kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FNV-1a.
    fn fingerprint(texts: impl Iterator<Item = String>) -> u64 {
        texts
            .flat_map(String::into_bytes)
            .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
    }

    #[test]
    fn a_seed_is_the_same_text_on_every_platform() {
        let corpus = Corpus::new(7);
        let segments = corpus.segments(100).into_iter().map(|segment| segment.id + &segment.text);
        let queries = (0..100).map(|index| corpus.query(index, 100)).map(|query| query.short + &query.long);
        assert_eq!(fingerprint(segments.chain(queries)), 0xB79F_64DA_4AF2_AC88);
    }

    #[test]
    fn lengths_and_shares_are_as_promised() {
        let segments = Corpus::new(7).segments(2_000);
        for segment in &segments {
            let length = segment.text.chars().count();
            assert!((500..=2_000).contains(&length), "{length}: {}", segment.text);
        }
        for (kind, share) in MIX {
            let count = segments.iter().filter(|segment| segment.kind == kind).count() as u64;
            assert!(count.abs_diff(share * 20) < 60, "{kind:?}: {count} of 2000");
        }
    }

    #[test]
    fn ids_are_distinct_uuids() {
        let mut ids = Corpus::new(7).ids(1_000);
        assert!(ids.iter().all(|id| id.len() == 36 && id.as_bytes()[14] == b'4'));
        assert!(ids.iter().all(|id| b"89ab".contains(&id.as_bytes()[19])));
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 1_000);
    }
}
