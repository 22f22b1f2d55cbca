//! Collects the values in a request's path, query and body. The core (the crate `quillgate`)
//! validates them.

use quillgate::declaration::ParameterIn;
use quillgate::value::Pairs;
use quillgate::{Call, Declaration, Rule, ValidationError};
use serde_json::Value as Json;

use crate::http::problem::Problem;
use crate::http::url::decode_query;
use crate::json;

/// Maximum size of a request body, in bytes. It is large enough for a prompt of many pages.
pub const MAX_BODY: usize = 128 * 1024;

/// Collects the values of a path and a query. `path` contains the decoded values of the path.
///
/// # Errors
/// [`Rule::Unknown`] for an unknown parameter, [`Rule::Once`] for a duplicate one, [`Rule::Text`]
/// for one with a malformed encoding.
pub fn read_pairs(
    operation: &'static Declaration,
    path: Vec<(&'static str, String)>,
    query: Option<&str>,
) -> Result<Pairs, ValidationError> {
    let mut pairs: Vec<_> = path
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    for pair in query
        .unwrap_or("")
        .split('&')
        .filter(|pair| !pair.is_empty())
    {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decode_form("query", name)?;
        let known = operation.parameter(&name);
        let Some(known) = known.filter(|known| known.place == ParameterIn::Query) else {
            return Err(ValidationError::unknown(&name));
        };
        if pairs.iter().any(|(earlier, _)| *earlier == name) {
            return Err(ValidationError::new(known.name, Rule::Once, ""));
        }
        pairs.push((name, decode_form(known.name, value)?));
    }
    Ok(Pairs::All(pairs))
}

/// Parses a body and validates it together with the decoded values of the path.
///
/// # Errors
/// 400 for a body that is not a JSON object, for an unknown property, and for the first value that
/// breaks a rule.
pub fn parse_body(
    operation: &'static Declaration,
    path: Vec<(&'static str, String)>,
    body: &[u8],
) -> Result<Call, Problem> {
    let Some(Json::Object(mut values)) = json::parse(body) else {
        return Err(Problem::malformed_body());
    };
    for (name, value) in path {
        // The body must not repeat a path parameter. `Call::parse` rejects all other unknown names.
        if values.insert(name.to_owned(), value.into()).is_some() {
            return Err(ValidationError::unknown(name).into());
        }
    }
    Ok(Call::parse(operation, &&Json::Object(values))?)
}

/// Whether a `Content-Type` is `application/json`, with any parameters (RFC 9110, section 8.3.1).
pub fn is_json(content_type: Option<&str>) -> bool {
    let essence = content_type.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| {
        essence
            .trim_matches([' ', '\t'])
            .eq_ignore_ascii_case("application/json")
    })
}

fn decode_form(field: &'static str, text: &str) -> Result<String, ValidationError> {
    decode_query(text)
        .ok_or_else(|| ValidationError::new(field, Rule::Text, "a broken percent-encoding"))
}
