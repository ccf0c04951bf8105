//! Companions: for a segment the one it is hard to understand without.
//!
//! A tool call belongs to its result, a result to its call, an answer to its question, a question to its answer.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::captured::Digests;
use super::handle::Store;
use super::log::segment::Segment;
use super::warm::tier::Warm;
use crate::{Error, Result};

/// Segments of a session that are passed on the way to a companion.
const REACH: usize = 64;
/// Tool segments that are read to find the other half of a call: as many calls are often made at once.
const READS: usize = 4;

/// A segment and the one that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Companion {
    /// The index of the one that it belongs to.
    pub of: usize,
    /// The companion.
    pub segment: Segment,
    /// True if it was said before the other.
    pub is_before: bool,
}

/// Kind of a segment, as its metadata says.
#[derive(Debug, Default, Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default)]
    tool: Option<Tool<'a>>,
    /// There for a summary or a message of the host's own, which answers no question.
    #[serde(borrow, default)]
    kind: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Tool<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "callId")]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

impl<'a> Metadata<'a> {
    fn of(segment: &'a Segment) -> Self {
        serde_json::from_str(&segment.metadata).unwrap_or_default()
    }
}

impl Tool<'_> {
    /// Return whether another is the other half of this one: the call or the result of the same id or, where one has
    /// none, of the same tool.
    fn is_half_of(&self, other: &Self) -> bool {
        let is_other_kind = matches!((&*self.kind, &*other.kind), ("call", "result") | ("result", "call"));
        let is_same = match (&self.call_id, &other.call_id) {
            (Some(own), Some(others)) => own == others,
            _ => self.name.is_none() || other.name.is_none() || self.name == other.name,
        };
        is_other_kind && is_same
    }
}

impl Store {
    /// The indices of some segments in the order of the log, but the result of a tool right behind its call where both
    /// have the call's id; those that are not in memory come first.
    pub fn log_order(&self, segments: &[&Segment]) -> Result<Vec<usize>> {
        let index = self.inner.current()?;
        let mut order: Vec<usize> = (0..segments.len()).collect();
        order.sort_by_cached_key(|&at| index.find(&segments[at].id));
        drop(index);
        Ok(join_halves(&order, segments))
    }

    /// For each of these segments the one that belongs to it, as far as it is in memory: to a tool call its result and
    /// to a result its call, to an answer its question and to a question its answer. At most `limit` of them, none
    /// twice, none that is among the segments and none with a digest in `except`.
    pub fn companions(&self, of: &[&Segment], limit: usize, except: Option<&Digests>) -> Result<Vec<Companion>> {
        Ok(self.inner.current()?.companions(of, limit, except, |fault| self.inner.note_damage(&fault)))
    }
}

/// Return an order with each result behind its call, where both have the call's id: of calls made at once all results
/// follow the last call, and nothing in a text says to which of them it belongs.
fn join_halves(order: &[usize], segments: &[&Segment]) -> Vec<usize> {
    let tool = |&at: &usize| (segments[at].role == "tool").then(|| Metadata::of(segments[at]).tool).flatten();
    let tools: Vec<Option<Tool<'_>>> = order.iter().map(tool).collect();
    let call_of = |place: usize| {
        let own = tools[place].as_ref().filter(|own| own.kind == "result" && own.call_id.is_some())?;
        (0..place).rev().find(|&before| {
            let is_same_session = segments[order[before]].session == segments[order[place]].session;
            let is_call = |other: &Tool<'_>| other.call_id.is_some() && own.is_half_of(other);
            is_same_session && tools[before].as_ref().is_some_and(is_call)
        })
    };
    let mut places: Vec<usize> = (0..order.len()).collect();
    places.sort_by_cached_key(|&place| call_of(place).unwrap_or(place)); // stable: a call stays before its results
    places.into_iter().map(|place| order[place]).collect()
}

impl Warm {
    /// Return the companions of some segments, at most `limit`, without those that are among the segments or are not
    /// wanted. A segment that is not in memory has none. What turns out to be damaged is left out and reported to
    /// `damaged`.
    fn companions(
        &self,
        of: &[&Segment],
        limit: usize,
        except: Option<&Digests>,
        mut damaged: impl FnMut(Error),
    ) -> Vec<Companion> {
        let numbers: Vec<Option<u32>> = of.iter().map(|segment| self.find(&segment.id)).collect();
        let mut taken: FxHashSet<u32> = numbers.iter().flatten().copied().collect();
        let mut companions = Vec::new();
        for (of, (segment, number)) in of.iter().zip(numbers).enumerate() {
            let Some(number) = number.filter(|_| companions.len() < limit) else { continue };
            let is_wanted = |number: u32| {
                let digest = self.entries[number as usize].digest;
                !taken.contains(&number) && !except.is_some_and(|except| except.has(digest))
            };
            match self.companion(segment, number, is_wanted) {
                Ok(Some((found, segment, is_before))) => {
                    taken.insert(found);
                    companions.push(Companion { of, segment, is_before });
                }
                Ok(None) => {}
                Err(fault) => damaged(fault),
            }
        }
        companions
    }

