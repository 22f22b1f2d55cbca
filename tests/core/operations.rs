//! The exact method, target and body of each operation's request.

use quillgate::declaration::{Pagination, ParameterKind, Place};
use quillgate::{
    BeginBackfill, Call, CreateAgentJob, DateBound, DateRange, DeleteAgentJobRecord, Endpoint,
    EstimateBackfill, ExportConversations, ExportFeedback, ExportPageViews, ExportSearches,
    ExportVisitors, GetAgentJob, GetAgentJobRecord, GetArchiveStatus, GetCallerStats,
    GetConversation, GetFeedbackByPage, JobId, ListAgentJobs, ListConversations, ListDailyViews,
    ListFeedback, ListPageViews, ListSearches, ListVisitors, Method, Offset, Operation, PageSize,
    Policy, ProjectId, Prompt, Request, Scope, SendMessage, StreamAgentJobEvents,
    StreamProjectJobEvents,
};
use serde_json::json;

/// Ids that would change the route without encoding, and their encoded forms.
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
fn creating_a_job_posts_only_the_prompt() {
    assert_eq!(
        CreateAgentJob::new(prompt()).request(&project()),
        post(
            "/v2/agent/acme/job",
            r#"{"prompt":"Fix the \"start\" page\n"}"#
        )
    );
}

