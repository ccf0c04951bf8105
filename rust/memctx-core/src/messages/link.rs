//! Links from results to calls: names of tools, and ids where the host gave none.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::view::MessageView;

/// The calls of the messages so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    /// The names of their tools by their ids.
    names: FxHashMap<Arc<str>, Arc<str>>,
    /// Name and id of those of the last message with calls that no result without an id has answered.
    waiting: Vec<(Arc<str>, Arc<str>)>,
}

impl Calls {
    /// Give the results of the next message the names of their calls, and, where they have no id, that of the first
    /// call of their name that waits.
    ///
    /// This comes after the keys, which say nothing of other messages.
    pub(super) fn link(&mut self, view: &mut MessageView) {
        if view.calls().next().is_some() {
            self.waiting.clear();
        }
        for index in 0..view.parts.len() {
            let part = &view.parts[index];
            if part.is_call() {
                let (Some(id), Some(name)) = (&part.id, &part.name) else { continue };
                self.names.insert(Arc::clone(id), Arc::clone(name));
                self.waiting.push((Arc::clone(name), Arc::clone(id)));
            } else if part.is_result() {
                let mut id = part.id.clone();
                if id.is_none() && !part.is_server {
                    let call = self.waiting.iter().position(|(name, _)| Some(name) == part.name.as_ref());
                    id = call.map(|call| self.waiting.remove(call).1);
                }
                let name = part.name.clone().or_else(|| id.as_ref().and_then(|id| self.names.get(id)).cloned());
                if (id.is_some(), name.is_some()) != (part.id.is_some(), part.name.is_some()) {
                    let part = &mut Arc::make_mut(&mut view.parts)[index];
                    (part.id, part.name) = (id, name);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::draft::{call, result};
    use crate::messages::{Part, Role};

    fn link(views: &mut [MessageView]) {
        let mut calls = Calls::default();
        for view in views {
            calls.link(view);
        }
    }

    fn nameless(id: Option<&str>, name: Option<&str>) -> Part {
        Part { id: id.map(Into::into), name: name.map(Into::into), ..result("", "done") }
    }

    #[test]
    fn results_learn_the_names_of_their_calls() {
        let mut views = [
            MessageView::new(Role::Assistant, vec![call("a", "read", "{}"), call("b", "write", "{}")]),
            MessageView::new(Role::Tool, vec![nameless(Some("b"), None), nameless(Some("c"), None)]),
        ];
        let key = views[1].key;
        link(&mut views);
        let names: Vec<_> = views[1].parts.iter().map(|part| part.name.as_deref()).collect();
        assert_eq!(names, [Some("write"), None]);
        assert_eq!(views[1].key, key);
    }

    #[test]
    fn results_without_an_id_answer_in_the_order_of_the_calls() {
        let mut views = [
            MessageView::new(
                Role::Assistant,
                vec![call("1", "read", "{}"), call("2", "look", "{}"), call("3", "read", "{}")],
            ),
            MessageView::new(
                Role::Tool,
                ["read", "read", "look", "read"].map(|name| nameless(None, Some(name))).to_vec(),
            ),
        ];
        link(&mut views);
        let ids: Vec<_> = views[1].parts.iter().map(|part| part.id.as_deref()).collect();
        assert_eq!(ids, [Some("1"), Some("3"), Some("2"), None]);
    }
}
