//! Calls of operations. A [`Call`] holds validated arguments and builds the [`Request`] of its
//! operation.

use std::fmt;

use crate::cursor::read_cursor;
use crate::date::{DateBound, DateRange, check_date, check_order, freeze_end};
use crate::declaration::{Declaration, Method, Parameter, ParameterIn, ParameterKind, Repeat};
use crate::encode::{push_json_string, push_percent_encoded};
use crate::error::{IntegerRule, Rule, ValidationError};
use crate::list::{Offset, PAGE};
use crate::millis::Millis;
use crate::parts::{is_position, without_part};
use crate::project::{ProjectId, path_segment};
use crate::text::{format_integer, parse_decimal, quote};
use crate::ulid::is_ulid;
use crate::value::{Scalar, Value, check_not_empty, read_integer, read_text};

/// The name of the parameter for the start of a page, in lists by cursor.
const CURSOR: &str = "cursor";

/// An HTTP request without a base URL and credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The request method.
    pub method: Method,
    /// The percent-encoded path and query, starting with `/`.
    pub target: String,
    /// The JSON body, sent with `Content-Type: application/json`. `None` if the operation has no
    /// parameter in the body.
    pub body: Option<String>,
}

/// An operation with validated arguments.
///
/// Arguments are stored in the form in which they are sent, so building a request cannot fail.
///
/// ```
/// use quillgate::{Call, Operation, ProjectId};
/// use serde_json::json;
///
/// let params = json!({ "dateFrom": "2024-01-01", "page": 3, "limit": 100 });
/// let call = Call::parse(Operation::ListPageViews.declaration(), &params)?;
/// assert_eq!(
///     call.request(&ProjectId::new("acme")?).target,
///     "/v1/analytics/acme/views?dateFrom=2024-01-01&limit=100&offset=200",
/// );
/// # Ok::<(), quillgate::ValidationError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Call {
    declaration: &'static Declaration,
    /// Unencoded arguments, in the order of the declaration's parameters.
    arguments: Vec<Option<String>>,
}

/// Shows only the names of the arguments, because a value may be confidential.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.arguments().map(|(parameter, _)| parameter.name);
        f.write_str(self.declaration.name)?;
        f.debug_list().entries(names).finish()
    }
}

impl Call {
    /// Creates a call without arguments.
    pub(crate) fn new(declaration: &'static Declaration) -> Self {
        Self {
            declaration,
            arguments: declaration.parameters.iter().map(|_| None).collect(),
        }
    }

    /// Reads and validates the arguments in `params`, which are named as in the API.
    ///
    /// Converts `page` to `offset`.
    ///
    /// # Errors
    /// [`Rule::Unknown`] if [`Value::find_name`] finds a name in `params` that the operation does
    /// not have. Otherwise the first rule that an argument breaks.
    pub fn parse<V: Value>(
        declaration: &'static Declaration,
        params: &V,
    ) -> Result<Self, ValidationError> {
        let is_unknown = |name: &str| declaration.parameter(name).is_none();
        if let Some(name) = params.find_name(is_unknown) {
            #[cfg(feature = "gateway")]
            return Err(declaration.reject_name(&name, |_| true));
            #[cfg(not(feature = "gateway"))]
            return Err(ValidationError::unknown(&name));
        }
        let mut call = Self::new(declaration);
        for (parameter, argument) in declaration.parameters.iter().zip(&mut call.arguments) {
            *argument = read_argument(parameter, params.member(parameter.name).scalar())?;
            if argument.is_none() && parameter.is_required {
                return Err(ValidationError::new(parameter.name, Rule::Required, ""));
            }
        }
        check_order(call.text("dateFrom"), call.text("dateTo"))?;
        call.resolve_page()?;
        Ok(call)
    }

