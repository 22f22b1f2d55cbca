//! Terms that readers search for, most frequent first, with the page that most of them open.

/// Terms without a page get no clicks: the documentation lacks an answer.
pub(crate) fn searches() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let lines = include_str!("searches.tsv").lines();
    let terms = lines.filter_map(|line| line.split_once('\t'));
    terms.map(|(term, page)| (term, Some(page).filter(|page| !page.is_empty())))
}
