//! Tests of the invariants of a trim.

use std::collections::HashSet;

use proptest::prelude::*;

use super::relevance::{has_text, scores};
use super::{Layer, Plan, Removed, Request, plan};
use crate::bm25::Bm25Index;
use crate::messages::draft::{call, result, said, text};
use crate::messages::{Conversation, Format, Kind, MessageView, Part, Role, Unit};
use crate::recall::{self, FactItem};
use crate::text::{Estimator, Mode};

fn conversation(views: Vec<MessageView>) -> Conversation {
    Conversation::new(Format::Pi, views)
}

fn calling(id: &str) -> MessageView {
    MessageView::new(Role::Assistant, vec![call(id, "read", "{}")])
}

fn answering(id: &str, body: &str) -> MessageView {
    MessageView::new(Role::Tool, vec![result(id, body)])
}

fn picture() -> MessageView {
    MessageView::new(Role::User, vec![Part { tokens: 50, ..Part::new(Kind::Media, None) }])
}

fn thought() -> MessageView {
    MessageView::new(Role::Assistant, vec![Part { tokens: 20, ..Part::new(Kind::Thinking, None) }])
}

fn recalled(body: &str) -> MessageView {
    let fact = FactItem { kind: "config", content: body, score: 1.0 };
    let request = recall::Request {
        facts: &[fact],
        details: &[],
        companions: &[],
        query: "",
        cap: 1_000,
        excerpt: recall::EXCERPT,
        estimator: Estimator::Script,
        last: &[],
        has_note: true,
    };
    said(Role::User, &recall::build(&request).text)
}

fn summary(body: &str) -> MessageView {
    MessageView { is_summary: true, ..said(Role::User, body) }
}

/// Return a request that protects nothing but what must be.
fn bare(query: &str, limit: u64) -> Request<'_> {
    Request { protected_recent: 0, protects_task: false, ..Request::new(query, limit) }
}

fn reasons(plan: &Plan) -> Vec<(u32, &'static str)> {
    plan.protected.iter().map(|(position, reason)| (*position, reason.name())).collect()
}

fn removed(plan: &Plan) -> Vec<(u32, Layer)> {
    plan.removed.iter().map(|removed| (removed.unit, removed.layer)).collect()
}

#[test]
fn every_protected_message_has_a_reason() {
    let talk = conversation(vec![
        said(Role::System, "you are helpful"),
        summary("Summary of what came before"),
        recalled("port 8443"),
        said(Role::User, "the task"),
        said(Role::Assistant, "on it"),
        said(Role::Other, "?"),
        calling("a"),
        answering("a", "long ago"),
        calling("b"),
        answering("b", "just now"),
        calling("waits"),
        said(Role::Assistant, "pinned"),
        said(Role::User, "next"),
    ]);
    let plan = plan(&talk, &Request { protected_recent: 1, pinned: &[11], ..Request::new("", 0) });
    let expected = [
        (0, "system"),
        (1, "summary"),
        (2, "recalled"),
        (3, "task"),
        (5, "unknown role"),
        (10, "last tool group"),
        (11, "pinned"),
        (12, "recent"),
    ];
    assert_eq!(reasons(&plan), expected);
    assert_eq!(plan.removed_messages(), [4, 6, 7, 8, 9]);
    assert!(!plan.is_deferred);
}

#[test]
fn one_protected_message_protects_its_unit() {
    let views = vec![
        calling("a"),
        answering("a", "found it"),
        calling("b"),
        calling("c"),
        answering("c", "x"),
        said(Role::User, "hm"),
    ];
    let talk = conversation(views);
    let pinned = plan(&talk, &Request { pinned: &[1], ..bare("", 0) });
    let expected = [(0, "same unit"), (1, "pinned"), (2, "unfinished"), (3, "last tool group"), (4, "same unit")];
    assert_eq!(reasons(&pinned), expected);
    assert_eq!(pinned.removed_messages(), [5]);
}

#[test]
fn a_call_of_a_turn_that_was_cut_off_waits_for_nothing() {
    let aborted = MessageView { is_aborted: true, ..calling("a") };
    let talk = conversation(vec![aborted, calling("b"), answering("b", "x"), said(Role::User, "go")]);
    let plan = plan(&talk, &bare("", 0));
    assert_eq!(plan.removed_messages(), [0, 3]);
}