#[test]
fn a_job_is_requested_by_its_id() {
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
fn page_views_without_parameters_leave_the_defaults_to_the_platform() {
    assert_eq!(
        ListPageViews::default().request(&project()),
        get("/v1/analytics/acme/views")
    );
}

#[test]
fn page_view_parameters_are_sent_in_the_order_of_the_specification() {
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
        (json!({"page": 2}), "limit=50&offset=50"),
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
fn the_plus_of_a_utc_offset_is_percent_encoded() {
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
fn a_date_is_sent_unchanged() {
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
fn a_hostile_project_id_stays_one_path_segment() {
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
fn a_hostile_job_id_stays_one_path_segment() {
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
fn a_prompt_cannot_add_fields_to_the_body() {
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
fn methods_have_their_http_names() {
    assert_eq!(Method::Get.as_str(), "GET");
    assert_eq!(Method::Post.as_str(), "POST");
    assert_eq!(Method::Delete.as_str(), "DELETE");
}

/// The request built by the operation's typed endpoint.
fn typed_request(operation: Operation, params: &serde_json::Value) -> Request {
    fn of<E: Endpoint>(params: &serde_json::Value) -> Request {
        E::parse(params).unwrap().request(&project())
    }
    match operation {
        Operation::CreateAgentJob => of::<CreateAgentJob>(params),
        Operation::GetAgentJob => of::<GetAgentJob>(params),
        Operation::SendMessage => of::<SendMessage>(params),
        Operation::ListAgentJobs => of::<ListAgentJobs>(params),
        Operation::StreamAgentJobEvents => of::<StreamAgentJobEvents>(params),
        Operation::StreamProjectJobEvents => of::<StreamProjectJobEvents>(params),
        Operation::GetAgentJobRecord => of::<GetAgentJobRecord>(params),
        Operation::DeleteAgentJobRecord => of::<DeleteAgentJobRecord>(params),
        Operation::ExportPageViews => of::<ExportPageViews>(params),
        Operation::ExportVisitors => of::<ExportVisitors>(params),
        Operation::ExportFeedback => of::<ExportFeedback>(params),
        Operation::ExportSearches => of::<ExportSearches>(params),
        Operation::ExportConversations => of::<ExportConversations>(params),
        Operation::ListPageViews => of::<ListPageViews>(params),
        Operation::ListVisitors => of::<ListVisitors>(params),
        Operation::ListFeedback => of::<ListFeedback>(params),
        Operation::GetFeedbackByPage => of::<GetFeedbackByPage>(params),
        Operation::ListSearches => of::<ListSearches>(params),
        Operation::ListConversations => of::<ListConversations>(params),
        Operation::GetConversation => of::<GetConversation>(params),
        Operation::GetCallerStats => of::<GetCallerStats>(params),
        Operation::ListDailyViews => of::<ListDailyViews>(params),
        Operation::GetArchiveStatus => of::<GetArchiveStatus>(params),
        Operation::EstimateBackfill => of::<EstimateBackfill>(params),
        Operation::BeginBackfill => of::<BeginBackfill>(params),
    }
}

const ULID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn sample(name: &str, kind: ParameterKind) -> serde_json::Value {
    match kind {
        ParameterKind::Text | ParameterKind::Id => json!("x"),
        ParameterKind::Ulid => json!(ULID),
        ParameterKind::Date if name == "dateTo" => json!("2024-01-02"),
        ParameterKind::Date => json!("2024-01-01"),
        ParameterKind::Integer { rule, .. } => json!(rule.max),
        ParameterKind::Page => json!(2),
        ParameterKind::OneOf(known) => json!(known[0]),
    }
}

/// All parameters of an operation except one.
///
/// Also omits `page`, which excludes `offset`.
fn params_without(operation: Operation, omitted: &str) -> serde_json::Value {
    let parameters = operation.declaration().parameters.iter();
    parameters
        .filter(|parameter| parameter.kind != ParameterKind::Page && parameter.name != omitted)
        .map(|parameter| {
            (
                parameter.name.to_owned(),
                sample(parameter.name, parameter.kind),
            )
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Whether the operation accepts a call with these parameters.
fn accepts(operation: Operation, params: &serde_json::Value) -> bool {
    Call::parse(operation.declaration(), params).is_ok()
}

#[test]
fn requests_match_their_declarations() {
    for operation in Operation::ALL.iter().copied() {
        let declaration = operation.declaration();
        let name = declaration.name;
        let params = params_without(operation, "");
        let call = Call::parse(declaration, &params).unwrap();
        let request = call.request(&project());
        assert_eq!(typed_request(operation, &params), request, "{name}");
        assert_eq!(request.method, declaration.method, "{name}");

        let (path, query) = request
            .target
            .split_once('?')
            .unwrap_or((&request.target, ""));
        let route = declaration
            .path
            .replace("{projectId}", "acme")
            .replace("{id}", "x")
            .replace("{threadId}", ULID);
        assert_eq!(path, route, "{name}");

        let named = |place| -> Vec<&str> {
            declaration
                .parameters
                .iter()
                .filter(|parameter| {
                    parameter.place == place && parameter.kind != ParameterKind::Page
                })
                .map(|parameter| parameter.name)
                .collect()
        };
        for parameter in named(Place::Path) {
            assert!(
                declaration.path.contains(&format!("{{{parameter}}}")),
                "{name}"
            );
        }
        let braces = declaration.path.matches('{').count();
        assert_eq!(named(Place::Path).len() + 1, braces, "{name}");
        let sent: Vec<_> = query
            .split('&')
            .filter_map(|pair| Some(pair.split_once('=')?.0))
            .collect();
        assert_eq!(named(Place::Query), sent, "{name}");
        let body: serde_json::Value = request
            .body
            .map_or(json!({}), |body| serde_json::from_str(&body).unwrap());
        let fields: Vec<_> = body.as_object().unwrap().keys().collect();
        assert_eq!(named(Place::Body), fields, "{name}");
    }
}

#[test]
fn exactly_the_parameters_declared_as_required_are_required() {
    for operation in Operation::ALL.iter().copied() {
        let declaration = operation.declaration();
        for omitted in declaration.parameters {
            let is_accepted = accepts(operation, &params_without(operation, omitted.name));
            assert_eq!(
                is_accepted, !omitted.is_required,
                "{} without {}",
                declaration.name, omitted.name
            );
        }
    }
}

#[test]
fn integers_are_limited_to_their_declared_bounds() {
    let mut integers = Vec::new();
    let of = |operation: Operation| {
        let parameters = operation.declaration().parameters.iter();
        parameters.map(move |parameter| (operation, parameter))
    };
    for (operation, parameter) in Operation::ALL.iter().copied().flat_map(of) {
        let ParameterKind::Integer { rule, default } = parameter.kind else {
            continue;
        };
        let (min, max) = (rule.min, rule.max);
        integers.push((operation, parameter.name, min, max, default));
        let accepts = |value: serde_json::Value| {
            let mut params = params_without(operation, parameter.name);
            params[parameter.name] = value;
            accepts(operation, &params)
        };
        assert!(accepts(json!(min)) && accepts(json!(max)) && accepts(json!(default)));
        assert!(!accepts(json!(max + 1)), "{} above {max}", parameter.name);
        let below = i64::try_from(min).unwrap() - 1;
        assert!(!accepts(json!(below)), "{} below {min}", parameter.name);
    }
    assert_eq!(
        integers,
        [
            (Operation::ListAgentJobs, "limit", 1, 100, 25),
            (Operation::ListPageViews, "limit", 1, 250, 50),
            (Operation::ListPageViews, "offset", 0, (1 << 53) - 1, 0),
            (Operation::ListVisitors, "limit", 1, 250, 50),
            (Operation::ListVisitors, "offset", 0, (1 << 53) - 1, 0),
            (Operation::ListFeedback, "limit", 1, 100, 50),
            (Operation::GetFeedbackByPage, "limit", 1, 100, 10),
            (Operation::ListSearches, "limit", 1, 100, 50),
            (Operation::ListConversations, "limit", 1, 1000, 100),
            (Operation::ListDailyViews, "limit", 1, 1000, 366),
        ]
    );
}

#[test]
fn operations_have_unique_names_and_routes() {
    let declarations: Vec<_> = Operation::ALL.iter().map(|it| it.declaration()).collect();
    for (at, one) in declarations.iter().enumerate() {
        for other in &declarations[at + 1..] {
            assert_ne!(one.name, other.name);
            assert_ne!(
                (one.method.as_str(), one.path),
                (other.method.as_str(), other.path)
            );
        }
    }
}

#[test]
fn operations_are_found_by_name() {
    for operation in Operation::ALL.iter().copied() {
        let name = operation.declaration().name;
        assert_eq!(Operation::from_name(name), Some(operation));
        assert_eq!(serde_json::to_value(operation).unwrap(), json!(name));
    }
    for name in ["", "agentJobs", "agentJobs.Get", "pageViews.list"] {
        assert_eq!(Operation::from_name(name), None, "{name}");
    }
}

#[test]
fn each_operation_declares_its_scope_policy_and_pagination() {
    let jobs = Pagination::Cursor { rows: "jobs" };
    let views = Pagination::Offset { rows: "views" };
    let report = |name, pagination| {
        let policy = Some(Policy::Analytics);
        (name, Scope::ReadAnalytics, policy, pagination)
    };
    let (days, no_pages) = (Pagination::Cursor { rows: "views" }, Pagination::Whole);
    let gateway_only = |name, scope, pagination| (name, scope, None, pagination);
    let reads = |name| (name, Scope::ReadJobs, Some(Policy::ReadJobs), no_pages);
    let expected = [
        (
            "agentJobs.create",
            Scope::CreateJobs,
            Some(Policy::CreateJob),
            Pagination::Whole,
        ),
        (
            "agentJobs.get",
            Scope::ReadJobs,
            Some(Policy::ReadJobs),
            Pagination::Whole,
        ),
        (
            "agentJobs.sendMessage",
            Scope::CreateJobs,
            Some(Policy::SendMessage),
            Pagination::Whole,
        ),
        (
            "agentJobs.list",
            Scope::ReadJobs,
            Some(Policy::ReadJobs),
            jobs,
        ),
        (
            "analytics.views",
            Scope::ReadAnalytics,
            Some(Policy::Analytics),
            views,
        ),
        report(
            "analytics.visitors",
            Pagination::Offset { rows: "visitors" },
        ),
        report(
            "analytics.feedback",
            Pagination::Cursor { rows: "feedback" },
        ),
        report("analytics.feedbackByPage", Pagination::Whole),
        report(
            "analytics.searches",
            Pagination::Cursor { rows: "searches" },
        ),
        (
            "analytics.conversations",
            Scope::ReadConversations,
            Some(Policy::Analytics),
            Pagination::Cursor {
                rows: "conversations",
            },
        ),
        (
            "analytics.conversation",
            Scope::ReadConversations,
            Some(Policy::Analytics),
            Pagination::Whole,
        ),
        report("analytics.callerStats", Pagination::Whole),
        reads("agentJobs.record"),
        gateway_only("agentJobs.deleteRecord", Scope::Operate, no_pages),
        gateway_only("analytics.dailyViews", Scope::ReadAnalytics, days),
        gateway_only("analytics.archiveStatus", Scope::ReadAnalytics, no_pages),
        gateway_only("analytics.estimateBackfill", Scope::Operate, no_pages),
        gateway_only("analytics.beginBackfill", Scope::Operate, no_pages),
        reads("agentJobs.events"),
        reads("agentJobs.allEvents"),
        report("analytics.views.export", Pagination::Whole),
        report("analytics.visitors.export", Pagination::Whole),
        report("analytics.feedback.export", Pagination::Whole),
        report("analytics.searches.export", Pagination::Whole),
        (
            "analytics.conversations.export",
            Scope::ReadConversations,
            Some(Policy::Analytics),
            Pagination::Whole,
        ),
    ];
    let actual = Operation::ALL.iter().map(|operation| {
        let declaration = operation.declaration();
        (
            declaration.name,
            declaration.scope,
            declaration.policy,
            declaration.pagination,
        )
    });
    assert_eq!(actual.collect::<Vec<_>>(), expected);
}

#[test]
fn scope_and_policy_names_are_stable() {
    assert_eq!(
        Scope::ALL.map(Scope::as_str),
        [
            "jobs:create",
            "jobs:read",
            "analytics:read",
            "analytics:conversations",
            "gateway:operate",
        ]
    );
    assert_eq!(
        Policy::ALL.map(Policy::as_str),
        ["create-job", "send-message", "analytics", "read-jobs"]
    );
    for policy in Policy::ALL {
        assert_eq!(Policy::from_name(policy.as_str()), Some(policy));
        assert_eq!(serde_json::to_value(policy).unwrap(), policy.as_str());
    }
    assert_eq!(Policy::from_name("Analytics"), None);
}

#[test]
fn every_operation_and_every_parameter_is_documented() {
    for operation in Operation::ALL {
        let (declaration, documentation) = (operation.declaration(), operation.documentation());
        assert!(documentation.summary.concat().trim().ends_with('.'));
        let docs = documentation.parameters;
        assert_eq!(
            declaration.parameters.len(),
            docs.len(),
            "{}",
            declaration.name
        );
        assert!(docs.iter().all(|doc| doc.ends_with('.')), "{docs:?}");
    }
}
