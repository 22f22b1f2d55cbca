use crate::fake_host::{FakeHost, KEY, TOKEN, create, get_job, send_message};
use quillgate::Rule;
use quillgate::client::Error;
use quillgate::client::http::{HeaderMap, HeaderValue};
use serde_json::json;

const OK: &str = r#"{"status":200,"json":{"id":"j1","status":"active"}}"#;

#[tokio::test(start_paused = true)]
async fn a_job_is_identified_by_its_id_or_by_itself() {
    let host = FakeHost::new([OK; 4]);
    let client = host.client();
    let jobs = client.agent_jobs();
    let job = jobs.get("j1").send().await.unwrap();
    let id: quillgate::JobId = "j1".parse().unwrap();
    jobs.get(&job).send().await.unwrap();
    jobs.get(&id).send().await.unwrap();
    jobs.get(id).send().await.unwrap();
    for at in 0..4 {
        assert_eq!(host.target(at), "/v2/agent/acme/job/j1");
    }
}

#[tokio::test(start_paused = true)]
async fn requests_to_mintlify_carry_the_admin_key() {
    let host = FakeHost::new([OK, OK]);
    let proxy = "http://127.0.0.1:8788/under/here/";
    let behind_proxy = host.builder().platform_at(proxy, KEY);
    for (at, builder, base_url) in [
        (0, host.platform(), "https://api.mintlify.com"),
        (1, behind_proxy, proxy.trim_end_matches('/')),
    ] {
        get_job(&builder.build().unwrap()).send().await.unwrap();
        let url = format!("{base_url}/v2/agent/acme/job/j1");
        assert_eq!(host.request(at, "url"), url);
        let authorization = host.header(at, "authorization");
        assert_eq!(authorization, Some(format!("Bearer {KEY}")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_webhook_url_is_sent_to_gateways_only() {
    let url = "https://hooks.example/done";
    let host = FakeHost::new([OK]);
    let call = create(&host.client()).webhook_url(url);
    call.send().await.unwrap();
    assert_eq!(host.header(0, "webhook-url").as_deref(), Some(url));

    let host = FakeHost::new([""; 0]);
    let platform = host.platform().build().unwrap();
    for (call, rule) in [
        (create(&platform).webhook_url(url), Rule::GatewayOnly),
        (create(&host.client()).webhook_url("x"), Rule::WebhookUrl),
    ] {
        let error = call.send().await.unwrap_err();
        assert!(matches!(error, Error::Validation(error) if error.rule == rule));
    }
}

fn headers<const N: usize>(fields: [(&'static str, &'static str); N]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
}

#[tokio::test(start_paused = true)]
async fn custom_headers_are_sent_but_do_not_replace_required_headers() {
    let host = FakeHost::new([OK]);
    let own = headers([
        ("x-own", "1"),
        ("authorization", "Basic eA=="),
        ("accept", "text/html"),
    ]);
    let client = host.builder().headers(own).build().unwrap();
    let call = create(&client).headers(headers([("x-own", "2"), ("x-more", "3")]));
    call.idempotency_key("once-1").send().await.unwrap();
    let expected = json!({
        "accept": "application/json",
        "authorization": format!("Bearer {TOKEN}"),
        "content-type": "application/json",
        "idempotency-key": "once-1",
        "x-more": "3",
        "x-own": "2",
    });
    assert_eq!(host.request(0, "headers"), expected);
}

#[tokio::test(start_paused = true)]
async fn writes_to_a_gateway_get_a_fresh_idempotency_key_and_reads_get_none() {
    let host = FakeHost::new([OK; 5]);
    let client = host.client();
    create(&client).send().await.unwrap();
    send_message(&client).send().await.unwrap();
    create(&client).send().await.unwrap();
    get_job(&client).send().await.unwrap();
    let call = create(&client).idempotency_key("once-1");
    call.send().await.unwrap();
    let keys: Vec<_> = (0..5)
        .map(|at| host.header(at, "idempotency-key"))
        .collect();
    for fresh in &keys[..3] {
        let fresh = fresh.as_deref().unwrap();
        assert_eq!(fresh.len(), 32, "128 bits as hexadecimal digits");
        assert!(fresh.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    assert_eq!(keys[3], None);
    assert_eq!(keys[4].as_deref(), Some("once-1"));
}

#[tokio::test(start_paused = true)]
async fn mintlify_gets_an_idempotency_key_only_from_the_caller() {
    let host = FakeHost::new([OK; 2]);
    let client = host.platform().build().unwrap();
    create(&client).send().await.unwrap();
    let call = create(&client).idempotency_key("once-1");
    call.send().await.unwrap();
    assert_eq!(host.header(0, "idempotency-key"), None);
    let key = host.header(1, "idempotency-key");
    assert_eq!(key.as_deref(), Some("once-1"));
}

#[tokio::test(start_paused = true)]
async fn a_forced_call_is_marked_and_sent_once() {
    let host = FakeHost::new([r#"{"status":503}"#, OK]);
    let call = create(&host.client()).idempotency_key("once-1").force();
    call.send().await.unwrap_err();
    let retry = host.header(0, "idempotency-retry");
    assert_eq!(retry.as_deref(), Some("force"));
    assert_eq!(host.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_forced_call_without_a_key_is_not_sent() {
    let host = FakeHost::new([OK]);
    let error = create(&host.client()).force().send().await.unwrap_err();
    assert!(matches!(
        error,
        Error::Validation(error) if error.field == "idempotencyKey" && error.rule == Rule::Required
    ));
    assert_eq!(host.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn debug_output_hides_credentials_and_prompts() {
    let host = FakeHost::new::<&str>([]);
    for builder in [host.builder(), host.platform()] {
        let printed = format!("{builder:?}");
        let client = builder.build().unwrap();
        let output = [
            printed,
            format!("{client:?}"),
            format!("{:?}", client.agent_jobs()),
            format!("{:?}", client.agent_jobs().create("secret plan")),
            format!("{:?}", client.agent_jobs().watch("j1")),
            format!("{:?}", client.analytics().views(..)),
        ]
        .concat();
        for shown in ["acme", "prompt"] {
            assert!(output.contains(shown), "{output}");
        }
        for secret in [TOKEN, KEY, "secret plan"] {
            assert!(!output.contains(secret), "{output}");
        }
    }
}

#[tokio::test]
async fn calls_can_be_spawned_on_another_thread() {
    let host = FakeHost::new([OK]);
    let client = host.client();
    let job = tokio::spawn(async move { client.agent_jobs().get("j1").send().await });
    assert_eq!(job.await.unwrap().unwrap().id.as_deref(), Some("j1"));
}
