use quillgate::response::decode;
use quillgate::schema::{HasJsonType, JsonType, Object};
use quillgate::{
    CreateAgentJob, CreateDeployment, CreatePreview, Endpoint, Feedback, GetAgentJob,
    GetAgentJobRecord, GetCallerStats, GetConversation, GetDeployment, GetFeedbackByPage,
    JobStatus, ListAgentJobs, ListConversations, ListDeployments, ListFeedback, ListPageViews,
    ListSearches, ListVisitors, Operation, OtherSource, RunAutomation, SendMessage,
    StreamAgentJobEvents, StreamDeploymentEvents, StreamProjectDeploymentEvents,
    StreamProjectJobEvents,
};
use serde_json::{Value, json};

/// A value of the described type with every field present.
fn example(kind: &JsonType) -> Value {
    match kind {
        JsonType::String => json!("x"),
        JsonType::OpenEnum(described) => json!(described.known[0]),
        JsonType::Tag(known) => json!(known[0]),
        JsonType::SafeInteger => json!(7),
        JsonType::Percentage => json!(0.25),
        JsonType::Boolean => json!(true),
        JsonType::Object(object) => object
            .fields
            .iter()
            .map(|field| (field.name.to_owned(), example(&field.kind)))
            .collect(),
        JsonType::Union(union) => example(&union.variants[0].1),
        JsonType::List(element) => json!([example(element)]),
        JsonType::Nullable(inner) => example(inner),
        JsonType::Empty => panic!("a response without a body is not decoded"),
    }
}

/// Collects the JSON pointer of every field and whether the field may be `null` or absent.
fn collect_fields(kind: &JsonType, at: &str, found: &mut Vec<(String, bool)>) {
    match kind {
        JsonType::Object(object) => {
            for field in object.fields {
                let path = format!("{at}/{}", field.name);
                // Without its tag, a union is of the other variant.
                let is_optional = matches!(field.kind, JsonType::Nullable(_) | JsonType::Tag(_));
                found.push((path.clone(), is_optional));
                collect_fields(&field.kind, &path, found);
            }
        }
        JsonType::List(element) => collect_fields(element, &format!("{at}/0"), found),
        JsonType::Nullable(inner) => collect_fields(inner, at, found),
        JsonType::Union(union) => collect_fields(&union.variants[0].1, at, found),
        JsonType::String
        | JsonType::OpenEnum(_)
        | JsonType::Tag(_)
        | JsonType::SafeInteger
        | JsonType::Percentage
        | JsonType::Boolean
        | JsonType::Empty => {}
    }
}

fn assert_described<E: Endpoint>(count: usize)
where
    E::Output: serde::de::DeserializeOwned + serde::Serialize,
{
    let kind = E::Output::JSON_TYPE;
    let complete = example(&kind);
    let read = |body: &Value| decode::<E>(body.to_string().as_bytes());
    // The value round-trips with exactly the described fields.
    let found =
        serde_json::to_value(read(&complete).unwrap_or_else(|error| panic!("{error}"))).unwrap();
    assert_eq!(found, complete);

    let mut found = Vec::new();
    collect_fields(&kind, "", &mut found);
    assert_eq!(found.len(), count);
    for (path, is_optional) in found {
        let mut null = complete.clone();
        *null.pointer_mut(&path).unwrap() = Value::Null;
        assert_eq!(read(&null).is_ok(), is_optional, "{path} as null");

        let mut missing = complete.clone();
        let (parent, name) = path.rsplit_once('/').unwrap();
        missing
            .pointer_mut(parent)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .remove(name)
            .unwrap();
        assert_eq!(read(&missing).is_ok(), is_optional, "{path} absent");
    }
}

#[test]
fn an_agent_job_matches_its_description() {
    assert_described::<CreateAgentJob>(9);
    assert_described::<GetAgentJob>(9);
    assert_described::<SendMessage>(9);
    assert_described::<StreamAgentJobEvents>(9);
    assert_described::<StreamProjectJobEvents>(7);
    assert_described::<GetAgentJobRecord>(17);
}