    /// Return the result of a segment that is a tool call, as far as it is in memory.
    pub(super) fn result_of(&self, number: u32) -> Result<Option<u32>> {
        if self.roles.name(self.entries[number as usize].role) != "tool" {
            return Ok(None);
        }
        let segment = self.read(number)?;
        let is_call = Metadata::of(&segment).tool.is_some_and(|tool| tool.kind == "call");
        let found = if is_call { self.companion(&segment, number, |_| true)? } else { None };
        Ok(found.map(|(result, ..)| result))
    }

    /// Return the companion of a segment if it is wanted, its number, and whether it was said before.
    fn companion(
        &self,
        segment: &Segment,
        number: u32,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Result<Option<(u32, Segment, bool)>> {
        let own = Metadata::of(segment);
        let (wanted, is_before) = match (&*segment.role, own.tool.as_ref().map(|tool| &*tool.kind)) {
            ("user", None) if own.kind.is_none() => ("assistant", false),
            ("assistant", None) if own.kind.is_none() => ("user", true),
            ("tool", Some("call")) => ("tool", false),
            ("tool", Some("result")) => ("tool", true),
            _ => return Ok(None),
        };
        let mut reads = 0;
        for next in self.walk(number, is_before).take(REACH) {
            let role = self.roles.name(self.entries[next as usize].role);
            if role == wanted {
                if own.tool.is_none() && !is_wanted(next) {
                    return Ok(None); // known without a look at it
                }
                let found = self.read(next)?;
                let theirs = Metadata::of(&found);
                let is_it = match (&own.tool, &theirs.tool) {
                    (Some(own), Some(theirs)) => own.is_half_of(theirs),
                    (None, None) => theirs.kind.is_none(),
                    _ => false,
                };
                if is_it {
                    return Ok(is_wanted(next).then_some((next, found, is_before)));
                }
                reads += 1;
            }
            // Beyond what a person says something else begins.
            if role == "user" || reads == READS {
                break;
            }
        }
        Ok(None)
    }

    /// The live segments before or after one in its session, nearest first.
    fn walk(&self, number: u32, is_back: bool) -> impl Iterator<Item = u32> + '_ {
        let entry = &self.entries[number as usize];
        let (before, after) = self.timelines[entry.timeline as usize].split_at(entry.place as usize);
        let (before, after) = if is_back { (before, &[][..]) } else { (&[][..], &after[1..]) };
        before.iter().rev().chain(after).copied().filter(|&number| self.entries[number as usize].is_live)
    }
}

#[cfg(test)]
mod tests {
    use super::super::intake::Record;
    use super::super::settings::Settings;
    use super::*;

    const CALL_A: &str = r#"{"tool":{"name":"read","callId":"a","kind":"call"}}"#;
    const CALL_B: &str = r#"{"tool":{"name":"read","callId":"b","kind":"call"}}"#;
    const RESULT_A: &str = r#"{"tool":{"name":"read","callId":"a","kind":"result"}}"#;
    const RESULT_B: &str = r#"{"tool":{"name":"read","callId":"b","kind":"result"}}"#;

