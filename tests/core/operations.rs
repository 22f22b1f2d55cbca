//! What each operation sends: the exact method, target and body.

use quillgate::endpoint::{ParameterKind, Place};
use quillgate::value::Value;
use quillgate::{
    CreateAgentJob, DateBound, DateRange, Endpoint, GetAgentJob, JobId, ListAgentJobs,
    ListPageViews, Method, OPERATIONS, Offset, Operation, PageSize, ProjectId, Prompt, Request,
    SendMessage,
};
use serde_json::json;

/// Ids that would change the route if they were not encoded, and how they have to stand in it.
const HOSTILE: &[(&str, &str)] = &[
    ("a/../b?x=1#y", "a%2F..%2Fb%3Fx%3D1%23y"),
    (
        "../../v1/analytics/acme/views",
        "..%2F..%2Fv1%2Fanalytics%2Facme%2Fviews",
    ),
    ("%2e%2e", "%252e%252e"),
    ("%2F", "%252F"),
    ("...", "..."),
    ("..\\..", "..%5C.."),
    (" ", "%20"),
    ("\r\nHost: evil", "%0D%0AHost%3A%20evil"),
    ("\0", "%00"),
    ("a+b&c=d;e,f", "a%2Bb%26c%3Dd%3Be%2Cf"),
    ("文档-é", "%E6%96%87%E6%A1%A3-%C3%A9"),
    ("🪶", "%F0%9F%AA%B6"),
    ("//evil.example/", "%2F%2Fevil.example%2F"),
    ("{projectId}", "%7BprojectId%7D"),
];

fn project() -> ProjectId {
    ProjectId::new("acme").unwrap()
}

fn job() -> JobId {
    JobId::new("job_1").unwrap()
}

fn prompt() -> Prompt {
    Prompt::new("Fix the \"start\" page\n").unwrap()
}

fn post(target: &str, body: &str) -> Request {
    Request {
        method: Method::Post,
        target: target.to_owned(),
        body: Some(body.to_owned()),
    }
}

fn get(target: &str) -> Request {
    Request {
        method: Method::Get,
        target: target.to_owned(),
        body: None,
    }
}

#[test]
fn creating_a_job_posts_the_prompt_and_nothing_else() {
    assert_eq!(
        CreateAgentJob::new(prompt()).request(&project()),
        post(
            "/v2/agent/acme/job",
            r#"{"prompt":"Fix the \"start\" page\n"}"#
        )
    );
}

#[test]
fn a_job_is_read_by_its_id() {
    assert_eq!(
        GetAgentJob::new(job()).request(&project()),
        get("/v2/agent/acme/job/job_1")
    );
}

#[test]
fn a_follow_up_posts_the_prompt_to_the_jobs_messages() {
    assert_eq!(
        SendMessage::new(job(), prompt()).request(&project()),
        post(
            "/v2/agent/acme/job/job_1/message",
            r#"{"prompt":"Fix the \"start\" page\n"}"#
        )
    );
}

#[test]
fn page_views_without_parameters_leave_the_defaults_to_the_upstream() {
    assert_eq!(
        ListPageViews::default().request(&project()),
        get("/v1/analytics/acme/views")
    );
}

#[test]
fn page_views_send_every_parameter_in_the_order_of_the_specification() {
    let bound = |field, text: &str| Some(DateBound::new(field, text).unwrap());
    let list = ListPageViews {
        range: DateRange::new(
            bound("dateFrom", "2024-02-01"),
            bound("dateTo", "2024-03-01"),
        )
        .unwrap(),
        limit: Some(PageSize::MAX),
        offset: Some(Offset::new(500).unwrap()),
    };
    assert_eq!(
        list.request(&project()),
        get("/v1/analytics/acme/views?dateFrom=2024-02-01&dateTo=2024-03-01&limit=250&offset=500")
    );
}

#[test]
fn each_page_view_parameter_can_be_sent_alone() {
    for (params, query) in [
        (json!({"dateFrom": "2024-02-29"}), "dateFrom=2024-02-29"),
        (json!({"dateTo": "2024-02-29"}), "dateTo=2024-02-29"),
        (json!({"limit": 1}), "limit=1"),
        (json!({"offset": 0}), "offset=0"),
        (
            json!({"offset": 9_007_199_254_740_991_u64}),
            "offset=9007199254740991",
        ),
    ] {
        let target = ListPageViews::parse(&params)
            .unwrap()
            .request(&project())
            .target;
        assert_eq!(target, format!("/v1/analytics/acme/views?{query}"));
    }
}