    /// Returns the operation's declaration.
    #[must_use]
    pub const fn declaration(&self) -> &'static Declaration {
        self.declaration
    }

    /// Returns the request method.
    #[must_use]
    pub const fn method(&self) -> Method {
        self.declaration.method
    }

    /// Returns how the request may be repeated.
    #[must_use]
    pub const fn repeat(&self) -> Repeat {
        self.declaration.repeat
    }

    /// Returns an argument in the form in which it is sent, not percent-encoded. Returns `None` if
    /// the argument is absent or the operation does not have this parameter.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        let at = self.declaration.position(name)?;
        self.arguments[at].as_deref()
    }

    /// Returns an argument that must be present.
    ///
    /// # Errors
    /// [`Rule::Required`] if the argument is absent.
    pub(crate) fn require(&self, name: &'static str) -> Result<&str, ValidationError> {
        let missing = || ValidationError::new(name, Rule::Required, "");
        self.text(name).ok_or_else(missing)
    }

    /// Returns an argument as an integer. Returns `None` if it is absent or not an integer.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<u64> {
        self.text(name).and_then(parse_decimal)
    }

    /// Iterates over the arguments that are present, in the order of the declaration.
    pub fn arguments(&self) -> impl Iterator<Item = (&'static Parameter, &str)> {
        let parameters = self.declaration.parameters.iter();
        let pairs = parameters.zip(&self.arguments);
        pairs.filter_map(|(parameter, argument)| Some((parameter, argument.as_deref()?)))
    }

    /// Returns the date range given by `dateFrom` and `dateTo`. A missing bound is open.
    ///
    /// # Errors
    /// [`Rule::BeforeDateTo`] if the two can be compared and `dateFrom` is not before `dateTo`.
    pub fn range(&self) -> Result<DateRange, ValidationError> {
        let bound = |field| {
            let text = self.text(field);
            text.map(|text| DateBound::new(field, text)).transpose()
        };
        DateRange::new(bound("dateFrom")?, bound("dateTo")?)
    }

    /// Validates the arguments of a typed operation. Callers can set its public fields to invalid
    /// combinations, such as a `dateFrom` after `dateTo`.
    ///
    /// # Errors
    /// The first rule that an argument breaks.
    #[cfg(feature = "client")]
    pub(crate) fn check(self) -> Result<Self, ValidationError> {
        for (parameter, text) in self.arguments() {
            parameter.check(text.to_owned())?;
        }
        check_order(self.text("dateFrom"), self.text("dateTo"))?;
        Ok(self)
    }

    /// Sets an argument. Does nothing if the operation does not have this parameter.
    pub(crate) fn set(&mut self, name: &str, text: String) {
        if let Some(at) = self.declaration.position(name) {
            self.arguments[at] = Some(text);
        }
    }

    /// Sets an integer. Does nothing if the operation does not have this parameter.
    ///
    /// # Errors
    /// [`Rule::Integer`] if the integer is not within the parameter's bounds.
    #[cfg(feature = "client")]
    pub(crate) fn set_integer(
        &mut self,
        name: &'static str,
        value: u64,
    ) -> Result<(), ValidationError> {
        let declared = self.declaration.parameter(name);
        if let Some(ParameterKind::Integer { rule, .. }) = declared.map(|known| known.kind) {
            rule.check(name, value)?;
        }
        self.set(name, format_integer(value));
        Ok(())
    }

    /// Removes an argument.
    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(at) = self.declaration.position(name) {
            self.arguments[at] = None;
        }
    }

    /// Sets a missing `dateTo` as [`DateRange::freeze`] does. Operations without `dateTo` are
    /// unchanged, as is a call with a cursor, which belongs to the range of an earlier call.
    ///
    /// # Errors
    /// As [`DateRange::freeze`].
    pub fn freeze(mut self, now: Millis) -> Result<Self, ValidationError> {
        let is_open = self.text("dateTo").is_none() && self.text(CURSOR).is_none();
        if is_open && self.declaration.parameter("dateTo").is_some() {
            let end = freeze_end(self.text("dateFrom"), now)?;
            self.set("dateTo", end);
        }
        Ok(self)
    }

    /// Normalizes the date range, and returns it; see [`DateRange::normalize`].
    ///
    /// # Errors
    /// As [`Self::range`].
    pub fn normalize(mut self) -> Result<(Self, DateRange), ValidationError> {
        let range = self.range()?.normalize();
        for (field, bound) in [("dateFrom", range.from()), ("dateTo", range.to())] {
            if let Some(bound) = bound {
                self.set(field, bound.as_str().to_owned());
            }
        }
        Ok((self, range))
    }

    /// Returns a call of another operation, with this call's arguments for the parameters that both
    /// operations have. `changes` replaces or removes arguments by name. Names that the other
    /// operation does not have are ignored.
    ///
    /// # Errors
    /// The first rule that a replaced argument breaks. Shared arguments are not validated again.
    #[cfg(feature = "gateway")]
    pub fn convert<const N: usize>(
        &self,
        declaration: &'static Declaration,
        changes: [(&str, Option<String>); N],
    ) -> Result<Self, ValidationError> {
        let mut call = Self::new(declaration);
        for (parameter, argument) in declaration.parameters.iter().zip(&mut call.arguments) {
            *argument = self.text(parameter.name).map(str::to_owned);
        }
        for (name, text) in changes {
            if let Some(at) = declaration.position(name) {
                let text = text.map_or(Scalar::Absent, Scalar::Wire);
                call.arguments[at] = read_argument(&declaration.parameters[at], text)?;
            }
        }
        Ok(call)
    }

    /// Checks that `cursor`, if present, is a cursor of the API, not a [position](crate::Pages::position)
    /// within a part of a range. Only [`Pages`](crate::Pages) can read a position.
    ///
    /// # Errors
    /// [`Rule::Ulid`] or [`Rule::OneOf`] for a position.
    pub fn check_cursor(&self) -> Result<(), ValidationError> {
        let Some(cursor) = self.text(CURSOR).filter(|cursor| is_position(cursor)) else {
            return Ok(());
        };
        let declared = self.declaration.parameter(CURSOR);
        let rule = match declared.map(|parameter| parameter.kind) {
            Some(ParameterKind::Ulid) => Rule::Ulid,
            _ => Rule::OneOf(&["the nextCursor values of earlier pages"]),
        };
        Err(ValidationError::new(CURSOR, rule, quote(cursor)))
    }

    /// Removes `limit` and `offset`, so that calls for different pages of one list are equal.
    #[must_use]
    pub fn without_window(mut self) -> Self {
        self.remove("limit");
        self.remove("offset");
        self
    }

    /// Converts `page` to `offset`. Without `limit`, pages are counted in its default.
    fn resolve_page(&mut self) -> Result<(), ValidationError> {
        let Some(page) = self.integer(PAGE) else {
            return Ok(());
        };
        if self.text("offset").is_some() {
            return Err(ValidationError::new(PAGE, Rule::NotWithOffset, ""));
        }
        let limit = self.integer("limit").or_else(|| self.default_limit());
        let limit = limit.unwrap_or(0);
        let offset = Offset::of_page(page, limit)?;
        self.remove(PAGE);
        self.set("offset", format_integer(offset.get()));
        Ok(())
    }

    /// Returns the default of `limit`, in rows, or `None` if the operation does not have this
    /// parameter.
    #[must_use]
    pub fn default_limit(&self) -> Option<u64> {
        match self.declaration.parameter("limit")?.kind {
            ParameterKind::Integer { default, .. } => Some(default),
            _ => None,
        }
    }

    /// Builds the request for a project.
    #[must_use]
    pub fn request(&self, project: &ProjectId) -> Request {
        let mut parameters = self.declaration.parameters.iter();
        let has_body = parameters.any(|parameter| parameter.place == ParameterIn::Body);
        Request {
            method: self.method(),
            target: self.target(project),
            body: has_body.then(|| self.to_json(ParameterIn::Body)),
        }
    }

    /// Returns the path and query.
    fn target(&self, project: &ProjectId) -> String {
        let mut target = String::new();
        let mut rest = self.declaration.path;
        while let Some((before, name, after)) = split_parameter(rest) {
            target.push_str(before);
            let segment = match name {
                "projectId" => project.as_str(),
                // Never empty, because path parameters are required.
                name => self.text(name).unwrap_or(""),
            };
            push_percent_encoded(&mut target, segment);
            rest = after;
        }
        target.push_str(rest);
        // The offset of a page is correct only for the page size that it was computed with.
        let default = self.text("offset").and_then(|_| self.default_limit());
        let default = default.map(format_integer);
        let mut separator = "?";
        for (parameter, argument) in self.declaration.parameters.iter().zip(&self.arguments) {
            let default = default.as_ref().filter(|_| parameter.name == "limit");
            if let Some(text) = argument.as_ref().or(default)
                && parameter.place == ParameterIn::Query
            {
                target.push_str(separator);
                target.push_str(parameter.name);
                target.push_str("=");
                push_percent_encoded(&mut target, text);
                separator = "&";
            }
        }
        target
    }

    /// Returns the arguments of one location as a JSON object.
    ///
    /// ```
    /// use quillgate::declaration::ParameterIn;
    /// use quillgate::{Call, Operation};
    /// use serde_json::json;
    ///
    /// let params = json!({ "dateFrom": "2024-01-01", "limit": 100 });
    /// let call = Call::parse(Operation::ListPageViews.declaration(), &params)?;
    /// assert_eq!(call.to_json(ParameterIn::Query), r#"{"dateFrom":"2024-01-01","limit":100}"#);
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    #[must_use]
    pub fn to_json(&self, place: ParameterIn) -> String {
        let mut json = String::from("{");
        let mut separator = "";
        for (parameter, text) in self.arguments() {
            if parameter.place != place {
                continue;
            }
            json.push_str(separator);
            push_json_string(&mut json, parameter.name);
            json.push_str(":");
            match parameter.kind {
                ParameterKind::Integer { .. } => json.push_str(text),
                _ => push_json_string(&mut json, text),
            }
            separator = ",";
        }
        json.push_str("}");
        json
    }
}

