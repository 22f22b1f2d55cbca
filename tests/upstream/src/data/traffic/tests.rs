//! Page views and visitors: sums over ranges, varying days, deduplicated visitors and corrections.

use super::super::tests::range;
use super::*;

#[test]
fn a_day_lists_every_page() {
    let pages = Pages::new(1, "demo-docs", 4000, Days::Uniform);
    let report = pages.views(range("2024-06-01", "2024-06-02"), &[]);
    assert_eq!(report.rows.len(), 4000);
    assert!(report.rows.iter().all(|row| row.traffic.total >= 1));
}

#[test]
fn adjacent_ranges_add_up() {
    let pages = Pages::new(1, "demo-docs", 500, Days::Uniform);
    let first = pages.views(range("2024-05-28", "2024-06-02"), &[]).totals;
    let second = pages.views(range("2024-06-02", "2024-06-05"), &[]).totals;
    let both = pages.views(range("2024-05-28", "2024-06-05"), &[]).totals;
    assert_eq!(first.plus(second), both);
}

#[test]
fn a_longer_range_always_has_more_views() {
    let pages = Pages::new(1, "demo-docs", 60, Days::Uniform);
    let monday = Day::parse("2024-01-01").expect("a date");
    let total = |from: i64, days: i64| {
        let from = monday.plus(from);
        let to = from.plus(days);
        pages.views(Range { from, to }, &[]).totals.total
    };
    for days in 1..15 {
        let max = (0..7).map(|from| total(from, days)).max();
        let min = (0..7).map(|from| total(from, days + 1)).min();
        assert!(max < min, "{days} days");
    }
}

#[test]
fn data_depends_on_seed_and_project() {
    let week = range("2024-01-01", "2024-01-08");
    let views = |seed, project| Pages::new(seed, project, 100, Days::Uniform).views(week, &[]);
    let visitors =
        |seed, project| Pages::new(seed, project, 100, Days::Uniform).visitors(week, &[]);
    assert_eq!(views(1, "a"), views(1, "a"));
    assert_ne!(views(1, "a"), views(2, "a"));
    assert_ne!(views(1, "a"), views(1, "b"));
    assert_eq!(visitors(1, "a"), visitors(1, "a"));
    assert_ne!(visitors(1, "a"), visitors(1, "b"));
}

#[test]
fn an_empty_range_has_no_views_and_no_visitors() {
    let none = range("2024-01-01", "2024-01-01");
    let pages = Pages::new(1, "demo-docs", 10, Days::Uniform);
    assert_eq!(pages.views(none, &[]), TrafficReport::default());
    assert_eq!(pages.visitors(none, &[]), TrafficReport::default());
}

#[test]
fn a_page_has_at_most_as_many_visitors_as_views() {
    let pages = Pages::new(1, "demo-docs", 2000, Days::Uniform);
    let week = range("2024-01-01", "2024-01-08");
    for page in &pages.pages {
        let views = page.views(week);
        let visitors = page.visitors(views);
        assert!(visitors.human <= views.human && visitors.ai <= views.ai);
        assert!(visitors.total <= views.total && visitors.total >= 1);
    }
}

#[test]
fn visitors_are_deduplicated_across_callers_and_pages() {
    let week = range("2024-01-01", "2024-01-08");
    for count in [1, 2, 30, 1000] {
        let report = Pages::new(1, "demo-docs", count, Days::Uniform).visitors(week, &[]);
        let is_union =
            |of: Traffic| of.total <= of.human + of.ai && of.total >= of.human && of.total >= of.ai;
        assert!(is_union(report.totals));
        assert!(report.rows.iter().all(|row| is_union(row.traffic)));
        let sum: u64 = report.rows.iter().map(|row| row.traffic.total).sum();
        let max = report.rows.iter().map(|row| row.traffic.total).max();
        assert!(report.totals.total <= sum && Some(report.totals.total) >= max);
    }
    let report = Pages::new(1, "demo-docs", 1000, Days::Uniform).visitors(week, &[]);
    let overlaps = |row: &Row| row.traffic.total < row.traffic.human + row.traffic.ai;
    assert!(report.rows.iter().any(overlaps));
}

fn sum_of_rows(report: &TrafficReport) -> Traffic {
    let rows = report.rows.iter().map(|row| row.traffic);
    rows.fold(Traffic::default(), Traffic::plus)
}

