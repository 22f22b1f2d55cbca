//! Generates the tables of `quillgate/testing`: the gateway's routes with their parameters, and its
//! problems.

use std::fmt::Write as _;

use quillgate::declaration::{Parameter, ParameterIn, ParameterKind};
use quillgate::{IntegerRule, Operation, RateLimitPolicy, Rule};
use quillgate_worker::http::problem_kind::ProblemKind;
use serde_json::{Value, json};

use crate::text::{EVENT_STREAMS, of_package};

const PRELUDE: &str = "\
/** Routes and problems of the gateway. Generated from the Rust types: do not edit. */

export interface RouteParameter {
  readonly name: string;
  readonly place: \"path\" | \"query\" | \"body\";
  readonly isRequired: boolean;
  /** The bounds and the default of an integer. */
  readonly integer?: { min: number; max: number; default: number; rule: string };
  /** The allowed values, if they are a fixed list. */
  readonly values?: readonly string[];
}

export interface Route {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  /** The rate limit that requests count against. */
  readonly policy: string | null;
  readonly parameters: readonly RouteParameter[];
}

export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  readonly headers: readonly string[];
  /** Whether the outcome of a write is unknown after this problem. */
  readonly isUncertain: boolean;
}
";

/// Returns the module `pkg/src/generated/routes.ts`.
pub fn typescript() -> String {
    let mut module = String::from(PRELUDE);
    module.push_str("\nexport const ROUTES: readonly Route[] = [\n");
    for operation in of_package().chain(EVENT_STREAMS) {
        let _ = writeln!(module, "  {},", describe_route(operation));
    }
    module.push_str("];\n\nexport const PROBLEMS: Readonly<Record<string, ProblemKind>> = {\n");
    for kind in ProblemKind::ALL {
        let described = json!({
            "status": kind.status().unwrap_or(502),
            "title": kind.title(),
            "headers": kind.headers(),
            "isUncertain": kind.optional_members().contains(&"outcome"),
        });
        let _ = writeln!(module, "  \"{}\": {described},", kind.as_str());
    }
    module.push_str("};\n");
    module
}

fn describe_route(operation: Operation) -> Value {
    let declared = operation.declaration();
    let parameters = declared.parameters.iter();
    // Clients convert `page` to `offset`.
    let sent = parameters.filter(|parameter| parameter.kind != ParameterKind::Page);
    json!({
        "operation": declared.name,
        "method": declared.method.as_str(),
        "path": declared.path,
        "policy": declared.policy.map(RateLimitPolicy::as_str),
        "parameters": sent.map(describe_parameter).collect::<Vec<_>>(),
    })
}

fn describe_parameter(parameter: &Parameter) -> Value {
    let place = match parameter.place {
        ParameterIn::Path => "path",
        ParameterIn::Query => "query",
        ParameterIn::Body => "body",
    };
    let mut described =
        json!({ "name": parameter.name, "place": place, "isRequired": parameter.is_required });
    match parameter.kind {
        ParameterKind::Integer { rule, default } => {
            described["integer"] = describe_integer(rule, default);
        }
        ParameterKind::OneOf(values) => described["values"] = json!(values),
        _ => {}
    }
    described
}

fn describe_integer(rule: &'static IntegerRule, default: u64) -> Value {
    let name = Rule::Integer(rule).name();
    json!({ "min": rule.min, "max": rule.max, "default": default, "rule": name })
}
