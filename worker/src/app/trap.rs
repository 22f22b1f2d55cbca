//! A route that makes the wasm module trap. Only the Worker of `npm start` has the feature
//! `trap-route`.

use js_sys::Promise;
use worker::Env;

use crate::analytics::organization_stub::OrganizationStub;
use crate::http::request_head::RequestHead;
use crate::http::url::find_parameter;
use crate::jobs::project_stub::ProjectStub;
use crate::jobs::resource::Resource;
use crate::runtime::trap::{trap_later, trap_now};

/// `now` traps synchronously, `later` after an `await`, and other values of `where` in a Durable
/// Object.
pub fn handle(head: &RequestHead, env: &Env) -> Option<Promise> {
    if head.path != "/__trap" || head.method != "POST" {
        return None;
    }
    let parameter = |name| find_parameter(head.query.as_deref(), name);
    let trapping = match parameter("where") {
        Some("now") => trap_now(),
        Some("organization") => OrganizationStub::new(env).ok()?.trap(),
        Some("project") => ProjectStub::new(env, parameter("project")?, Resource::Job)
            .ok()?
            .trap(),
        _ => trap_later(),
    };
    // An RPC call returns a thenable that is not an instance of `Promise`, so it must be converted.
    Some(Promise::resolve(&trapping))
}
