//! Generates the head of each page in `docs/problems/`, and their index.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use quillgate::documentation::join_lines;
use quillgate_worker::http::problem_kind::ProblemKind;

const INDEX: &str = "\
<!-- Generated from worker/src/http/problem_kind.rs: do not edit.
     cargo run -p quillgate-generate -- problems docs/problems -->
# Problems

Every error of the gateway is a problem document (RFC 9457) with a stable `type`, such as `/problems/quota-exceeded`. Each type has a
page here: why it occurs, and what the caller and the operator do. Your gateway serves the same pages at the address in `type`.

| property | meaning |
| --- | --- |
| `type` | the kind of the problem, for programs; the path of its page |
| `title` | a summary of the kind, for people. It can change between releases |
| `status` | the HTTP status |
| `detail` | what happened this time, for people |
| `instance` | the id of the request, as in the header `X-Request-Id` and the log field `requestId` |

If the outcome of a write is unknown, the document has `\"outcome\": \"unknown\"`. Check whether the write took effect before you repeat it.

";

const NEXT: &str = "
Next: [troubleshooting by symptom](../operate/troubleshooting.md), [logs](../operate/logs.md).
";

/// Updates the head of every page in `folder`, and its index. The rest of each page is
/// handwritten.
pub fn write(folder: &Path) -> io::Result<()> {
    for kind in ProblemKind::ALL.iter().copied() {
        let path = folder.join(format!("{}.md", kind.as_str()));
        let name_file = |error| io::Error::other(format!("{}: {error}", path.display()));
        let page = std::fs::read_to_string(&path).map_err(name_file)?;
        std::fs::write(&path, update(kind, &page).map_err(name_file)?)?;
    }
    std::fs::write(folder.join("README.md"), index())
}

fn index() -> String {
    let mut text = format!("{INDEX}| status | problem | when |\n| ---: | --- | --- |\n");
    for kind in ProblemKind::ALL.iter().copied() {
        let documentation = join_lines(kind.documentation());
        let when = documentation.split(". ").next().unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} | [{}]({}.md) | {} |",
            describe_status(kind),
            kind.title(),
            kind.as_str(),
            when.trim_end_matches('.')
        );
    }
    text + NEXT
}

fn describe_status(kind: ProblemKind) -> String {
    let status = kind.status();
    status.map_or_else(
        || "that of Mintlify's response".to_owned(),
        |status| status.to_string(),
    )
}

/// Returns the page with the facts of its kind before the first section, and in the example.
fn update(kind: ProblemKind, page: &str) -> io::Result<String> {
    let body = page.find("\n## ").map(|at| &page[at..]);
    let body = body.ok_or_else(|| io::Error::other("has no section"))?;
    let mut text = head(kind);
    for line in body.lines() {
        let fact = [
            ("  \"type\": ", Some(format!("\"{}\"", kind.type_uri()))),
            ("  \"title\": ", Some(format!("\"{}\"", kind.title()))),
            (
                "  \"status\": ",
                kind.status().map(|status| status.to_string()),
            ),
        ]
        .into_iter()
        .find_map(|(name, fact)| line.starts_with(name).then_some((name, fact?)));
        let _ = match fact {
            Some((name, fact)) => {
                let comma = if line.ends_with(',') { "," } else { "" };
                writeln!(text, "{name}{fact}{comma}")
            }
            None => writeln!(text, "{line}"),
        };
    }
    Ok(text)
}

fn head(kind: ProblemKind) -> String {
    let mut text = format!("# {}\n\n", kind.title());
    let _ = writeln!(text, "- Type: `{}`", kind.type_uri());
    let _ = writeln!(text, "- Status: {}", describe_status(kind));
    for (label, names) in [
        ("Properties", kind.members()),
        ("Possible properties", kind.optional_members()),
        ("Header fields", kind.headers()),
    ] {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "- {label}: {}", names.join(", "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use quillgate_worker::http::problem_kind::ProblemKind;

    use super::{index, update};

    const STALE: &str = "is stale: cargo run -p quillgate-generate -- problems docs/problems";

    #[test]
    fn each_problem_has_one_page_with_its_title_status_properties_and_header_fields() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/problems");
        let files = std::fs::read_dir(&folder).expect("docs/problems");
        let names: BTreeSet<_> = files
            .map(|file| {
                file.expect("a file")
                    .file_name()
                    .into_string()
                    .expect("UTF-8")
            })
            .collect();
        let kinds = ProblemKind::ALL
            .iter()
            .map(|kind| format!("{}.md", kind.as_str()));
        assert_eq!(names, kinds.chain(["README.md".to_owned()]).collect());
        for kind in ProblemKind::ALL.iter().copied() {
            let name = format!("{}.md", kind.as_str());
            let page = std::fs::read_to_string(folder.join(&name)).expect("a page");
            let updated = update(kind, &page).expect("a section");
            assert!(page == updated, "docs/problems/{name} {STALE}");
        }
        let readme = std::fs::read_to_string(folder.join("README.md")).expect("the index");
        assert!(readme == index(), "docs/problems/README.md {STALE}");
    }
}
