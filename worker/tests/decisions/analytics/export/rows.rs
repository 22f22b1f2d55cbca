use proptest::prelude::*;
use quillgate::Operation;
use quillgate::columns::{Columns, Content, Member, columns};
use quillgate::export::ExportFormat;
use quillgate::pages::Totals;
use quillgate::schema::JsonType;
use quillgate_worker::analytics::export::rows::RowWriter;
use quillgate_worker::upstream::page_check::{PageEnd, read_page};
use quillgate_worker::upstream::raw_json::Malformed;
use serde_json::Value;

fn write_with(
    format: ExportFormat,
    columns: Columns,
    page: &str,
    skip: usize,
) -> Result<(String, PageEnd), Malformed> {
    let (end, rows) = read_page(page, &[], Some("views"))?;
    let mut out = b"before".to_vec();
    let rows = rows.into_iter().skip(skip);
    let written = RowWriter::new(format, columns).push_rows(rows, &mut out);
    let text = String::from_utf8(out).unwrap();
    let text = text.strip_prefix("before").unwrap().to_owned();
    if written.is_err() {
        assert_eq!(text, "", "a malformed page writes nothing");
    }
    written.map(|()| (text, end))
}

fn write(format: ExportFormat, page: &str) -> Result<(String, PageEnd), Malformed> {
    write_with(format, columns(Operation::ListPageViews), page, 0)
}

/// Returns an upstream page of views.
fn page(rows: &str) -> String {
    format!("{{\"views\":[{rows}]}}")
}

fn csv(rows: &str) -> String {
    write(ExportFormat::Csv, &page(rows)).unwrap().0
}

fn json(rows: &str) -> String {
    write(ExportFormat::NdJson, &page(rows)).unwrap().0
}