#[test]
fn tool_results_and_our_blocks_do_not_count_as_recent() {
    let talk = conversation(vec![
        said(Role::User, "one"),
        said(Role::Assistant, "two"),
        said(Role::User, "three"),
        recalled("block"),
        answering("lost", "no call"),
    ]);
    let plan = plan(&talk, &Request { protected_recent: 2, protects_task: false, ..Request::new("", 0) });
    assert_eq!(reasons(&plan), [(1, "recent"), (2, "recent"), (3, "recalled")]);
}

#[test]
fn the_items_of_one_answer_count_as_one_message() {
    let views = vec![
        said(Role::User, "task"),
        said(Role::Assistant, "old"),
        said(Role::User, "next"),
        thought(),
        calling("a"),
        calling("b"),
        answering("a", "x"),
        answering("b", "y"),
    ];
    let request = Request { protected_recent: 2, ..Request::new("", 0) };
    let responses = plan(&Conversation::new(Format::Responses, views.clone()), &request);
    assert_eq!(responses.removed_messages(), [1], "the answer and the question before it");
    let chat = plan(&conversation(views), &request);
    assert_eq!(chat.removed_messages(), [1, 2], "two messages");
}

#[test]
fn the_least_relevant_leaves_first_and_the_oldest_among_equals() {
    let talk = conversation(vec![
        said(Role::User, "the webhook listens on port 8443"),
        said(Role::Assistant, "weather talk, nothing else"),
        said(Role::User, "more weather talk, nothing else"),
        said(Role::Assistant, "the webhook port"),
    ]);
    let tokens = talk.tokens();
    let one = plan(&talk, &bare("webhook port 8443", tokens - 1));
    assert_eq!(removed(&one), [(1, Layer::Relevance)], "it stops at the target");
    let all = plan(&talk, &Request { target: 0, ..bare("webhook port 8443", tokens - 1) });
    let order: Vec<u32> = all.removed.iter().map(|removed| removed.unit).collect();
    assert_eq!(order[..2], [1, 2]);
    assert!(all.removed[2].score > 0.0);
    assert_eq!(
        plan(&talk, &Request { target: 0, ..bare("webhook port 8443", tokens) }).removed,
        [],
        "within the limit"
    );
}

#[test]
fn units_without_text_leave_last_and_by_age() {
    let talk = conversation(vec![picture(), said(Role::User, "   "), said(Role::User, "words here"), picture()]);
    let all = plan(&talk, &bare("words", 0));
    let expected = [(2, Layer::Relevance), (0, Layer::Age), (1, Layer::Age), (3, Layer::Age)];
    assert_eq!(removed(&all), expected);
}

#[test]
fn without_a_query_age_decides() {
    let talk = conversation(vec![picture(), said(Role::User, "words"), said(Role::User, "more words")]);
    for query in ["", "ab", "  ab \n"] {
        let plan = plan(&talk, &bare(query, talk.tokens() - 51));
        assert_eq!(removed(&plan), [(0, Layer::Age)], "{query:?}");
    }
}

#[test]
fn a_trim_waits_while_tools_run() {
    let views = vec![said(Role::User, "task"), said(Role::Assistant, "old words"), calling("a"), answering("a", "x")];
    let talk = conversation(views.clone());
    let request = Request { target: 0, ceiling: Some(talk.tokens()), ..bare("task", 1) };
    let waits = plan(&talk, &request);
    assert!(waits.is_deferred && waits.removed.is_empty());
    let overflows = plan(&talk, &Request { ceiling: Some(talk.tokens() - 1), ..request });
    assert!(!overflows.is_deferred && !overflows.removed.is_empty());
    assert!(!plan(&talk, &Request { ceiling: None, ..request }).is_deferred);
    assert!(!plan(&talk, &Request { limit: talk.tokens(), ..request }).is_deferred, "none is due");

    let with = |more: MessageView| conversation(views.iter().cloned().chain([more]).collect());
    let request = Request { ceiling: Some(u64::MAX), ..request };
    assert!(plan(&with(calling("b")), &request).is_deferred, "a call waits");
    assert!(plan(&with(recalled("block")), &request).is_deferred, "our block does not speak");
    assert!(!plan(&with(said(Role::Assistant, "done")), &request).is_deferred);
    assert!(!plan(&with(said(Role::User, "stop")), &request).is_deferred);
}

