//! Sample strings, including ones that are difficult in CSV, a spreadsheet, HTML or a terminal.

/// Readers' comments.
pub(crate) const COMMENTS: [&str; 24] = [
    "Exactly what I needed, thanks!",
    "The second step fails, with \"permission denied\", on a fresh machine",
    "First line\nsecond line",
    "First line\r\nsecond line\r\n",
    "=SUM(1,2)",
    "=HYPERLINK(\"https://example.test\",\"open\")",
    "+1 555 0100 is not my number",
    "-1",
    "@team please have a look",
    "\t=1+1",
    "semi;colon;separated",
    "\"",
    "It's the 'quoted' part",
    "<script>alert(1)</script> & <b>bold</b>",
    "back\\slash\\n",
    "",
    " leading and trailing ",
    "Très utile, merci 🚀",
    "分かりやすいです。",
    "شكرا على الشرح",
    "decomposed e\u{301}, and a zero\u{200b}width space",
    "line\u{2028}separator",
    "null",
    "{{template}} ${variable} %s %00",
];

/// Readers' email addresses.
pub(crate) const CONTACTS: [&str; 6] = [
    "reader@example.test",
    "first.last+docs@example.test",
    "\"quoted, name\"@example.test",
    "o'brien@example.test",
    "=cmd@example.test",
    "leserin@bücher.example",
];

/// Code with its filename and language.
pub(crate) const SNIPPETS: [(&str, Option<&str>, Option<&str>); 6] = [
    ("npm install \"acme\"", None, Some("bash")),
    (
        "const a = [1, 2];\nconsole.log(a.map((x) => `${x}, `));\n",
        Some("src/index.ts"),
        Some("typescript"),
    ),
    ("=A1+B1", Some("sheet, final.csv"), None),
    (
        "def f(x):\n\treturn \"x\" if x else None",
        Some("f.py"),
        Some("python"),
    ),
    (
        "{\r\n  \"key\": \"value\"\r\n}",
        Some("docs.json"),
        Some("json"),
    ),
    ("SELECT ';' AS a; -- no comment", None, None),
];

/// The first search terms. Generated terms follow.
pub(crate) const SEARCHES: [&str; 18] = [
    "api key",
    "webhook, retries",
    "\"exact phrase\"",
    "=SUM(A1:A9)",
    "+plus",
    "-minus",
    "@mention",
    "how do i cancel?",
    "über",
    "検索",
    "بحث",
    "🚀",
    "100%",
    "c++",
    "a&b=c#d",
    " api key",
    "<img src=x onerror=alert(1)>",
    "multi\nline",
];

/// Questions to the assistant.
pub(crate) const QUESTIONS: [&str; 12] = [
    "How do I rotate an API key?",
    "Why does \"npm run build\" fail, although it worked yesterday?",
    "=IMPORTXML(\"https://example.test\",\"//a\")",
    "First question.\n\nSecond question?",
    "Wie binde ich eine eigene Domain ein?",
    "ドメインを設定するには？",
    "+ what is that for",
    "-v or --verbose?",
    "@assistant, hello",
    "Can I use <iframe> in \\docs\\?",
    "?",
    "🚀🚀🚀",
];

/// Answers of the assistant.
pub(crate) const ANSWERS: [&str; 6] = [
    "Open **Settings**, choose *API keys*, and select \"Rotate\".",
    "Run these commands:\n\n```bash\nnpm ci\nnpm run build\n```\n\n1. The first, as always\n2. The second\n",
    "=1+1 is a formula; in a table it has to be quoted.",
    "| a | b |\n| --- | --- |\n| 1, 2 | \"3\" |",
    "Ja, über die Einstellungen – siehe „Domains“.",
    "はい、できます。",
];

/// Clarifying questions of the assistant.
pub(crate) const CLARIFICATIONS: [&str; 2] = [
    "Which of the two do you mean, \"live\" or \"test\"?",
    "Which version do you use?",
];

/// The reply to a question that the documentation does not cover.
pub(crate) const NO_ANSWER: &str = "I could not find this in the documentation.";

/// Categories of questions.
pub(crate) const CATEGORIES: [&str; 4] = ["Setup", "API, keys and tokens", "Billing", "=Other"];
