//! Tests of the invariants of pruning.

use std::sync::Arc;

use proptest::prelude::*;
use rustc_hash::FxHashMap;

use super::{Cut, Form, Globs, Mode, Note, Overflow, Pruned, Request, plan, truncate_results};
use crate::messages::draft::{call, result, said};
use crate::messages::{Conversation, Format, Kind, MessageView, Part, Role};
use crate::text::{Estimator, weighted_len};

fn conversation(views: Vec<MessageView>) -> Conversation {
    Conversation::new(Format::Anthropic, views)
}

/// Return a call of a tool and its answer.
fn exchange(id: &str, name: &str, body: &str) -> [MessageView; 2] {
    let asking = MessageView::new(Role::Assistant, vec![call(id, name, "{}")]);
    [asking, MessageView::new(Role::Tool, vec![result(id, body)])]
}

/// Return a task, exchanges with answers of so many characters, and so many closing words of the model.
fn talk(lengths: &[usize], closing: usize) -> Conversation {
    let mut views = vec![said(Role::User, "task")];
    for (number, &length) in lengths.iter().enumerate() {
        views.extend(exchange(&format!("call_{number}"), "read", &"x".repeat(length)));
    }
    views.extend((0..closing).map(|_| said(Role::Assistant, "done")));
    conversation(views)
}

fn forms(pruned: &[Pruned]) -> Vec<(u32, Form)> {
    pruned.iter().map(|pruned| (pruned.message, pruned.form)).collect()
}

fn sticky(pruned: &[Pruned]) -> FxHashMap<u64, Form> {
    pruned.iter().map(|pruned| (pruned.key, pruned.form)).collect()
}

/// Return the conversation as it is sent.
fn sent(talk: &Conversation, pruned: &[Pruned]) -> Conversation {
    let mut views = talk.views.clone();
    for change in pruned {
        let view = &mut views[change.message as usize];
        let mut parts = view.parts.to_vec();
        let indices: Vec<usize> = (0..parts.len()).filter(|&at| parts[at].kind == Kind::Result).collect();
        let part = &mut parts[indices[change.ordinal as usize]];
        *part = Part { name: part.name.clone(), ..result(part.id.as_deref().unwrap_or_default(), &change.text) };
        *view = MessageView { is_recalled: view.is_recalled, ..MessageView::new(view.role, parts) };
    }
    Conversation::new(talk.format, views)
}

#[test]
fn below_the_first_ratio_no_result_is_pruned() {
    let talk = talk(&[10_000], 3);
    let chars = 10_000 + 4 + 3 * 4 + 2;
    let request = |window| Request::new(Mode::Adaptive, window);
    assert_eq!(plan(&talk, &request(chars * 10 / 4 / 3 + 2)), []);
    assert_eq!(forms(&plan(&talk, &request(chars * 10 / 4 / 3 - 2))), [(2, Form::Soft)]);
}

#[test]
fn long_results_are_shortened_and_short_ones_left() {
    let talk = talk(&[4000, 4001, 30], 3);
    let pruned = plan(&talk, &Request::new(Mode::Adaptive, 1000));
    assert_eq!(forms(&pruned), [(4, Form::Soft)], "below the least that is worth clearing");
    let head = "x".repeat(1500);
    let note = "[Tool result shortened: the first 1500 and the last 1500 of 4001 characters are kept.]";
    assert_eq!(pruned[0].text, format!("{head}\n...\n{head}\n\n{note}"));
    assert_eq!(pruned[0].tokens_before as usize, Estimator::Script.estimate(&"x".repeat(4001)));
    assert_eq!(pruned[0].tokens_after as usize, Estimator::Script.estimate(&pruned[0].text));
}