/// Splits a path at its first parameter into the part before it, its name and the part after it.
fn split_parameter(path: &str) -> Option<(&str, &str, &str)> {
    let open = path.bytes().position(|byte| byte == b'{')?;
    let close = path.bytes().position(|byte| byte == b'}')?;
    Some((&path[..open], &path[open + 1..close], &path[close + 1..]))
}

/// Validates an argument and converts it to the form in which it is sent. Returns `None` if it is
/// absent.
fn read_argument(parameter: &Parameter, value: Scalar) -> Result<Option<String>, ValidationError> {
    let field = parameter.name;
    if matches!(value, Scalar::Absent) {
        return Ok(None);
    }
    let rule = match parameter.kind {
        ParameterKind::Integer { rule, .. } => Some(rule),
        ParameterKind::Page => Some(&IntegerRule::PAGE),
        _ => None,
    };
    if let Some(rule) = rule {
        return read_integer(field, value, rule).map(|number| Some(format_integer(number)));
    }
    read_text(field, value)
        .and_then(|text| parameter.check(text))
        .map(Some)
}

impl Parameter {
    /// Validates an argument in the form in which it is sent. [`Call::parse`] and typed operations
    /// share this function, so they accept the same values.
    ///
    /// # Errors
    /// The rule that the argument breaks.
    pub(crate) fn check(&self, text: String) -> Result<String, ValidationError> {
        let field = self.name;
        let is_cursor = field == CURSOR;
        let text = if is_cursor { read_cursor(text) } else { text };
        let broken = match self.kind {
            // Integers are checked as they are read.
            ParameterKind::Integer { .. } | ParameterKind::Page => None,
            ParameterKind::Id => return path_segment(field, text),
            ParameterKind::Text => return check_not_empty(field, text),
            ParameterKind::Date => check_date(&text).err(),
            ParameterKind::Ulid => {
                let id = if is_cursor {
                    without_part(&text)
                } else {
                    &text
                };
                let is_start = id.is_empty() && !text.is_empty();
                (!is_start && !is_ulid(id)).then_some(Rule::Ulid)
            }
            ParameterKind::OneOf(known) => {
                (!known.contains(&text.as_str())).then_some(Rule::OneOf(known))
            }
            ParameterKind::ListOf(known) => {
                let mut values = text.as_bytes().split(|byte| *byte == b',');
                let is_known = |value: &[u8]| known.iter().any(|name| name.as_bytes() == value);
                (!values.all(is_known)).then_some(Rule::OneOf(known))
            }
        };
        match broken {
            Some(rule) => {
                let error = ValidationError::new(field, rule, quote(&text));
                #[cfg(feature = "gateway")]
                let error = crate::date::add_format_hint(error, &text);
                Err(error)
            }
            None => Ok(text),
        }
    }
}