#[test]
fn the_plus_of_an_offset_does_not_become_a_space() {
    let params =
        json!({"dateFrom": "2024-01-01T00:00:00.5+02:00", "dateTo": "2024-01-02T00:00-11:30"});
    assert_eq!(
        ListPageViews::parse(&params)
            .unwrap()
            .request(&project())
            .target,
        "/v1/analytics/acme/views?dateFrom=2024-01-01T00%3A00%3A00.5%2B02%3A00&dateTo=2024-01-02T00%3A00-11%3A30"
    );
}

#[test]
fn a_date_is_sent_as_it_was_written() {
    for text in [
        "2024-02-29",
        "2024-02-29T10:00",
        "2024-02-29T10:00:00.123456789Z",
    ] {
        let list = ListPageViews::parse(&json!({"dateFrom": text})).unwrap();
        assert_eq!(list.range.from().unwrap().as_str(), text);
        let query = format!("?dateFrom={}", text.replace(':', "%3A"));
        assert!(list.request(&project()).target.ends_with(&query), "{text}");
    }
}

#[test]
fn a_hostile_project_id_stays_one_segment() {
    for (id, segment) in HOSTILE {
        let project = ProjectId::new(*id).unwrap();
        assert_eq!(
            CreateAgentJob::new(prompt()).request(&project).target,
            format!("/v2/agent/{segment}/job")
        );
        assert_eq!(
            ListPageViews::default().request(&project).target,
            format!("/v1/analytics/{segment}/views")
        );
        assert_eq!(project.as_str(), *id);
    }
}

#[test]
fn a_hostile_job_id_stays_one_segment() {
    for (id, segment) in HOSTILE {
        let job = JobId::new(*id).unwrap();
        assert_eq!(
            GetAgentJob::new(job.clone()).request(&project()).target,
            format!("/v2/agent/acme/job/{segment}")
        );
        assert_eq!(
            SendMessage::new(job.clone(), prompt())
                .request(&project())
                .target,
            format!("/v2/agent/acme/job/{segment}/message")
        );
        assert_eq!(job.as_str(), *id);
    }
}

#[test]
fn a_prompt_cannot_add_members_to_the_body() {
    for text in [
        r#"x","model":"big"#,
        "\\",
        "\u{2028}\u{7}\u{0}",
        "{}",
        "文档 🪶",
        " ",
        "</script>",
    ] {
        let request = CreateAgentJob::new(Prompt::new(text).unwrap()).request(&project());
        let body: serde_json::Value = serde_json::from_str(&request.body.unwrap()).unwrap();
        assert_eq!(body, json!({"prompt": text}));
    }
}

#[test]
fn methods_are_spelled_as_in_a_request_line() {
    assert_eq!(Method::Get.as_str(), "GET");
    assert_eq!(Method::Post.as_str(), "POST");
}

/// A call with every parameter that the operation has.
fn full_call<E: Endpoint>(params: &impl Value) -> (&'static str, Request) {
    (
        E::OPERATION.name,
        E::parse(params).unwrap().request(&project()),
    )
}

fn operation(name: &str) -> &'static Operation {
    OPERATIONS
        .iter()
        .find(|operation| operation.name == name)
        .unwrap()
}

#[test]
fn what_an_operation_says_of_itself_is_what_it_sends() {
    let params = json!({
        "id": "job_1", "prompt": "x", "dateFrom": "2024-01-01", "dateTo": "2024-01-02",
        "limit": 9, "offset": 8, "cursor": "c",
    });
    let calls = [
        full_call::<CreateAgentJob>(&params),
        full_call::<GetAgentJob>(&params),
        full_call::<SendMessage>(&params),
        full_call::<ListAgentJobs>(&params),
        full_call::<ListPageViews>(&params),
    ];
    assert_eq!(calls.len(), OPERATIONS.len());
    for (name, request) in calls {
        let operation = operation(name);
        assert_eq!(request.method, operation.method, "{name}");

        let (path, query) = request
            .target
            .split_once('?')
            .unwrap_or((&request.target, ""));
        let route = operation
            .path
            .replace("{projectId}", "acme")
            .replace("{id}", "job_1");
        assert_eq!(path, route, "{name}");

        let named = |place| -> Vec<&str> {
            operation
                .parameters
                .iter()
                .filter(|p| p.place == place)
                .map(|p| p.name)
                .collect()
        };
        let in_path = operation.path.contains("{id}");
        assert_eq!(
            named(Place::Path),
            if in_path { vec!["id"] } else { vec![] },
            "{name}"
        );
        let sent: Vec<_> = query
            .split('&')
            .filter_map(|pair| Some(pair.split_once('=')?.0))
            .collect();
        assert_eq!(named(Place::Query), sent, "{name}");
        let body: serde_json::Value = request
            .body
            .map_or(json!({}), |body| serde_json::from_str(&body).unwrap());
        let members: Vec<_> = body.as_object().unwrap().keys().collect();
        assert_eq!(named(Place::Body), members, "{name}");
    }
}