    fn record<'a>((role, content, metadata): (&'a str, &'a str, Option<&'a str>)) -> Record<'a> {
        Record { role, content, timestamp: None, metadata }
    }

    /// Return a store of these records and its segments.
    fn stored(rows: &[(&str, &str, Option<&str>)]) -> (tempfile::TempDir, Store, Vec<Segment>) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path(), Settings::new("s1")).expect("a store");
        let records: Vec<Record<'_>> = rows.iter().copied().map(record).collect();
        store.add(&records).expect("they are stored");
        let segments = store.segments().expect("a scan").collect();
        (folder, store, segments)
    }

    /// Return the companion of each segment by its content; `<` before that of an earlier one.
    fn companions(rows: &[(&str, &str, Option<&str>)]) -> Vec<String> {
        let (_folder, store, segments) = stored(rows);
        let of = |segment: &Segment| store.companions(&[segment], 9, None).expect("they are found");
        let told = |found: &Companion| format!("{}{}", if found.is_before { "<" } else { "" }, found.segment.content);
        segments.iter().map(|segment| of(segment).first().map(told).unwrap_or_default()).collect()
    }

    #[test]
    fn calls_and_results_belong_together_by_their_ids() {
        let found = companions(&[
            ("user", "please look at both files", None),
            ("tool", "read the first file", Some(CALL_A)),
            ("tool", "read the second file", Some(CALL_B)),
            ("tool", "text of the second file", Some(RESULT_B)),
            ("tool", "text of the first file", Some(RESULT_A)),
        ]);
        let expected =
            ["", "text of the first file", "text of the second file", "<read the second file", "<read the first file"];
        assert_eq!(found, expected);
    }

    #[test]
    fn results_stand_behind_their_calls_in_the_order_of_the_log() {
        let (_folder, store, segments) = stored(&[
            ("tool", "text of a file read before", Some(RESULT_B)),
            ("tool", "read the first file", Some(CALL_A)),
            ("tool", "read the second file", Some(CALL_B)),
            ("assistant", "I am reading both of them", None),
            ("tool", "text of the second file", Some(RESULT_B)),
            ("tool", "text of the first file", Some(RESULT_A)),
            ("tool", "names of the folders", Some(r#"{"tool":{"name":"read","kind":"result"}}"#)),
        ]);
        let order = |of: &[usize]| {
            let found: Vec<&Segment> = of.iter().map(|&at| &segments[at]).collect();
            let order = store.log_order(&found).expect("an order");
            order.into_iter().map(|at| of[at]).collect::<Vec<usize>>()
        };
        assert_eq!(order(&[6, 5, 4, 3, 2, 1, 0]), [0, 1, 5, 2, 4, 3, 6]);
        assert_eq!(order(&[5, 2, 4]), [2, 4, 5]);
        assert_eq!(order(&[3, 0]), [0, 3]);
        assert!(order(&[]).is_empty());
    }

    #[test]
    fn calls_and_results_without_ids_belong_to_the_nearest_of_the_same_tool() {
        let found = companions(&[
            ("tool", "list all the folders", Some(r#"{"tool":{"name":"ls","kind":"call"}}"#)),
            ("tool", "read the first file", Some(r#"{"tool":{"name":"read","kind":"call"}}"#)),
            ("tool", "text of the first file", Some(r#"{"tool":{"name":"read","kind":"result"}}"#)),
            ("tool", "names of the folders", Some(r#"{"tool":{"name":"ls","kind":"result"}}"#)),
        ]);
        let expected =
            ["names of the folders", "text of the first file", "<read the first file", "<list all the folders"];
        assert_eq!(found, expected);
    }

    #[test]
    fn questions_and_answers_belong_together_across_tools() {
        let found = companions(&[
            ("assistant", "hello, I am your assistant", None),
            ("user", "which port has the webhook?", None),
            ("tool", "read the webhook settings", Some(CALL_A)),
            ("tool", "port = 8443 in the settings", Some(RESULT_A)),
            ("assistant", "The webhook listens on port 8443", None),
            ("user", "and where is the gateway?", None),
            ("user", "I mean the blue gateway of it", None),
        ]);
        let question = "<which port has the webhook?";
        let expected = [
            "",
            "The webhook listens on port 8443",
            "port = 8443 in the settings",
            "<read the webhook settings",
            question,
            "",
            "",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn summaries_and_tools_of_other_programs_have_no_companions() {
        let found = companions(&[
            ("user", "which port has the webhook?", None),
            ("assistant", "Summary of what was said before", Some(r#"{"kind":"compactionSummary"}"#)),
            ("tool", "somebody's own tool output", None),
            ("tool", "somebody's other tool output", Some(r#"{"tool":7}"#)),
        ]);
        assert_eq!(found, ["", "", "", ""]);
    }

    #[test]
    fn no_companion_is_given_twice_and_none_that_is_known_or_not_wanted() {
        let (_folder, store, segments) = stored(&[
            ("user", "which port has the webhook?", None),
            ("assistant", "The webhook listens on port 8443", None),
            ("assistant", "and the gateway is the blue one", None),
        ]);
        let contents = |of: &[usize], limit, except: Option<&Digests>| -> Vec<(usize, String)> {
            let of: Vec<&Segment> = of.iter().map(|&at| &segments[at]).collect();
            let found = store.companions(&of, limit, except).expect("they are found");
            found.into_iter().map(|it| (it.of, it.segment.content)).collect()
        };
        let question = (0, segments[0].content.clone());
        assert_eq!(contents(&[1, 2], 9, None), [question]);
        assert_eq!(contents(&[0, 1], 9, None), []);
        assert_eq!(contents(&[1], 0, None), []);
        let mut captured = super::super::Captured::default();
        captured.note(1, [super::super::warm::tier::digest(&segments[0].content)]);
        assert_eq!(contents(&[1], 9, Some(&captured.segments_of([1]))), []);
    }
}
