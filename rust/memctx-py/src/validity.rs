//! Functions of `memctx.validate` and `memctx.repair`.

use memctx_core::messages::{self, Answer, MessageView, Step};
use pyo3::prelude::*;

use crate::boundary::enter_core;
use crate::conversation::Conversation;

type Problem = (u32, &'static str, String, Option<String>);
/// Result: the index of its message, its ordinal, whether it exists; if not, the id and the name of its call.
type Result = (u32, u32, bool, Option<String>, Option<String>);
type Layer = (&'static str, Option<u32>, Vec<Result>);
type Change = (u32, u32, &'static str, String, Option<String>);

/// Return the problems that a provider would refuse, in the order of the messages.
#[pyfunction]
pub(crate) fn problems(py: Python<'_>, conversation: &Conversation) -> PyResult<Vec<Problem>> {
    enter_core(py, || {
        let found = messages::problems(&conversation.0).into_iter();
        Ok(found.map(|found| (found.index, found.rule.code(), found.message(), found.id.map(String::from))).collect())
    })
}

/// Plan the repair of a conversation; None if nothing is wrong.
#[pyfunction]
pub(crate) fn repair_plan(py: Python<'_>, conversation: &Conversation) -> PyResult<Option<(Vec<Layer>, Vec<Change>)>> {
    enter_core(py, || {
        Ok(messages::repair(&conversation.0).map(|plan| {
            let steps = plan.steps.iter().map(|step| layer(&conversation.0.views, step)).collect();
            let changes = plan.changes.into_iter();
            let change = |change: messages::Change| {
                (change.index, change.ordinal, change.repair.code(), change.message(), change.id.map(String::from))
            };
            (steps, changes.map(change).collect())
        }))
    })
}

fn layer(views: &[MessageView], step: &Step) -> Layer {
    match step {
        Step::Keep(view) => ("keep", Some(*view), Vec::new()),
        Step::Hold(view) => ("hold", Some(*view), Vec::new()),
        Step::Answer(view, answers) => ("answer", *view, answers.iter().map(|answer| result(views, *answer)).collect()),
    }
}

fn result(views: &[MessageView], answer: Answer) -> Result {
    match answer {
        Answer::Given(view, ordinal) => (view, ordinal, true, None, None),
        Answer::Missing(view, ordinal) => {
            let call = views[view as usize].calls().nth(ordinal as usize);
            let id = call.and_then(messages::Part::own_id).map(str::to_owned);
            let name = call.and_then(|call| call.name.as_deref()).map(str::to_owned);
            (view, ordinal, false, id, name)
        }
    }
}
