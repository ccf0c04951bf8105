//! Messages of unsupported libraries, and advice for their users.

use std::sync::{Mutex, PoisonError};

use memctx_core::messages::Format;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use rustc_hash::FxHashMap;

use super::draft::Unsupported;
use super::node::{Node, has, spelled, text};
use crate::error::MessageFormatError;

/// A library whose messages are no provider's.
struct Library {
    name: &'static str,
    /// The packages that its classes are in.
    packages: &'static [&'static str],
    remedy: &'static str,
}

const LANGCHAIN: Library = Library {
    name: "LangChain",
    packages: &["langchain_core", "langchain", "langchain_classic", "langgraph"],
    remedy: "use `memctx.integrations.langchain`, or pass `langchain_core.messages.convert_to_openai_messages(messages)`",
};
const LLAMA_INDEX: Library = Library {
    name: "LlamaIndex",
    packages: &["llama_index"],
    remedy: "use `memctx.integrations.llama_index`, or pass `llama_index.llms.openai.utils.to_openai_message_dicts(messages)`",
};
const AGENT_FRAMEWORK: Library = Library {
    name: "Microsoft Agent Framework",
    packages: &["agent_framework"],
    remedy: "use `memctx.integrations.agent_framework`, or pass OpenAI dictionaries (role, content, tool_calls, tool_call_id)",
};
const PYDANTIC_AI: Library = Library {
    name: "Pydantic AI",
    packages: &["pydantic_ai"],
    remedy: "use `memctx.integrations.pydantic_ai`, or pass a provider's dictionaries (role, content, tool calls and results by id)",
};
const SEMANTIC_KERNEL: Library = Library {
    name: "Semantic Kernel",
    packages: &["semantic_kernel"],
    remedy: "pass `message.to_dict()` of each message",
};
const HAYSTACK: Library = Library {
    name: "Haystack",
    packages: &["haystack"],
    remedy: "pass `message.to_openai_dict_format()` of each message",
};
const AUTOGEN: Library = Library {
    name: "AutoGen",
    packages: &["autogen_core", "autogen_agentchat", "autogen_ext"],
    remedy: "write them as OpenAI dictionaries (role, content, tool_calls, tool_call_id) and pass those",
};
const LIBRARIES: [&Library; 7] =
    [&LANGCHAIN, &LLAMA_INDEX, &AGENT_FRAMEWORK, &PYDANTIC_AI, &SEMANTIC_KERNEL, &HAYSTACK, &AUTOGEN];

/// A field of models in which libraries keep what they do not know themselves.
const HIDING: &str = "additional_kwargs";

/// Classes of messages, with whether their messages can be read and copied. Each is looked at once.
#[derive(Default)]
pub(crate) struct Foreign(Mutex<FxHashMap<usize, (Py<PyType>, Verdict)>>);

#[derive(Clone, Copy)]
enum Verdict {
    Readable,
    /// It belongs to a library that has messages of its own.
    Library,
    /// This field is computed from others, so that a copy with another value would not keep it.
    Computed(&'static str),
    /// Calls and ids may be where no provider has them.
    Hiding,
}

impl Foreign {
    /// So many classes are remembered; no host has more.
    const MOST: usize = 256;

    /// Return the reason why messages of an object's class are not supported, if they are not.
    pub(crate) fn unsupported(&self, message: &Bound<'_, PyAny>) -> PyResult<Option<Unsupported>> {
        let class = message.get_type();
        let address = class.as_ptr() as usize;
        let known = self.known().get(&address).map(|(_, verdict)| *verdict);
        let verdict = if let Some(verdict) = known {
            verdict
        } else {
            let verdict = judged(&class)?;
            let mut known = self.known();
            if known.len() >= Self::MOST {
                known.clear();
            }
            known.insert(address, (class.unbind(), verdict));
            verdict
        };
        Ok(match verdict {
            Verdict::Readable => None,
            Verdict::Library => {
                Some(Unsupported { field: "role".into(), fault: "and content are not a provider's".into() })
            }
            Verdict::Computed(field) => {
                let fault = "is a property, which a changed copy would not keep";
                Some(Unsupported { field: field.into(), fault: fault.into() })
            }
            Verdict::Hiding => {
                Some(Unsupported { field: HIDING.into(), fault: "may hold calls and ids of tools".into() })
            }
        })
    }