#[test]
fn the_oldest_are_cleared_until_the_share_is_below() {
    let talk = talk(&[20_000, 20_000, 20_000, 20], 3);
    let request = Request { min_prunable_tool_chars: 9000, ..Request::new(Mode::Adaptive, 4000) };
    let expected = [(2, Form::Clear), (4, Form::Soft), (6, Form::Soft)];
    assert_eq!(forms(&plan(&talk, &request)), expected, "9.3k of 16k characters, then 6.2k");
    let off = Request { hard_clear: false, ..request.clone() };
    assert_eq!(forms(&plan(&talk, &off)), [(2, Form::Soft), (4, Form::Soft), (6, Form::Soft)]);
    let tight = Request { context_window: 1700, ..request.clone() };
    let cleared = plan(&talk, &tight);
    assert_eq!(
        forms(&cleared),
        [(2, Form::Clear), (4, Form::Clear), (6, Form::Soft)],
        "6.2k of 6.8k characters, then 3.2k"
    );
    let few = Request { min_prunable_tool_chars: 50_000, ..tight };
    assert_eq!(plan(&talk, &few).iter().filter(|pruned| pruned.form == Form::Clear).count(), 0);
    assert_eq!(cleared[0].text, "[Old tool result content cleared]");
}

#[test]
fn aggressive_clears_all_that_is_old_at_once() {
    let talk = talk(&[100, 30, 5000], 3);
    let request = Request { hard_clear: false, ..Request::new(Mode::Aggressive, 1_000_000) };
    assert_eq!(forms(&plan(&talk, &request)), [(2, Form::Clear), (6, Form::Clear)], "30 characters are shorter");
    assert_eq!(plan(&talk, &Request::new(Mode::Off, 1)), []);
}

#[test]
fn cache_ttl_waits_until_the_cache_is_cold() {
    let talk = talk(&[10_000], 3);
    let warm = Request::new(Mode::CacheTtl, 1000);
    assert_eq!(plan(&talk, &warm), []);
    let cold = plan(&talk, &Request { is_cold: true, ..warm.clone() });
    assert_eq!(forms(&cold), [(2, Form::Soft)]);
    assert_eq!(plan(&talk, &Request { sticky: sticky(&cold), ..warm }), cold, "and again while it is warm");
}

#[test]
fn an_overflow_is_shortened_oldest_first_and_then_the_longest() {
    let talk = talk(&[20_000, 9000, 90_000], 0);
    let overflow = |above_target, above_limit, removed: &[u32]| Request {
        overflow: Some(Overflow { above_target, above_limit, removed: removed.to_vec() }),
        ..Request::new(Mode::CacheTtl, 10_000)
    };
    assert_eq!(forms(&plan(&talk, &overflow(10, 5, &[]))), [(2, Form::Soft)]);
    assert_eq!(forms(&plan(&talk, &overflow(10, 5, &[1, 2]))), [(4, Form::Soft)], "what is removed saves nothing");
    let pruned = plan(&talk, &overflow(25_000, 15_000, &[]));
    let [(2, Form::Soft), (4, Form::Soft), (6, newest @ Form::Fitted(chars))] = forms(&pruned)[..] else {
        panic!("{:?}", forms(&pruned))
    };
    assert!(chars > 3000, "as much as fits of what the model has not seen");
    let saved: u32 = pruned.iter().map(|pruned| pruned.tokens_before - pruned.tokens_after).sum();
    assert!((20_000..20_100).contains(&saved), "halfway between target and limit, not {saved}");
    assert_eq!(Form::parse(&newest.name()).ok(), Some(newest));
    let again = Request { sticky: sticky(&pruned), ..Request::new(Mode::CacheTtl, 10_000) };
    assert_eq!(plan(&talk, &again), pruned, "in every later turn");
    let cold = plan(&talk, &Request { is_cold: true, keep_last_assistants: 0, ..again.clone() });
    assert_eq!(forms(&cold)[2], (6, Form::Soft), "and shorter once it is old");
    assert_eq!(plan(&talk, &Request { mode: Mode::Off, ..overflow(25_000, 15_000, &[]) }), []);
}

#[test]
fn results_after_the_last_answers_are_left_alone() {
    let old = |keep| Request { keep_last_assistants: keep, ..Request::new(Mode::Aggressive, 1000) };
    let talk = talk(&[100, 100, 100], 0);
    assert_eq!(forms(&plan(&talk, &old(0))).len(), 3);
    assert_eq!(forms(&plan(&talk, &old(1))), [(2, Form::Clear), (4, Form::Clear)]);
    assert_eq!(forms(&plan(&talk, &old(3))), []);
    assert_eq!(forms(&plan(&talk, &old(4))), [], "there are fewer answers than that");
}