#[test]
fn a_row_becomes_a_csv_record_of_its_columns() {
    let expected = "/a,1,2,3\r\n";
    assert_eq!(csv(r#"{"path":"/a","human":1,"ai":2,"total":3}"#), expected);
    let found = csv(r#"{"total":3,"path":"/a","other":{"path":"/b"},"ai":null}"#);
    assert_eq!(found, "/a,,,3\r\n");
    assert_eq!(csv("{}"), ",,,\r\n");
    assert_eq!(csv(r#"{"path":"/a","path":"/b"}"#), "/b,,,\r\n");
    assert_eq!(csv(r#"{"p\u0061th":"/a"}"#), "/a,,,\r\n");
}

#[test]
fn numbers_are_copied_verbatim() {
    let row = r#"{"path":-1,"human":1.50,"ai":1e+2,"total":12345678901234567890}"#;
    assert_eq!(csv(row), "-1,1.50,1e+2,12345678901234567890\r\n");
    assert_eq!(json(row), format!("{row}\n"));
    let expected = "true,false,-0.0,\r\n";
    assert_eq!(csv(r#"{"path":true,"human":false,"ai":-0.0}"#), expected);
}

#[test]
fn csv_strings_are_quoted_where_needed() {
    for (text, cell) in [
        ("a,b", "\"a,b\""),
        ("/x;=1+1;", "\"/x;'=1+1;\""),
        (r"a;\/b", "\"a;/b\""),
        (r#"a\"b"#, "\"a\"\"b\""),
        (r"a\nb", "\"a\nb\""),
        (r"a\tb", "a\tb"),
        (r"a b\/\b\f\\", "a b/\u{8}\u{c}\\"),
        (r"\u00e9\ud83d\ude80é🚀", "é🚀é🚀"),
        (r"\ud83d\u0041", "\u{fffd}A"),
        (r"\ud83d", "\u{fffd}"),
    ] {
        let expected = format!("{cell},,,\r\n");
        assert_eq!(csv(&format!("{{\"path\":\"{text}\"}}")), expected, "{text}");
    }
}

#[test]
fn csv_strings_that_look_like_formulas_are_escaped() {
    for (text, cell) in [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("@x", "'@x"),
        ("＝1+1", "'＝1+1"),
        ("＠x", "'＠x"),
        (r"\uff1d1", "'＝1"),
        ("，1", "，1"),
        (r"\u003d1", "'=1"),
        (r"\rx", "\"'\rx\""),
        (r"\nx", "\"'\nx\""),
        ("a=1", "a=1"),
        (r"a;=1;b\n-2", "\"a;'=1;b\n'-2\""),
        (r#"a;\"\t＝1"#, "\"a;\"\"\t'＝1\""),
        ("'=1", "'=1"),
    ] {
        let expected = format!("{cell},,,\r\n");
        assert_eq!(csv(&format!("{{\"path\":\"{text}\"}}")), expected, "{text}");
    }
}

#[test]
fn a_list_becomes_json_in_one_csv_cell() {
    let columns = columns(Operation::ListConversations);
    let page = r#"{"views":[{"id":"c1","sources":[ {"title": "a, \"b\"" , "url" : null} , {} ],"query":[]}]}"#;
    let (text, _) = write_with(ExportFormat::Csv, columns, page, 0).unwrap();
    let cell = r#""[{""title"":""a, \""b\"""",""url"":null},{}]""#;
    assert_eq!(text, format!("c1,,[],,,{cell},,,\r\n"));
}

#[test]
fn a_nested_object_has_its_own_columns() {
    let member = |name, content| Member { name, content };
    let cell = |name, column| member(name, Content::Cell(column));
    let record = |name, members| member(name, Content::Record(members));
    let at = record("at", vec![cell("day", 2)]);
    let by = record("by", vec![cell("name", 1), at]);
    let names = ["id", "by.name", "by.at.day", "end"].map(str::to_owned);
    let columns = Columns {
        names: names.to_vec(),
        members: vec![cell("id", 0), by, cell("end", 3)],
    };
    let write = |row: &str| {
        write_with(ExportFormat::Csv, columns.clone(), &page(row), 0).map(|(text, _)| text)
    };
    let row = r#"{"id":1,"by":{"at":{"day":3,"x":9},"name":"n"},"end":4}"#;
    assert_eq!(write(row).unwrap(), "1,n,3,4\r\n");
    let empty = r#"{"id":1,"by":null,"end":4}"#;
    assert_eq!(write(empty).unwrap(), "1,,,4\r\n");
    assert_eq!(write(r#"{"id":1,"by":"text"}"#), Err(Malformed));
    let mut head = Vec::new();
    RowWriter::new(ExportFormat::Csv, columns.clone()).push_head(&mut head);
    assert_eq!(head, "\u{feff}id,by.name,by.at.day,end\r\n".as_bytes());
}

#[test]
fn an_ndjson_line_is_the_json_of_the_row_without_white_space() {
    let row = "{ \"path\" : \"a \\\" b\" ,\n\t\"new\":[ 1 , { } ,\"\\\\\" ] }";
    let line = "{\"path\":\"a \\\" b\",\"new\":[1,{},\"\\\\\"]}\n";
    assert_eq!(json(row), line);
    assert_eq!(json("{\"a\":1} ,\r\n{\"b\":2}"), "{\"a\":1}\n{\"b\":2}\n");
    let mut head = Vec::new();
    RowWriter::new(ExportFormat::NdJson, Columns::default()).push_head(&mut head);
    assert_eq!(head, b"");
}

#[test]
fn the_end_of_a_page_reports_row_count_has_more_and_cursor() {
    let end = |page: &str| write(ExportFormat::NdJson, page).unwrap().1;
    let whole =
        r#" {"totals":{"hasMore":1},"hasMore":true,"views":[{},{}],"nextCursor":"a\u0062"} "#;
    let expected = PageEnd {
        rows: 2,
        has_more: Some(true),
        next_cursor: Some("ab".to_owned()),
        totals: Some(Totals::of(r#"{"hasMore":1}"#)),
    };
    assert_eq!(end(whole), expected);
    let bare = r#"{"views":[],"hasMore":"yes","nextCursor":null}"#;
    assert_eq!(end(bare), PageEnd::default());
    let totals = |page: &str| end(page).totals;
    let found = totals(r#"{"totals":{"ai":2, "human":1},"views":[]}"#);
    assert_eq!(found, totals(r#"{"views":[],"totals":{"human":1,"ai":2}}"#));
    let expected = Some(Totals::of("3"));
    assert_eq!(totals(r#"{"totalSearches":3,"views":[]}"#), expected);
    assert_eq!(totals(r#"{"totals":null,"views":[]}"#), None);
}

#[test]
fn skipped_rows_are_counted_and_not_written() {
    let page = r#"{"views":[{"path":"/a"},{"path":"/b"},{"path":"/c"}]}"#;
    let columns = columns(Operation::ListPageViews);
    for (skip, expected) in [(0, 3), (1, 2), (3, 0), (9, 0)] {
        let (text, end) = write_with(ExportFormat::Csv, columns.clone(), page, skip).unwrap();
        assert_eq!((text.lines().count(), end.rows), (expected, 3));
    }
}

#[test]
fn a_value_of_any_depth_is_copied() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let row = format!("{{\"path\":{deep}}}");
    assert_eq!(csv(&row), format!("{deep},,,\r\n"));
    assert_eq!(json(&row), format!("{row}\n"));
}

#[test]
fn a_malformed_page_is_rejected() {
    for page in [
        "",
        "[]",
        "{}",
        "{\"views\":null}",
        "{\"views\":[]",
        "{\"views\":[]}x",
        "{\"views\":[{}],\"views\":[{}]}",
        "{\"views\":[1]}",
        "{\"views\":[{\"path\"}]}",
        "{\"views\":[{\"path\":01}]}",
        "{\"views\":[{\"path\":1.}]}",
        "{\"views\":[{\"path\":-}]}",
        "{\"views\":[{\"path\":nul}]}",
        "{\"views\":[{\"path\":\"a\nb\"}]}",
        "{\"views\":[{\"path\":\"\\x\"}]}",
        "{\"views\":[{\"path\":\"\\u12g4\"}]}",
        "{\"views\":[{\"path\":\"a\" \"ai\":1}]}",
    ] {
        for format in [ExportFormat::Csv, ExportFormat::NdJson] {
            assert_eq!(write(format, page), Err(Malformed), "{page}");
        }
    }
}

fn incomplete(format: ExportFormat, columns: &Columns, retry_after: Option<u64>) -> String {
    let mut out = Vec::new();
    let writer = RowWriter::new(format, columns.clone());
    writer.push_incomplete("1~a,b", "/problems/x", retry_after, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn the_last_record_of_a_mixed_export_contains_the_problem() {
    let mixed = |format| {
        let mut out = Vec::new();
        let writer = RowWriter::new(format, columns(Operation::ListPageViews));
        writer.push_mixed("/problems/x", &mut out);
        String::from_utf8(out).unwrap()
    };
    let expected = "{\"mixed\":{\"problem\":\"/problems/x\"}}\n";
    assert_eq!(mixed(ExportFormat::NdJson), expected);
    assert_eq!(mixed(ExportFormat::Csv), "#mixed,problem=/problems/x,,\r\n");
}

#[test]
fn the_last_record_of_an_incomplete_export_contains_its_cursor() {
    let views = columns(Operation::ListPageViews);
    let searches = columns(Operation::ListSearches);
    let mut two = views.clone();
    two.names.truncate(2);
    let expected = "#incomplete,\"cursor=1~a,b\",problem=/problems/x,retryAfter=1800\r\n";
    assert_eq!(incomplete(ExportFormat::Csv, &views, Some(1800)), expected);
    let expected = "#incomplete,\"cursor=1~a,b\",problem=/problems/x,,\r\n";
    assert_eq!(incomplete(ExportFormat::Csv, &searches, None), expected);
    let expected = "#incomplete,\"cursor=1~a,b; problem=/problems/x; retryAfter=7\"\r\n";
    assert_eq!(incomplete(ExportFormat::Csv, &two, Some(7)), expected);
    assert_eq!(
        incomplete(ExportFormat::NdJson, &views, Some(1800)),
        "{\"incomplete\":{\"cursor\":\"1~a,b\",\"problem\":\"/problems/x\",\"retryAfter\":1800}}\n"
    );
    let expected = "{\"incomplete\":{\"cursor\":\"1~a,b\",\"problem\":\"/problems/x\"}}\n";
    assert_eq!(incomplete(ExportFormat::NdJson, &views, None), expected);
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[=+@＝＋－＠;,\"\\\\\r\n\t -]{0,4}[a-zé🚀\"\\\\\u{1}]{0,4}",
        any::<String>(),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(any_text(), inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Generates rows with some of the declared columns and some unknown fields.
fn any_row() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec!["path", "human", "ai", "total", "new", "päth"]);
    let name = name.prop_map(str::to_owned);
    prop::collection::hash_map(name, any_value(), 0..6)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

/// Checks an upstream page of views against the declared result type, then converts its rows to
/// NDJSON. Returns the NDJSON, and the row count, `hasMore` and cursor of the page.
fn push_checked(text: &str) -> Result<(String, PageEnd), Malformed> {
    let JsonType::Object(declared) = Operation::ListPageViews.result() else {
        panic!("a page is an object");
    };
    let (end, rows) = read_page(text, declared.fields, Some("views"))?;
    let mut out = Vec::new();
    let writer = RowWriter::new(ExportFormat::NdJson, columns(Operation::ListPageViews));
    writer.push_rows(rows.into_iter(), &mut out)?;
    Ok((String::from_utf8(out).unwrap(), end))
}

#[test]
fn a_page_is_checked_against_the_result_type_of_its_operation() {
    let row = r#"{"path":"/a","new":1}"#;
    let page = |fields: &str| format!("{{\"views\":[{row}],{fields}}}");
    let (text, end) = push_checked(&page(r#""totals":{},"hasMore":true,"more":1"#)).unwrap();
    assert_eq!(text, format!("{row}\n"));
    assert_eq!((end.rows, end.has_more), (1, Some(true)));
    for fields in [r#""more":1"#, r#""totals":null,"hasMore":null"#] {
        let (_, end) = push_checked(&page(fields)).unwrap();
        assert_eq!((end.rows, end.has_more, end.totals), (1, None, None));
    }
    for fields in [
        r#""totals":[],"hasMore":true"#,
        r#""totals":"{}","hasMore":true"#,
        r#""totals":{},"hasMore":"true""#,
        r#""totals":{},"hasMore":1"#,
        r#""totals":{},"hasMore":true,"totals":1"#,
    ] {
        assert_eq!(push_checked(&page(fields)), Err(Malformed), "{fields}");
    }
    let expected = Err(Malformed);
    assert_eq!(push_checked(r#"{"totals":{},"hasMore":true}"#), expected);
    assert_eq!(push_checked("[]"), Err(Malformed));
    let found = push_checked(&page(r#""totals":{},"hasMore":true"#).replace(row, "1"));
    assert_eq!(found, Err(Malformed));
}

proptest! {
    #[test]
    fn a_page_is_accepted_exactly_when_it_is_valid_json(
        rows in prop::collection::vec(any_row(), 0..3),
        at in any::<prop::sample::Index>(),
        with in prop::sample::select(vec!["", "\"", "\\", "{", "]", ",", "1", "\n", "\u{1}", "x", "é"]),
    ) {
        let mut text = serde_json::json!({ "views": rows }).to_string();
        let mut at = at.index(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let end = at + text[at..].chars().next().map_or(0, char::len_utf8);
        text.replace_range(at..end, with);
        let parsed: Option<Value> = serde_json::from_str(&text).ok();
        let rows = parsed.as_ref().and_then(|page| page.as_object()?.get("views")?.as_array());
        let is_page = rows.is_some_and(|rows| rows.iter().all(Value::is_object));
        // `serde_json` rejects lone surrogates. The writer replaces them with U+FFFD.
        prop_assume!(is_page || !text.contains("\\u"));
        let is_twice = text.matches("\"views\"").count() > 1;
        prop_assume!(!is_twice);
        for format in [ExportFormat::Csv, ExportFormat::NdJson] {
            prop_assert_eq!(write(format, &text).is_ok(), is_page, "{}", text);
        }
    }

    #[test]
    fn strings_of_any_length_are_scanned_to_their_end(
        before in "[ -!#-\\[\\]-~é🚀]{0,40}",
        odd in prop::sample::select(vec!["", "\\\"", "\\\\", "\\u00e9", ",", "\u{7f}", "\u{80}"]),
        after in "[ -!#-\\[\\]-~é🚀]{0,40}",
        control in 0_u8..0x20,
    ) {
        let page = |path: &str| format!("{{\"views\":[{{\"path\":\"{path}\"}}]}}");
        let path = format!("{before}{odd}{after}");
        let (text, _) = write(ExportFormat::NdJson, &page(&path)).unwrap();
        prop_assert_eq!(text, format!("{{\"path\":\"{path}\"}}\n"));
        let broken = format!("{before}{}{after}", char::from(control));
        prop_assert_eq!(write(ExportFormat::NdJson, &page(&broken)), Err(Malformed));
    }
}
