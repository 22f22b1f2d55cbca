//! The data set of `npm start`: a fictional documentation site, "Acme", that readers recognize.

mod conversations;
mod feedback;
mod paths;
mod searches;

pub(crate) use conversations::{Reply, SCRIPTS, Script};
pub(crate) use feedback::{Kind, REMARKS, Remark};
pub(crate) use paths::paths;
pub(crate) use searches::SEARCHES;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::tests::range;
    use super::super::traffic::Pages;
    use super::super::{Days, Range};
    use super::*;
    use crate::date::Day;

    /// The smallest number of pages for which every referenced path exists.
    const MIN_PAGES: usize = 60;

    fn texts() -> Vec<&'static str> {
        let mut texts: Vec<_> = SEARCHES.iter().map(|(term, _)| *term).collect();
        texts.extend(REMARKS.iter().map(|remark| remark.comment));
        for Script { turns, .. } in SCRIPTS {
            texts.extend(turns.iter().flat_map(|(question, reply)| {
                let reply = match reply {
                    Reply::Answer(text) | Reply::Clarification(text) => Some(*text),
                    Reply::None => None,
                };
                [Some(*question), reply].into_iter().flatten()
            }));
        }
        texts
    }

    #[test]
    fn every_text_is_readable() {
        for text in texts() {
            let first = text.chars().next().expect("a text");
            assert!(first.is_alphanumeric(), "{text}");
            assert!(text.len() > 2 && text == text.trim(), "{text}");
            assert!(!text.contains(|c: char| c.is_control()), "{text}");
        }
    }

    #[test]
    fn every_referenced_page_exists() {
        let known: HashSet<String> = paths().take(MIN_PAGES).collect();
        let of_searches = SEARCHES.iter().filter_map(|(_, page)| *page);
        let of_remarks = REMARKS.iter().map(|remark| remark.path);
        let of_scripts = SCRIPTS.iter().flat_map(|script| script.sources);
        for path in of_searches.chain(of_remarks).chain(of_scripts.copied()) {
            assert!(known.contains(path), "{path}");
        }
    }

    #[test]
    fn paths_and_terms_are_unique() {
        let some: Vec<String> = paths().take(1000).collect();
        assert_eq!(some.iter().collect::<HashSet<_>>().len(), some.len());
        let terms: HashSet<_> = SEARCHES.iter().map(|(term, _)| term).collect();
        assert_eq!(terms.len(), SEARCHES.len());
    }

    #[test]
    fn some_searches_have_no_click_and_some_questions_no_answer() {
        let unclicked = SEARCHES.iter().filter(|(_, page)| page.is_none()).count();
        assert!((5..SEARCHES.len() / 2).contains(&unclicked), "{unclicked}");
        let turns = SCRIPTS.iter().flat_map(|script| &script.turns);
        let unanswered = turns.filter(|(_, reply)| matches!(reply, Reply::None));
        assert!(unanswered.count() > 3);
    }

    #[test]
    fn views_vary_by_day_and_some_pages_gain_and_others_drop() {
        let pages = Pages::new(1, "demo-docs", 320, Days::Demo);
        let monday = Day::parse("2026-08-03").expect("a date");
        let (mut weekend, mut working, mut totals) = (0, 0, HashSet::new());
        for number in 0..91 {
            let from = monday.plus(number);
            let to = from.plus(1);
            let report = pages.views(Range { from, to }, &[]);
            assert!(report.rows.len() > 300, "{from}");
            totals.insert(report.totals.total);
            let sum = if number % 7 < 5 {
                &mut working
            } else {
                &mut weekend
            };
            *sum += report.totals.human;
        }
        assert!(totals.len() > 85);
        assert!(weekend * 5 < working * 2 * 6 / 10);

        let earlier = pages.views(range("2026-09-01", "2026-09-29"), &[]).rows;
        let rows = pages.views(range("2026-09-29", "2026-10-27"), &[]).rows;
        let change = |percent: u64, row: &super::super::traffic::Row| {
            let before = earlier.iter().find(|before| before.path == row.path);
            before.is_some_and(|before| row.traffic.total * 100 > before.traffic.total * percent)
        };
        let gains = rows.iter().filter(|row| change(120, row)).count();
        let drops = rows.iter().filter(|row| !change(80, row)).count();
        assert!(gains > 20 && drops > 20, "{gains} gains, {drops} drops");
    }
}