#[test]
fn items_of_one_answer_are_one_answer() {
    let mut views = vec![said(Role::User, "task")];
    for id in ["a", "b"] {
        views.push(MessageView::new(Role::Assistant, vec![Part::new(Kind::Thinking, None)]));
        views.extend(exchange(id, "read", &"x".repeat(100)));
    }
    let request = Request { keep_last_assistants: 2, ..Request::new(Mode::Aggressive, 1000) };
    assert_eq!(plan(&Conversation::new(Format::Responses, views.clone()), &request), []);
    assert_eq!(forms(&plan(&Conversation::new(Format::Pi, views), &request)), [(3, Form::Clear)]);
}

#[test]
fn nothing_before_the_first_user_message_is_touched() {
    let mut views = Vec::from(exchange("a", "read", &"x".repeat(100)));
    let request = Request { keep_last_assistants: 0, ..Request::new(Mode::Aggressive, 1000) };
    assert_eq!(plan(&conversation(views.clone()), &request), []);
    views.push(said(Role::User, "task"));
    views.extend(exchange("b", "read", &"x".repeat(100)));
    assert_eq!(forms(&plan(&conversation(views), &request)), [(4, Form::Clear)]);
}

#[test]
fn pictures_are_never_cut_and_tools_are_chosen() {
    let mut views = vec![said(Role::User, "task")];
    for (id, name) in [("a", "read"), ("b", "Bash"), ("c", "web_fetch")] {
        views.extend(exchange(id, name, &"x".repeat(100)));
    }
    views.extend((0..3).map(|_| said(Role::Assistant, "done")));
    let request = Request::new(Mode::Aggressive, 1000);
    let with = |allow: &[&str], deny: &[&str]| Request { tools: Globs::new(allow, deny), ..request.clone() };
    let indices = |views: &[MessageView], request: &Request| -> Vec<u32> {
        plan(&conversation(views.to_vec()), request).iter().map(|pruned| pruned.message).collect()
    };
    assert_eq!(indices(&views, &with(&["BASH", "web*"], &[])), [4, 6]);
    assert_eq!(indices(&views, &with(&["*"], &["bash"])), [2, 6]);
    Arc::make_mut(&mut views[2].parts)[0].has_media = true;
    assert_eq!(indices(&views, &request), [4, 6]);
}

#[test]
fn a_character_of_chinese_counts_as_a_token() {
    let mut views = vec![said(Role::User, "任务")];
    views.extend(exchange("a", "read", &"飞书消息".repeat(1250)));
    views.extend((0..3).map(|_| said(Role::Assistant, "done")));
    let request = |window| Request::new(Mode::Adaptive, window);
    assert_eq!(
        forms(&plan(&conversation(views.clone()), &request(16_000))),
        [(2, Form::Soft)],
        "5,000 of 16,000 tokens"
    );
    assert_eq!(plan(&conversation(views), &request(17_000)), []);
}

#[test]
fn a_result_that_only_looks_like_one_that_was_pruned_is_left_alone() {
    let body = "x".repeat(5000);
    let mut views = vec![said(Role::User, "task")];
    views.extend(exchange("call_0", "read", &body));
    views.push(said(Role::User, "again"));
    let request = Request { keep_last_assistants: 1, ..Request::new(Mode::Aggressive, 1000) };
    views.push(said(Role::Assistant, "done"));
    let first = plan(&conversation(views.clone()), &request);
    assert_eq!(forms(&first), [(2, Form::Clear)]);
    views.extend(exchange("call_0", "read", &body));
    let request = Request { sticky: sticky(&first), ..request };
    assert_eq!(plan(&conversation(views.clone()), &request), first, "the same id and text, but another result");
    views.remove(2);
    assert_eq!(plan(&conversation(views), &request), [], "the model has not answered it yet");
}

