//! Conversations of readers with the assistant.

use std::sync::LazyLock;

/// A conversation. A thread uses its first one, two or three turns.
pub(crate) struct Script {
    pub(crate) category: &'static str,
    /// Pages that the answers cite. The reader asks on the first of them.
    pub(crate) sources: Vec<&'static str>,
    pub(crate) turns: Vec<(&'static str, Reply)>,
}

/// The reply of the assistant.
pub(crate) enum Reply {
    Answer(&'static str),
    Clarification(&'static str),
    /// The documentation does not cover the question.
    None,
}

/// The number is odd, so that it takes many threads until one repeats.
pub(crate) static SCRIPTS: LazyLock<Vec<Script>> = LazyLock::new(|| {
    let mut scripts = Vec::new();
    for line in include_str!("conversations.tsv").lines() {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        if let Some(category) = line.strip_prefix("# ") {
            next();
            scripts.push(Script {
                category: category.split('\t').next().unwrap_or_default(),
                sources: next().split(' ').collect(),
                turns: Vec::new(),
            });
        } else if let Some(script) = scripts.last_mut() {
            let (question, kind, text) = (next(), next(), next());
            let reply = match kind {
                "answer" => Reply::Answer(text),
                "clarification" => Reply::Clarification(text),
                _ => Reply::None,
            };
            script.turns.push((question, reply));
        }
    }
    scripts
});
