//! A route that makes the wasm module trap, so that tests can check how the gateway recovers. It
//! requires the feature `trap-route`, which is never deployed.

use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use worker::Env;

use crate::analytics::organization_stub::OrganizationStub;
use crate::http::request_head::RequestHead;
use crate::http::url::find_parameter;
use crate::jobs::project_stub::ProjectStub;
use crate::runtime::into_promise;
use crate::runtime::trap::{trap_later, trap_now};

/// Handles `POST /__trap?where=now|later|organization|project&project=…`.
///
/// Returns `None` for other requests.
pub fn handle(head: &RequestHead, env: &Env) -> Option<JsValue> {
    if head.path != "/__trap" || head.method != "POST" {
        return None;
    }
    let parameter = |name| find_parameter(head.query.as_deref(), name);
    let env = env.clone();
    match parameter("where") {
        Some("now") => trap_now(),
        Some("organization") => Some(
            into_promise(
                async move { Ok(JsFuture::from(OrganizationStub::new(&env)?.trap()).await?) },
            )
            .into(),
        ),
        Some("project") => {
            let project = parameter("project")?.to_owned();
            Some(
                into_promise(async move {
                    Ok(JsFuture::from(ProjectStub::new(&env, &project)?.trap()).await?)
                })
                .into(),
            )
        }
        _ => Some(trap_later().into()),
    }
}