    fn known(&self) -> std::sync::MutexGuard<'_, FxHashMap<usize, (Py<PyType>, Verdict)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn judged(class: &Bound<'_, PyType>) -> PyResult<Verdict> {
    if library_of(class)?.is_some() {
        return Ok(Verdict::Library);
    }
    if class.getattr("model_fields").is_ok_and(|fields| fields.contains(HIDING).unwrap_or(false)) {
        return Ok(Verdict::Hiding);
    }
    let property = class.py().import("builtins")?.getattr("property")?;
    for ancestor in class.mro() {
        let fields = ancestor.getattr("__dict__")?;
        for field in ["content", "parts", "role"] {
            if fields.contains(field)? && fields.get_item(field)?.is_instance(&property)? {
                return Ok(Verdict::Computed(field));
            }
        }
    }
    Ok(Verdict::Readable)
}

/// Return the library that a class, or one it is derived from, belongs to.
fn library_of(class: &Bound<'_, PyType>) -> PyResult<Option<&'static Library>> {
    for ancestor in class.mro() {
        let module = ancestor.getattr("__module__")?;
        let Ok(module) = module.cast_into::<PyString>() else { continue };
        let package = spelled(Some(&module)).split('.').next().unwrap_or_default();
        if let Some(library) = LIBRARIES.into_iter().find(|library| library.packages.contains(&package)) {
            return Ok(Some(library));
        }
    }
    Ok(None)
}

/// Return the library that a message looks like one of.
fn resembled(message: Node<'_, '_>) -> PyResult<Option<&'static Library>> {
    let has_role = text!(message, "role")?.is_some();
    let kind = text!(message, "type")?;
    let is_langchain =
        matches!(spelled(kind.as_ref()), "human" | "ai" | "system" | "tool" | "function" | "chat" | "remove")
            || spelled(kind.as_ref()).ends_with("MessageChunk");
    Ok(if is_langchain && (!has_role || has!(message, "additional_kwargs")?) {
        Some(&LANGCHAIN)
    } else if has!(message, "blocks")? && has!(message, "additional_kwargs")? {
        Some(&LLAMA_INDEX)
    } else if has_role && has!(message, "contents")? {
        Some(&AGENT_FRAMEWORK)
    } else if has!(message, "parts")? && matches!(spelled(text!(message, "kind")?.as_ref()), "request" | "response") {
        Some(&PYDANTIC_AI)
    } else {
        None
    })
}

/// Return the error for a message that is not understood: which one, what it is, the field at fault, and what to do.
pub(crate) fn refusal(index: usize, message: &Bound<'_, PyAny>, unsupported: &Unsupported) -> PyResult<PyErr> {
    let class = message.get_type();
    let library = match library_of(&class)? {
        None => resembled(Node::of(message))?,
        found => found,
    };
    let remedy = library.map_or_else(
        || format!("pass messages as a provider's API takes them: {}", Format::DESCRIPTION),
        |library| format!("{} messages are not read as they are: {}", library.name, library.remedy),
    );
    let Unsupported { field, fault } = unsupported;
    let field = if field.is_empty() { String::new() } else { format!("{field} ") };
    let kind = if message.is_instance_of::<PyDict>() { "dict".into() } else { name_of(&class)? };
    Ok(MessageFormatError::new_err(format!("message {index} ({kind}) is not understood: {field}{fault}; {remedy}")))
}

/// Return a class by its module and name.
fn name_of(class: &Bound<'_, PyType>) -> PyResult<String> {
    let (module, name) = (class.module()?, class.qualname()?);
    Ok(if module == "builtins" { name.to_string() } else { format!("{module}.{name}") })
}