#[test]
fn a_page_of_jobs_matches_its_description() {
    assert_described::<ListAgentJobs>(10);
}

#[test]
fn deployments_match_their_descriptions() {
    assert_described::<CreateDeployment>(1);
    assert_described::<CreatePreview>(2);
    assert_described::<GetDeployment>(24);
    assert_described::<StreamDeploymentEvents>(24);
    assert_described::<ListDeployments>(12);
    assert_described::<StreamProjectDeploymentEvents>(9);
    assert_described::<RunAutomation>(3);
}

#[test]
fn page_views_match_their_description() {
    assert_described::<ListPageViews>(10);
}

#[test]
fn the_other_reports_match_their_descriptions() {
    assert_described::<ListVisitors>(10);
    assert_described::<ListFeedback>(11);
    assert_described::<GetFeedbackByPage>(7);
    assert_described::<ListSearches>(8);
    assert_described::<ListConversations>(14);
    assert_described::<GetConversation>(7);
    assert_described::<GetCallerStats>(4);
}

#[test]
fn feedback_variants_are_distinguished_by_source() {
    let read = |entry: Value| {
        let body = json!({ "feedback": [entry], "nextCursor": null, "hasMore": false });
        decode::<ListFeedback>(body.to_string().as_bytes())
            .map(|page| page.feedback.into_iter().next().unwrap())
    };
    let page = read(json!({ "source": "contextual", "helpful": true, "code": 5 })).unwrap();
    assert!(matches!(page, Feedback::Contextual(entry) if entry.helpful == Some(true)));
    let code = read(json!({ "source": "code_snippet", "code": "x" })).unwrap();
    assert!(matches!(code, Feedback::CodeSnippet(entry) if entry.code.as_deref() == Some("x")));
    for source in ["agent", "thumbs_only", "carrier_pigeon"] {
        let other = read(json!({ "source": source, "id": "f1" })).unwrap();
        let Feedback::Other(entry) = other else {
            panic!("{source}")
        };
        assert_eq!(entry.source.as_ref().map(OtherSource::as_str), Some(source));
    }
    for entry in [json!({ "id": "f1" }), json!({ "source": null })] {
        let other = read(entry).unwrap();
        assert!(matches!(other, Feedback::Other(entry) if entry.source.is_none()));
    }
    for (entry, at) in [
        (json!({ "source": "contextual", "helpful": 1 }), "helpful"),
        (json!({ "source": "code_snippet", "code": 5 }), "code"),
        (json!({ "source": 5 }), "source"),
    ] {
        assert_eq!(read(entry).unwrap_err().at, format!("feedback[0].{at}"));
    }
    assert_eq!(read(json!("text")).unwrap_err().at, "feedback[0]");
}

#[test]
fn the_described_statuses_are_the_known_statuses() {
    let JsonType::OpenEnum(described) = JobStatus::JSON_TYPE else {
        panic!("the status of a job is not an open enum");
    };
    assert_eq!(described.name, "JobStatus");
    for text in described.known {
        assert!(JobStatus::from((*text).to_owned()).is_known(), "{text}");
    }
    assert_eq!(described.known.len(), 4);
}

fn assert_documented(object: &Object) {
    assert!(!object.doc.is_empty(), "{}", object.name);
    for field in object.fields {
        let doc = field.doc.concat();
        let name = format!("{}.{}", object.name, field.name);
        assert!(doc.trim().ends_with('.'), "{name}: {doc}");
    }
}

#[cfg_attr(not(feature = "documentation"), ignore = "needs the documentation")]
#[test]
fn every_field_is_documented() {
    fn walk(kind: &JsonType) {
        match kind {
            JsonType::Object(object) => {
                assert_documented(object);
                object.fields.iter().for_each(|field| walk(&field.kind));
            }
            JsonType::Union(union) => {
                assert!(!union.doc.is_empty(), "{}", union.name);
                union.variants.iter().for_each(|(_, variant)| walk(variant));
                walk(&union.otherwise);
            }
            JsonType::List(inner) | JsonType::Nullable(inner) => walk(inner),
            _ => {}
        }
    }
    for operation in Operation::ALL {
        walk(operation.result());
    }
}