#[test]
fn units_trimmed_before_leave_at_any_size() {
    let talk = conversation(vec![said(Role::User, "task"), said(Role::User, "old"), said(Role::User, "new")]);
    let keys: Vec<u64> = talk.units.iter().map(|unit| unit.key).collect();
    let request = Request { protected_recent: 1, sticky: &keys, ..Request::new("new", u64::MAX) };
    let plan = plan(&talk, &request);
    assert_eq!(removed(&plan), [(1, Layer::Sticky)], "the others are protected now");
    assert_eq!(plan.tokens_after, talk.tokens() - talk.units[1].tokens);
}

#[test]
fn the_host_may_count_otherwise() {
    let talk = conversation(vec![said(Role::User, "short"), said(Role::User, &"long ".repeat(100))]);
    let request = Request { costs: Some(&[90, 10]), ..bare("", 50) };
    let plan = plan(&talk, &request);
    assert_eq!((plan.tokens_before, plan.tokens_after, plan.removed_messages()), (100, 10, vec![0]));
}

const WORDS: [&str; 9] = ["port", "webhook", "the", "飞书消息", "parseHTTPHeader", "x_y", "", "!!", "ok"];

fn body() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..12).prop_map(|words| words.join(" "))
}

fn view() -> impl Strategy<Value = MessageView> {
    let role = prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Other]);
    let id = prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        6 => (prop::sample::select(vec![Role::User, Role::Assistant]), body()).prop_map(|(role, body)| said(role, &body)),
        1 => (role, body()).prop_map(|(role, body)| said(role, &body)),
        3 => id.clone().prop_map(calling),
        4 => (id, body()).prop_map(|(id, body)| answering(id, &body)),
        1 => Just(picture()),
        1 => Just(thought()),
        1 => body().prop_map(|body| recalled(&body)),
        1 => body().prop_map(|body| summary(&body)),
    ]
}

fn talk() -> impl Strategy<Value = Conversation> {
    let format = prop::sample::select(vec![Format::Pi, Format::Responses]);
    (format, prop::collection::vec(view(), 0..40)).prop_map(|(format, views)| Conversation::new(format, views))
}

#[test]
fn many_threads_count_as_one_does() {
    // So long that it is read in as many threads as there are processors.
    let body = |number: usize| {
        let words = (0..4000).map(|position| WORDS[(number + position * position) % WORDS.len()]);
        words.collect::<Vec<_>>().join(" ")
    };
    let talk = conversation((0..90).map(|number| said(Role::User, &body(number))).collect());
    let units: Vec<&Unit> = talk.units.iter().collect();
    let new = scores(&units, &talk.views, "the webhook 飞书");
    assert_eq!(scores(&units, &talk.views, "the webhook 飞书"), new, "what was read is counted in one thread");
    assert!(new.iter().all(|&score| score > 0.0));
}

/// Return the rest of a conversation.
fn rest(talk: &Conversation, plan: &Plan) -> Conversation {
    talk.without(&plan.removed_messages())
}

#[test]
fn corrected_messages_leave_first() {
    let filler =
        |at: usize| said(Role::Assistant, &format!("{} {at}", "the oven was cleaned and the table moved ".repeat(12)));
    let mut views = vec![said(Role::User, "Help me with the office.")];
    views.extend([
        said(Role::User, "The projector in room Lisbon is an Alpha 15."),
        said(Role::Assistant, "The projector in room Lisbon is an Alpha 15."),
        said(Role::User, "The printer is on the second floor."),
    ]);
    views.extend((0..6).map(filler));
    views
        .push(said(Role::User, "Sorry, I was wrong: the projector in room Lisbon is not an Alpha 15 but an Alpha 25."));
    views.push(filler(6));
    let talk = conversation(views);
    let request = Request { spares_people: true, target: 700, ..bare("Which projector is in room Lisbon?", 700) };
    let plan = plan(&talk, &request);
    assert_eq!(removed(&plan)[..2], [(1, Layer::Replaced), (2, Layer::Replaced)]);
    assert!(removed(&plan)[2..].iter().all(|(_, layer)| *layer == Layer::Relevance), "{plan:?}");
    let unspared = super::plan(&talk, &Request { spares_people: false, ..request });
    assert!(
        removed(&unspared).iter().all(|(_, layer)| *layer != Layer::Replaced),
        "OpenClaw's trim knows no corrections"
    );
}

