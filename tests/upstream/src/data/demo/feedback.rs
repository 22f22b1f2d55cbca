//! Remarks of readers about pages.

use std::sync::LazyLock;

/// A comment about a page.
pub(crate) struct Remark {
    pub(crate) kind: Kind,
    pub(crate) path: &'static str,
    pub(crate) comment: &'static str,
}

/// The source of a remark, with the fields of that source.
pub(crate) enum Kind {
    Helpful,
    NotHelpful,
    /// Code, its filename and its language.
    Snippet(&'static str, Option<&'static str>, &'static str),
    Agent,
}

/// Remarks in the order of their dates. They repeat after the last one.
pub(crate) static REMARKS: LazyLock<Vec<Remark>> = LazyLock::new(|| {
    include_str!("feedback.tsv")
        .lines()
        .map(Remark::parse)
        .collect()
});

impl Remark {
    /// Parses a line: the kind, the path and the comment. The line of a snippet also has its code,
    /// filename and language.
    fn parse(line: &'static str) -> Self {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        let (kind, path, comment) = (next(), next(), next());
        let kind = match kind {
            "helpful" => Kind::Helpful,
            "unhelpful" => Kind::NotHelpful,
            "agent" => Kind::Agent,
            _ => {
                let (code, filename, language) = (next(), next(), next());
                Kind::Snippet(
                    code,
                    Some(filename).filter(|name| !name.is_empty()),
                    language,
                )
            }
        };
        Self {
            kind,
            path,
            comment,
        }
    }
}
