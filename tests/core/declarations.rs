//! Checks that the declarations of operations agree with requests, validation and documentation.

use quillgate::declaration::{Pagination, ParameterIn, ParameterKind};
use quillgate::{
    BeginBackfill, Call, CreateAgentJob, DeleteAgentJobRecord, Endpoint, EstimateBackfill,
    ExportConversations, ExportFeedback, ExportPageViews, ExportSearches, ExportVisitors,
    GetAgentJob, GetAgentJobRecord, GetArchiveStatus, GetCallerStats, GetConversation,
    GetFeedbackByPage, ListAgentJobs, ListArchivedViews, ListConversations, ListDailyViews,
    ListFeedback, ListPageViews, ListSearches, ListVisitors, Operation, RateLimitPolicy, Request,
    Scope, SendMessage, StreamAgentJobEvents, StreamProjectJobEvents,
};
use serde_json::json;

use crate::operations::project;

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
        Operation::ListArchivedViews => of::<ListArchivedViews>(params),
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
        ParameterKind::OneOf(known) | ParameterKind::ListOf(known) => json!(known[0]),
    }
}

/// All parameters of an operation except one.
///
/// Also omits `page`, which cannot be combined with `offset`.
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
        for parameter in named(ParameterIn::Path) {
            assert!(
                declaration.path.contains(&format!("{{{parameter}}}")),
                "{name}"
            );
        }
        let braces = declaration.path.matches('{').count();
        assert_eq!(named(ParameterIn::Path).len() + 1, braces, "{name}");
        let sent: Vec<_> = query
            .split('&')
            .filter_map(|pair| Some(pair.split_once('=')?.0))
            .collect();
        assert_eq!(named(ParameterIn::Query), sent, "{name}");
        let body: serde_json::Value = request
            .body
            .map_or(json!({}), |body| serde_json::from_str(&body).unwrap());
        let fields: Vec<_> = body.as_object().unwrap().keys().collect();
        assert_eq!(named(ParameterIn::Body), fields, "{name}");
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
            (Operation::ListArchivedViews, "limit", 1, 1000, 1000),
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
    const CREATE: Option<RateLimitPolicy> = Some(RateLimitPolicy::CreateJob);
    const SEND: Option<RateLimitPolicy> = Some(RateLimitPolicy::SendMessage);
    const READ: Option<RateLimitPolicy> = Some(RateLimitPolicy::ReadJobs);
    const ANALYTICS: Option<RateLimitPolicy> = Some(RateLimitPolicy::Analytics);
    let cursor = |rows, time| Pagination::Cursor { rows, time };
    let jobs = cursor("jobs", None);
    let views = Pagination::Offset { rows: "views" };
    let report = |name, pagination| (name, Scope::ReadAnalytics, ANALYTICS, pagination);
    let (days, no_pages) = (cursor("views", None), Pagination::None);
    let gateway_only = |name, scope, pagination| (name, scope, None, pagination);
    let reads = |name| (name, Scope::ReadJobs, READ, no_pages);
    let expected = [
        ("agentJobs.create", Scope::CreateJobs, CREATE, no_pages),
        ("agentJobs.get", Scope::ReadJobs, READ, no_pages),
        ("agentJobs.sendMessage", Scope::CreateJobs, SEND, no_pages),
        ("agentJobs.list", Scope::ReadJobs, READ, jobs),
        ("analytics.views", Scope::ReadAnalytics, ANALYTICS, views),
        report(
            "analytics.visitors",
            Pagination::Offset { rows: "visitors" },
        ),
        report("analytics.feedback", cursor("feedback", Some("createdAt"))),
        report("analytics.feedbackByPage", no_pages),
        report("analytics.searches", cursor("searches", None)),
        (
            "analytics.conversations",
            Scope::ReadConversations,
            ANALYTICS,
            cursor("conversations", Some("timestamp")),
        ),
        (
            "analytics.conversation",
            Scope::ReadConversations,
            ANALYTICS,
            no_pages,
        ),
        report("analytics.callerStats", no_pages),
        reads("agentJobs.record"),
        gateway_only("agentJobs.deleteRecord", Scope::Operate, no_pages),
        gateway_only("analytics.dailyViews", Scope::ReadAnalytics, days),
        gateway_only("analytics.archivedViews", Scope::ReadAnalytics, days),
        gateway_only("analytics.archiveStatus", Scope::ReadAnalytics, no_pages),
        gateway_only("analytics.estimateBackfill", Scope::Operate, no_pages),
        gateway_only("analytics.beginBackfill", Scope::Operate, no_pages),
        reads("agentJobs.events"),
        reads("agentJobs.allEvents"),
        report("analytics.views.export", no_pages),
        report("analytics.visitors.export", no_pages),
        report("analytics.feedback.export", no_pages),
        report("analytics.searches.export", no_pages),
        (
            "analytics.conversations.export",
            Scope::ReadConversations,
            ANALYTICS,
            no_pages,
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
        RateLimitPolicy::ALL.map(RateLimitPolicy::as_str),
        ["create-job", "send-message", "analytics", "read-jobs"]
    );
    for policy in RateLimitPolicy::ALL {
        assert_eq!(RateLimitPolicy::from_name(policy.as_str()), Some(policy));
        assert_eq!(serde_json::to_value(policy).unwrap(), policy.as_str());
    }
    assert_eq!(RateLimitPolicy::from_name("Analytics"), None);
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
