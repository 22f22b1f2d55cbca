//! Collects the values in a request's path, query and body. The core (the crate `quillgate`)
//! validates them.

use quillgate::declaration::ParameterIn;
use quillgate::value::{Pairs, Scalar, Value};
use quillgate::{Call, Declaration, Rule, ValidationError};
use serde_json::Value as Json;

use crate::http::problem::Problem;
use crate::http::url::decode_query;
use crate::json;

/// Maximum size of a request body, in bytes. It fits a prompt of many pages.
pub const MAX_BODY: usize = 128 * 1024;

/// The named values of a request.
pub struct Values {
    operation: &'static Declaration,
    /// From the path and the query.
    pairs: Pairs,
    /// From the body.
    body: Json,
}

/// The value of one parameter: from the path or query, or from the JSON body.
enum Member {
    Pair(Pairs),
    Json(Json),
}

impl Values {
    /// Parses the query and adds its values to the decoded values of the path.
    ///
    /// # Errors
    /// [`Rule::Unknown`] for an unknown parameter, [`Rule::Once`] for a duplicate one,
    /// [`Rule::Text`] for one with a malformed encoding.
    pub fn new(
        operation: &'static Declaration,
        path: Vec<(&'static str, String)>,
        query: Option<&str>,
    ) -> Result<Self, ValidationError> {
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
        Ok(Self {
            operation,
            pairs: Pairs::All(pairs),
            body: Json::Null,
        })
    }

    /// Parses the body and adds its values.
    ///
    /// # Errors
    /// 400 for a body that is not a JSON object, and for unknown properties.
    pub fn with_body(mut self, body: &[u8]) -> Result<Self, Problem> {
        let Some(Json::Object(members)) = json::parse(body) else {
            return Err(Problem::malformed_body());
        };
        for name in members.keys() {
            let known = self.operation.parameter(name);
            if known.is_none_or(|known| known.place != ParameterIn::Body) {
                return Err(ValidationError::unknown(name).into());
            }
        }
        self.body = Json::Object(members);
        Ok(self)
    }

    /// Validates the values and returns them as a call.
    ///
    /// # Errors
    /// The first value that breaks a rule.
    pub fn call(&self) -> Result<Call, ValidationError> {
        Call::parse(self.operation, &View::All(self))
    }

    /// Returns the value of a parameter if it is a string.
    pub fn text(&self, name: &'static str) -> Option<String> {
        View::All(self).member(name).text()
    }

    fn find(&self, name: &'static str) -> Member {
        match self.pairs.member(name) {
            Pairs::One(None) => Member::Json(self.body.member(name)),
            pair => Member::Pair(pair),
        }
    }
}

/// The [`Value`] that the core validates: all values as an object, or one of them.
enum View<'a> {
    All(&'a Values),
    One(Member),
}

impl Value for View<'_> {
    fn member(&self, name: &'static str) -> Self {
        match self {
            Self::All(values) => Self::One(values.find(name)),
            Self::One(_) => Self::One(Member::Json(Json::Null)),
        }
    }

    fn scalar(self) -> Scalar {
        match self {
            Self::All(_) => Scalar::Other("an object"),
            Self::One(Member::Pair(pair)) => pair.scalar(),
            Self::One(Member::Json(json)) => json.scalar(),
        }
    }

    fn elements(&self) -> Vec<Self> {
        Vec::new()
    }
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