#[test]
fn new_results_are_truncated() {
    let cut = Cut { max_chars: 200, head_chars: 10, tail_chars: 10 };
    let born = MessageView::new(Role::Tool, vec![result("a", "short"), result("b", &"long ".repeat(100))]);
    let found = truncate_results(&conversation(vec![born]), cut);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].message, found[0].ordinal, found[0].whole.body().len()), (0, 1, 500));
    assert_eq!(Some(&found[0].text), cut.apply(&"long ".repeat(100), Note::BeforeFirstSend).as_ref());
}

fn views() -> impl Strategy<Value = Vec<MessageView>> {
    let id = prop::sample::select(vec!["call_0", "call_1", "call_2"]);
    let name = prop::sample::select(vec!["read", "Bash"]);
    let body = (prop::sample::select(vec!["x", "飞", "😀", "word "]), 0..400_usize);
    let body = body.prop_map(|(unit, times)| unit.repeat(times));
    let step = prop_oneof![
        2 => Just(vec![said(Role::User, "go on")]),
        2 => Just(vec![said(Role::Assistant, "done")]),
        1 => Just(vec![MessageView { is_recalled: true, ..said(Role::User, "block") }]),
        6 => (id, name, body, any::<bool>()).prop_map(|(id, name, body, has_media)| {
            let mut views = exchange(id, name, &body);
            Arc::make_mut(&mut views[1].parts)[0].has_media = has_media && body.len() % 3 == 0;
            views.to_vec()
        }),
    ];
    prop::collection::vec(step, 0..14).prop_map(|steps| steps.concat())
}

fn request() -> impl Strategy<Value = Request> {
    let mode = prop::sample::select(vec![Mode::CacheTtl, Mode::Adaptive, Mode::Aggressive]);
    let numbers = (1..1500_u64, 0..4_usize, 0.0..1.0_f64, 0.0..1.0_f64, 0..2000_u64);
    let cut = (0..600_usize, 0..200_usize, 0..200_usize);
    (mode, numbers, cut, any::<[bool; 2]>()).prop_map(|(mode, numbers, cut, [hard_clear, is_cold])| {
        let (window, keep_last_assistants, soft_trim_ratio, hard_clear_ratio, min_prunable_tool_chars) = numbers;
        let (max_chars, head_chars, tail_chars) = cut;
        let cut = Cut { max_chars, head_chars, tail_chars };
        Request {
            keep_last_assistants,
            soft_trim_ratio,
            hard_clear_ratio,
            min_prunable_tool_chars,
            cut,
            hard_clear,
            is_cold,
            ..Request::new(mode, window)
        }
    })
}

proptest! {
    #[test]
    fn pruning_keeps_its_invariants(views in views(), request in request()) {
        let talk = conversation(views);
        let pruned = plan(&talk, &request);
        prop_assert_eq!(&pruned, &plan(&talk, &request), "the same every time");
        for change in &pruned {
            let part = talk.views[change.message as usize].results().nth(change.ordinal as usize).expect("it is there");
            prop_assert!(!part.has_media);
            let whole = part.text.as_ref().expect("it has a text").body();
            prop_assert!(weighted_len(&change.text) < weighted_len(whole) || change.text.len() < whole.len());
        }
        let keys: std::collections::HashSet<u64> = pruned.iter().map(|pruned| pruned.key).collect();
        prop_assert_eq!(keys.len(), pruned.len(), "every result has a key of its own");
        let again = plan(&sent(&talk, &pruned), &request);
        prop_assert_eq!(again, [], "pruning again changes nothing");
    }

    #[test]
    fn pruned_results_stay_the_same(views in views(), more in views(), request in request(), window in 1..9000_u64) {
        let first = plan(&conversation(views.clone()), &request);
        let grown = views.iter().cloned().chain(more).collect();
        let later = Request { context_window: window, is_cold: false, sticky: sticky(&first), ..request };
        let second = plan(&conversation(grown), &later);
        for change in &first {
            prop_assert!(second.contains(change), "{:?}", change);
        }
    }
}