/// Whether the operation takes a call with these parameters.
fn takes(name: &str, params: &serde_json::Value) -> bool {
    match name {
        "agentJobs.create" => CreateAgentJob::parse(params).is_ok(),
        "agentJobs.get" => GetAgentJob::parse(params).is_ok(),
        "agentJobs.sendMessage" => SendMessage::parse(params).is_ok(),
        "agentJobs.list" => ListAgentJobs::parse(params).is_ok(),
        "analytics.views" => ListPageViews::parse(params).is_ok(),
        _ => panic!("an operation that the tests do not know: {name}"),
    }
}

fn sample(name: &str, kind: ParameterKind) -> serde_json::Value {
    match kind {
        ParameterKind::Text => json!("x"),
        ParameterKind::Date => json!(if name == "dateTo" {
            "2024-01-02"
        } else {
            "2024-01-01"
        }),
        ParameterKind::Integer { max, .. } => json!(max),
    }
}

#[test]
fn a_parameter_is_required_exactly_where_its_operation_says_so() {
    for operation in OPERATIONS {
        for left_out in operation.parameters {
            let rest = operation
                .parameters
                .iter()
                .filter(|p| p.name != left_out.name);
            let params = rest
                .map(|p| (p.name.to_owned(), sample(p.name, p.kind)))
                .collect();
            let taken = takes(operation.name, &serde_json::Value::Object(params));
            assert_eq!(
                taken, !left_out.required,
                "{} without {}",
                operation.name, left_out.name
            );
        }
    }
}

#[test]
fn the_documented_bounds_of_integers_are_the_enforced_ones() {
    let mut integers = Vec::new();
    let of = |operation: &'static Operation| {
        let parameters = operation.parameters.iter();
        parameters.map(move |parameter| (operation.name, parameter))
    };
    for (operation, parameter) in OPERATIONS.into_iter().flat_map(of) {
        let ParameterKind::Integer { min, max, default } = parameter.kind else {
            continue;
        };
        integers.push((operation, parameter.name));
        let takes = |value: serde_json::Value| takes(operation, &json!({ parameter.name: value }));
        assert!(takes(json!(min)) && takes(json!(max)) && takes(json!(default)));
        assert!(!takes(json!(max + 1)), "{} above {max}", parameter.name);
        let below = i64::try_from(min).unwrap() - 1;
        assert!(!takes(json!(below)), "{} below {min}", parameter.name);
    }
    assert_eq!(
        integers,
        [
            ("agentJobs.list", "limit"),
            ("analytics.views", "limit"),
            ("analytics.views", "offset"),
        ]
    );
}

#[test]
fn operations_have_names_and_routes_of_their_own() {
    for (at, one) in OPERATIONS.iter().enumerate() {
        for other in &OPERATIONS[at + 1..] {
            assert_ne!(one.name, other.name);
            assert_ne!(
                (one.method.as_str(), one.path),
                (other.method.as_str(), other.path)
            );
        }
    }
}

#[test]
fn each_operation_needs_the_scope_of_its_kind() {
    let scopes = OPERATIONS.map(|operation| (operation.name, operation.scope));
    assert_eq!(
        scopes,
        [
            ("agentJobs.create", "jobs:create"),
            ("agentJobs.get", "jobs:read"),
            ("agentJobs.sendMessage", "jobs:create"),
            ("agentJobs.list", "jobs:read"),
            ("analytics.views", "analytics:read"),
        ]
    );
}