/// Each day of the given number of weeks, beginning on 2024-01-01.
fn days(weeks: i64) -> impl Iterator<Item = Range> {
    let monday = Day::parse("2024-01-01").expect("a date");
    (0..weeks * 7).map(move |day| Range {
        from: monday.plus(day),
        to: monday.plus(day + 1),
    })
}

#[test]
fn varying_days_differ_and_add_up_page_by_page() {
    let pages = Pages::new(1, "demo-docs", 3000, Days::Varying);
    let mut sums = std::collections::HashMap::<String, Traffic>::new();
    let (mut totals, mut counts) = (Vec::new(), Vec::new());
    for day in days(3) {
        let report = pages.views(day, &[]);
        assert_eq!(report.totals, sum_of_rows(&report));
        assert!(report.rows.iter().all(|row| row.traffic.total > 0));
        totals.push(report.totals.total);
        counts.push(report.rows.len());
        for row in report.rows {
            let sum = sums.entry(row.path).or_default();
            *sum = sum.plus(row.traffic);
        }
    }
    let range = range("2024-01-01", "2024-01-22");
    let whole = pages.views(range, &[]);
    assert_eq!(whole.rows.len(), sums.len());
    assert!(whole.rows.iter().all(|row| sums[&row.path] == row.traffic));
    for mut each in [totals, counts.iter().map(|count| *count as u64).collect()] {
        each.sort_unstable();
        each.dedup();
        assert!(each.len() > 15, "{each:?}");
    }
    assert!(counts.iter().all(|count| (1500..3000).contains(count)));
}

#[test]
fn varying_days_have_fewer_human_views_on_weekends_and_at_most_as_many_visitors_as_views() {
    let pages = Pages::new(1, "demo-docs", 500, Days::Varying);
    let (mut weekend, mut working) = (Traffic::default(), Traffic::default());
    for (number, day) in days(40).enumerate() {
        let views = pages.views(day, &[]).totals;
        let sum = if number % 7 >= 5 {
            &mut weekend
        } else {
            &mut working
        };
        *sum = sum.plus(views);
        let visitors = pages.visitors(day, &[]);
        assert!(visitors.totals.total <= views.total);
        assert!(visitors.rows.iter().all(|row| row.traffic.total > 0));
    }
    let percent = |weekend: u64, working: u64| weekend * 5 * 100 / (working * 2);
    assert!((50..70).contains(&percent(weekend.human, working.human)));
    assert!((85..115).contains(&percent(weekend.ai, working.ai)));
}

#[test]
fn ranges_of_centuries_add_up_without_overflow() {
    let pages = Pages::new(1, "demo-docs", 5000, Days::Varying);
    let all = pages.views(range("0001-01-01", "9999-12-31"), &[]);
    let first = pages.views(range("0001-01-01", "1970-01-01"), &[]);
    let rest = pages.views(range("1970-01-01", "9999-12-31"), &[]);
    assert_eq!(first.totals.plus(rest.totals), all.totals);
}

#[test]
fn a_correction_changes_its_day_and_every_range_that_contains_it() {
    for daily_variation in [Days::Uniform, Days::Varying] {
        let pages = Pages::new(1, "demo-docs", 300, daily_variation);
        let correction = |more, less| {
            let day = Day::parse("2024-01-03").expect("a date");
            [Correction { day, more, less }]
        };
        let (day, week) = (
            range("2024-01-03", "2024-01-04"),
            range("2024-01-01", "2024-01-08"),
        );
        let without = range("2024-01-01", "2024-01-03");
        let behind = range("2024-01-04", "2024-01-08");
        let rest = pages.views(without, &[]).totals;
        let rest = rest.plus(pages.views(behind, &[]).totals);
        let usual = pages.views(day, &[]).totals;
        for (more, less) in [(10, 0), (0, 20), (10, 20), (0, 100)] {
            let one = pages.views(day, &correction(more, less));
            let seven = pages.views(week, &correction(more, less));
            assert_eq!(one.totals, sum_of_rows(&one));
            assert_eq!(seven.totals, sum_of_rows(&seven));
            assert_eq!(rest.plus(one.totals), seven.totals);
            match (more, less) {
                (_, 0) => assert!(one.totals.human > usual.human && one.rows.len() == 300),
                (0, 100) => assert_eq!(one, TrafficReport::default()),
                (0, _) => assert!(one.totals.human < usual.human),
                _ => {}
            }
        }
    }
}