proptest! {
    #[test]
    fn scores_are_those_of_an_index_of_the_same_texts(
        documents in prop::collection::vec(prop::collection::vec(body(), 0..4), 0..20),
        query in body(),
    ) {
        let parts = |bodies: &Vec<String>| bodies.iter().map(|body| Part::new(Kind::Text, Some(text(body)))).collect::<Vec<_>>();
        let talk = conversation(documents.iter().map(|bodies| MessageView::new(Role::User, parts(bodies))).collect());
        let units: Vec<&Unit> = talk.units.iter().collect();
        let mut index = Bm25Index::new(Mode::Memctx);
        for (number, bodies) in documents.iter().enumerate() {
            index.add(&number.to_string(), &bodies.join("\n\n"), "").expect("there is room");
        }
        for (number, score) in scores(&units, &talk.views, &query).into_iter().enumerate() {
            let expected = index.explain(&query, &number.to_string()).expect("it was added").value;
            prop_assert!((score - expected).abs() < 1e-9, "{}: {score} and {expected}", number);
        }
    }

    #[test]
    fn trimming_keeps_its_invariants(
        talk in talk(),
        query in body(),
        limit in 0..400_u64,
        target in 0..400_u64,
        ceiling in prop::option::of(0..600_u64),
        protected_recent in 0..8_usize,
        protects_task: bool,
        spares_people: bool,
        pinned in prop::collection::vec(0..60_u32, 0..3),
        sticky in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let sticky: Vec<u64> = sticky
            .iter()
            .filter(|_| !talk.units.is_empty())
            .map(|index| talk.units[index.index(talk.units.len())].key)
            .collect();
        let (pinned, sticky, target) = (&pinned[..], &sticky[..], target.min(limit));
        let costs = None;
        let request = Request {
            query: &query, limit, target, ceiling, protected_recent, protects_task, spares_people, pinned, sticky, costs,
        };
        let made = plan(&talk, &request);
        prop_assert_eq!(&made, &plan(&talk, &request), "the same every time");

        let protected: HashSet<u32> = made.protected.iter().map(|(position, _)| *position).collect();
        let gone = made.removed_messages();
        prop_assert!(gone.iter().all(|position| !protected.contains(position)));
        prop_assert!(gone.windows(2).all(|pair| pair[0] < pair[1]), "each leaves once");
        for removed in &made.removed {
            let unit = &talk.units[removed.unit as usize];
            prop_assert_eq!((&removed.messages, removed.key, removed.tokens), (&unit.messages, unit.key, unit.tokens));
        }

        let left: u64 = rest(&talk, &made).tokens();
        prop_assert_eq!((made.tokens_before, made.tokens_after), (talk.tokens(), left));
        let free = |unit: &&Unit| unit.messages.iter().all(|position| !protected.contains(position));
        let free: Vec<_> = talk.units.iter().filter(free).collect();
        for unit in free.iter().filter(|unit| sticky.contains(&unit.key)) {
            prop_assert!(gone.contains(&unit.messages[0]), "sticky stays out");
        }

        let by_need: Vec<_> = made.removed.iter().filter(|removed| removed.layer != Layer::Sticky).collect();
        let before_need = left + by_need.iter().map(|removed| removed.tokens).sum::<u64>();
        if made.is_deferred || before_need <= limit {
            prop_assert!(by_need.is_empty());
        } else {
            prop_assert!(left <= target || made.removed.len() == free.len(), "under the target where that can be");
            prop_assert!(by_need.last().is_none_or(|last| left + last.tokens > target), "and no further");
        }
        prop_assert_eq!(made.is_deferred, made.is_deferred && before_need > limit && ceiling >= Some(before_need));
        let order = by_need.windows(2).all(|pair| {
            let is_said = |removed: &Removed| {
                let is_person = |&position: &u32| talk.views[position as usize].is_person();
                removed.tokens <= 256 && removed.messages.iter().all(is_person)
            };
            let said = [pair[0], pair[1]].map(|removed| spares_people && is_said(removed));
            let layers = (pair[0].layer, pair[1].layer);
            let is_older = pair[0].unit < pair[1].unit;
            let is_fresh = |removed: &Removed| spares_people && talk.units[removed.unit as usize].is_group;
            let fresh = [pair[0], pair[1]].map(is_fresh);
            match layers {
                (Layer::Relevance, Layer::Relevance) if said == [false, true] => true,
                (Layer::Relevance, Layer::Relevance) if said == [true, false] => pair[0].score < pair[1].score,
                // Tool output leads by its place, and leads nothing that is as relevant and newer.
                (Layer::Relevance, Layer::Relevance) if fresh == [false, true] => true,
                (Layer::Relevance, Layer::Relevance) if fresh == [true, true] => {
                    is_older || pair[0].score < pair[1].score
                }
                (Layer::Relevance, Layer::Relevance) => (pair[0].score, pair[0].unit) < (pair[1].score, pair[1].unit),
                (Layer::Age, Layer::Age) => said != [true, false] && (said[0] != said[1] || is_older),
                (Layer::Relevance, Layer::Age) => !has_text(&talk.units[pair[1].unit as usize], &talk.views),
                _ => false,
            }
        });
        prop_assert!(order, "{:?}", by_need);
    }

    #[test]
    fn trimming_again_changes_nothing(
        talk in talk(),
        query in body(),
        limit in 0..400_u64,
        target in 0..400_u64,
        protected_recent in 0..8_usize,
    ) {
        let request = Request { target: target.min(limit), protected_recent, ..Request::new(&query, limit) };
        let first = plan(&talk, &request);
        let rest = rest(&talk, &first);
        let second = plan(&rest, &request);
        prop_assert_eq!(&second.removed, &[]);
        // What was trimmed stays so next turn, whatever is asked, and the rest is distinguished from it.
        let sticky: Vec<u64> = first.removed.iter().map(|removed| removed.key).collect();
        let next = plan(&talk, &Request { sticky: &sticky, query: "", ..request });
        prop_assert_eq!(next.removed_messages(), first.removed_messages());
    }

    #[test]
    fn pairs_stay_together(talk in talk(), limit in 0..400_u64) {
        let gone = plan(&talk, &Request::new("port", limit)).removed_messages();
        for (position, view) in talk.views.iter().enumerate() {
            for answer in view.results() {
                let asks = |view: &MessageView| view.calls().any(|call| call.id == answer.id);
                if let Some(caller) = talk.views[..position].iter().rposition(asks) {
                    prop_assert_eq!(gone.contains(&(caller as u32)), gone.contains(&(position as u32)));
                }
            }
        }
    }
}

