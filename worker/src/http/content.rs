use quillgate::declaration::{Parameter, ParameterIn, ParameterKind};
use quillgate::value::Pairs;
use quillgate::{Call, Operation, ProjectId, Rule, ValidationError};
use serde_json::{Map, Value as Json};

use crate::http::problem::Problem;
use crate::http::request_head::{RequestHead, is_media_type};
use crate::http::response::JSON;
use crate::http::route::{PathSegments, decode_segment};
use crate::http::url::decode_query;
use crate::json;

/// In bytes. Mintlify states no limit for prompts. `SQLite` limits a row, which contains a prompt,
/// to 2 MB.
pub const MAX_BODY: usize = 1024 * 1024;

/// Decoded, but not validated.
#[derive(Debug)]
pub struct RequestValues {
    pub operation: Operation,
    /// `None` if the operation's path has no project.
    pub project: Option<ProjectId>,
    others: Vec<(String, String)>,
}

impl RequestValues {
    pub fn from_path(operation: Operation, segments: PathSegments<'_>) -> Result<Self, Problem> {
        let (mut project, mut others) = (None, Vec::new());
        for (name, segment) in segments {
            let value = decode_segment(name, segment)?;
            if name == "projectId" {
                project = Some(value);
            } else {
                others.push((name.to_owned(), value));
            }
        }
        Ok(Self {
            operation,
            project: project.map(ProjectId::new).transpose()?,
            others,
        })
    }

    /// Whether the operation has parameters in the body.
    pub fn has_body(&self) -> bool {
        let mut parameters = self.operation.declaration().parameters.iter();
        parameters.any(|known| known.place == ParameterIn::Body)
    }

    pub fn with_query(mut self, query: Option<&str>) -> Result<Self, ValidationError> {
        let declared = self.operation.declaration();
        let is_in_query = |known: &Parameter| known.place == ParameterIn::Query;
        let pairs = query.unwrap_or("").split('&');
        for pair in pairs.filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode_form("query", name)?;
            let known = declared.parameter(&name);
            let Some(known) = known.filter(|known| is_in_query(known)) else {
                return Err(declared.reject_name(&name, is_in_query));
            };
            if self.others.iter().any(|(earlier, _)| *earlier == name) {
                return Err(ValidationError::new(known.name, Rule::Once, ""));
            }
            let value = decode_form(known.name, value)?;
            let value = match known.kind {
                ParameterKind::Date => restore_sign(value),
                _ => value,
            };
            self.others.push((name, value));
        }
        Ok(self)
    }

    pub fn parse(self) -> Result<Call, ValidationError> {
        let declared = self.operation.declaration();
        Call::parse(declared, &Pairs::All(self.others))
    }

    /// An operation without parameters in the body needs none.
    pub fn parse_with_body(self, body: &[u8]) -> Result<Call, Problem> {
        let mut members = if body.is_empty() && !self.has_body() {
            Map::new()
        } else {
            read_object(body)?
        };
        for (name, value) in self.others {
            // The body must not repeat a parameter of the path or the query. `Call::parse` rejects
            // unknown names.
            if members.contains_key(&name) {
                return Err(ValidationError::unknown(&name).into());
            }
            members.insert(name, value.into());
        }
        let declared = self.operation.declaration();
        Ok(Call::parse(declared, &&Json::Object(members))?)
    }
}

/// Before the body is read.
pub fn check_announced_body(head: &RequestHead) -> Result<(), Problem> {
    if !is_json(head.header("content-type")) {
        return Err(Problem::unsupported_media_type());
    }
    let length = head.header("content-length").map(str::parse::<u64>);
    match length {
        Some(Ok(length)) if length > MAX_BODY as u64 => Err(Problem::content_too_large(MAX_BODY)),
        _ => Ok(()),
    }
}

/// A byte order mark is allowed (RFC 8259, section 8.1). A problem contains no values of the body.
pub fn read_object(body: &[u8]) -> Result<Map<String, Json>, Problem> {
    let malformed = |rule: &str| Problem::malformed_body(&format!("the body must be {rule}"));
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    if let Some(encoding) = find_encoding(body) {
        return Err(malformed(&format!("UTF-8, found {encoding}")));
    }
    let text = std::str::from_utf8(body).map_err(|error| {
        let at = error.valid_up_to();
        malformed(&format!("UTF-8, found another encoding at byte {at}"))
    })?;
    if text.trim_ascii().is_empty() {
        return Err(malformed("a JSON object, but it is empty"));
    }
    let value = json::parse_text(text);
    let value = value.map_err(|error| Problem::malformed_body(&describe_error(&error)))?;
    let found = match value {
        Json::Object(members) => return Ok(members),
        Json::Array(_) => "an array",
        Json::String(text) if text.starts_with('{') => "a string; encode it only once",
        Json::String(_) => "a string",
        Json::Number(_) => "a number",
        Json::Bool(_) => "a boolean",
        Json::Null => "null",
    };
    Err(malformed(&format!("a JSON object, found {found}")))
}

/// The body is certainly not UTF-8.
fn find_encoding(body: &[u8]) -> Option<&'static str> {
    match body {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..] => Some("UTF-16 or UTF-32"),
        [0x1f, 0x8b, ..] => Some("gzip"),
        _ => None,
    }
}

/// The parser's messages end with the line and the column, and contain no value of the body.
fn describe_error(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message
        .split_once(" in hex escape")
        .or_else(|| message.split_once(" of hex escape"))
    {
        Some((_, position)) => {
            format!(
                "the body must be Unicode, found half a surrogate pair, such as half an emoji,{position}"
            )
        }
        None if error.is_data() => format!("the body {message}"),
        None => format!("the body must be valid JSON: {message}"),
    }
}

pub fn is_json(content_type: Option<&str>) -> bool {
    content_type.is_some_and(|value| is_media_type(value, JSON))
}

/// In a query, `+` encodes a space. A date-time with an offset contains no other space.
fn restore_sign(date: String) -> String {
    match date.rfind(' ') {
        Some(at) if at + "+hh:mm".len() == date.len() && date.get(10..11) == Some("T") => {
            format!("{}+{}", &date[..at], &date[at + 1..])
        }
        _ => date,
    }
}

fn decode_form(field: &'static str, text: &str) -> Result<String, ValidationError> {
    decode_query(text)
        .ok_or_else(|| ValidationError::new(field, Rule::Text, "a broken percent-encoding"))
}
