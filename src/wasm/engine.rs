//! The client's engine: an address, a credential, a project, and what is done with them.

use std::rc::Rc;

use js_sys::{Function, Promise};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

use crate::call::Call;
use crate::credential::{AdminKey, BaseUrl, is_header_value};
use crate::error::{Rule, ValidationError};
use crate::operation::Operation;
use crate::project::ProjectId;
use crate::value::{Value, optional_text, required_text};
use crate::wasm::call::{CallOptions, Prepared, Sender, promise};
use crate::wasm::fault::{self, Plain};
use crate::wasm::pages::Pages;
use crate::wasm::params::Argument;
use crate::wasm::watch::Watch;

/// A client's engine. The package's `Client` makes one on its first call.
#[wasm_bindgen]
pub struct Engine {
    project: ProjectId,
    sender: Rc<Sender>,
}

#[wasm_bindgen]
impl Engine {
    /// Takes `{ baseUrl, projectId, token }` for a gateway or `{ baseUrl?, projectId,
    /// adminKey }` for the platform itself, and an own `fetch` where there is one.
    ///
    /// # Errors
    /// A `validation` fault.
    #[wasm_bindgen(constructor)]
    pub fn new(options: JsValue) -> Result<Engine, JsValue> {
        Self::from_options(&Argument(options)).map_err(|error| fault::validation(&error))
    }

    /// Carries out an operation; resolves to `{ data, response }`.
    ///
    /// # Errors
    /// A `validation` fault, or the reason of a signal that has aborted.
    pub fn call(
        &self,
        operation: &str,
        params: JsValue,
        options: JsValue,
    ) -> Result<Promise, JsValue> {
        let prepared = self.prepare(operation, &Argument(params));
        let prepared = prepared.map_err(|error| fault::validation(&error))?;
        let options = CallOptions::read(options)?;
        let sender = Rc::clone(&self.sender);
        Ok(promise(async move {
            let answer = sender.run(&prepared, &options).await?;
            Ok(Plain::new()
                .with("data", answer.data)
                .with("response", answer.response)
                .into())
        }))
    }

    /// The request of an operation as `{ method, url, headers, body }`, unsent.
    ///
    /// # Errors
    /// A `validation` fault.
    pub fn request(
        &self,
        operation: &str,
        params: JsValue,
        options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let prepared = self.prepare(operation, &Argument(params));
        let prepared = prepared.map_err(|error| fault::validation(&error))?;
        let options = CallOptions::read(options)?;
        Ok(self.sender.describe(&prepared, &options))
    }

    /// A run through the pages of the list that an operation gives. One through `everything` asks
    /// for the largest pages unless `limit` is given, and freezes an open `dateTo`.
    ///
    /// # Errors
    /// A `validation` fault.
    pub fn pages(
        &self,
        operation: &str,
        params: JsValue,
        everything: bool,
    ) -> Result<Pages, JsValue> {
        parse(operation, &Argument(params))
            .and_then(|call| {
                let (project, sender) = (self.project.clone(), Rc::clone(&self.sender));
                Pages::new(project, sender, call, everything)
            })
            .map_err(|error| fault::validation(&error))
    }

    /// A wait for the job `{ id }` to come to its end, for at most `timeout` milliseconds.
    ///
    /// # Errors
    /// A `validation` fault.
    pub fn watch(&self, id: JsValue, options: JsValue) -> Result<Watch, JsValue> {
        let prepared = self.prepare(GET_JOB, &Argument(id));
        let prepared = prepared.map_err(|error| fault::validation(&error))?;
        Watch::new(prepared, Rc::clone(&self.sender), &Argument(options))
            .map_err(|error| fault::validation(&error))
    }
}

impl Engine {
    fn from_options(options: &Argument) -> Result<Self, ValidationError> {
        let project = ProjectId::new(required_text(options, "projectId")?)?;
        let base = optional_text(options, "baseUrl")?;
        let (credential, base) = if let Some(key) = optional_text(options, "adminKey")? {
            let base = base.as_deref().unwrap_or(BaseUrl::UPSTREAM);
            let base = BaseUrl::for_admin_key(base)?;
            (AdminKey::new(key)?.expose().to_owned(), base)
        } else {
            let token = required_text(options, "token")?;
            if !is_header_value(&token) {
                return Err(ValidationError::new("token", Rule::Credential, ""));
            }
            let base = required_text(options, "baseUrl")?;
            (token, BaseUrl::new(&base)?)
        };
        let fetch = options.member("fetch").0.dyn_into::<Function>().ok();
        Ok(Self {
            project,
            sender: Rc::new(Sender::new(base, &credential, fetch)),
        })
    }

    fn prepare(&self, operation: &str, params: &Argument) -> Result<Prepared, ValidationError> {
        parse(operation, params).map(|call| Prepared::new(&call, &self.project))
    }
}

/// The operation that a watch polls with.
const GET_JOB: &str = Operation::GetAgentJob.declaration().name;

fn parse(operation: &str, params: &Argument) -> Result<Call, ValidationError> {
    match Operation::from_name(operation) {
        Some(operation) => Call::parse(operation.declaration(), params),
        None => Err(ValidationError::new("operation", Rule::Unknown, "")),
    }
}