#[test]
fn short_messages_of_a_person_leave_last_unless_an_answer_is_more_relevant() {
    let views = vec![
        said(Role::User, "the task"),
        said(Role::User, "deploy on Friday"),
        said(Role::Assistant, "a long answer on ports and other things"),
        said(Role::Assistant, "a long answer on gardens and birds"),
        said(Role::User, &"a pasted log ".repeat(200)),
        said(Role::Assistant, "the last word"),
    ];
    let conversation = Conversation::new(Format::OpenAi, views);
    // The target is met as soon as these have left.
    let left = |query, leaving: &[usize]| {
        let target = conversation.tokens() - leaving.iter().map(|&unit| conversation.units[unit].tokens).sum::<u64>();
        let request = Request { protected_recent: 1, target, spares_people: true, ..Request::new(query, target) };
        plan(&conversation, &request).removed_messages()
    };
    assert_eq!(left("which ports?", &[3, 4]), [3, 4], "the model's chatter leaves before a person's");
    assert_eq!(left("which ports?", &[1, 3, 4]), [1, 3, 4], "all chatter leaves before the answer");
    assert_eq!(left("no word of this", &[2, 3, 4]), [2, 3, 4], "where nothing is relevant");
    assert_eq!(left("", &[2, 3, 4]), [2, 3, 4], "by age");
}
