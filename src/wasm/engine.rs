//! The client's engine: an address, a credential, a project, and what is done with them.

use std::rc::Rc;

use js_sys::{Function, Promise};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

use crate::agent_job::{CreateAgentJob, GetAgentJob, SendMessage};
use crate::credential::{AdminKey, BaseUrl, stands_in_header};
use crate::endpoint::{Endpoint, Request};
use crate::error::{Rule, ValidationError};
use crate::page_views::ListPageViews;
use crate::project::ProjectId;
use crate::value::{Value, optional_text, required_text};
use crate::wasm::call::{CallOptions, Sender, named, promise};
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

/// A request that is ready to be sent.
pub struct Prepared {
    /// The name under which `decode.js` knows the result.
    pub result: &'static str,
    pub request: Request,
}

#[wasm_bindgen]
impl Engine {
    /// Takes `{ baseUrl, projectId, token }` for a gateway or `{ baseUrl?, projectId,
    /// adminKey }` for the platform itself, and an own `fetch` where there is one.
    #[wasm_bindgen(constructor)]
    pub fn new(options: JsValue) -> Result<Engine, JsValue> {
        Self::from_options(&Argument(options)).map_err(|error| fault::validation(&error))
    }

    /// Carries out an operation; resolves to `{ data, response }`.
    ///
    /// # Errors
    /// A plain object; see the module's own documentation.
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

    /// A run through the pages of a list of page views. `now` is the instant at which an
    /// open `dateTo` is frozen for the whole run; left out, it stays open.
    #[wasm_bindgen(js_name = pageViews)]
    pub fn page_views(&self, params: JsValue, everything: bool) -> Result<Pages, JsValue> {
        let list = ListPageViews::parse(&Argument(params));
        list.and_then(|list| {
            Pages::new(
                self.project.clone(),
                Rc::clone(&self.sender),
                list,
                everything,
            )
        })
        .map_err(|error| fault::validation(&error))
    }

    /// A wait for a job to come to its end, for at most `timeout` milliseconds.
    pub fn watch(&self, id: JsValue, options: JsValue) -> Result<Watch, JsValue> {
        let prepared = self.prepare(GetAgentJob::OPERATION.name, &Argument(id));
        let prepared = prepared.map_err(|error| fault::validation(&error))?;
        Watch::new(prepared, Rc::clone(&self.sender), &Argument(options))
            .map_err(|error| fault::validation(&error))
    }
}

impl Engine {
    fn from_options(options: &Argument) -> Result<Self, ValidationError> {
        let project = ProjectId::new(required_text(options, "projectId")?)?;
        let base = optional_text(options, "baseUrl")?;
        let (credential, base) = match optional_text(options, "adminKey")? {
            Some(key) => {
                let base = base.as_deref().unwrap_or(BaseUrl::UPSTREAM);
                (AdminKey::new(key)?.expose().to_owned(), BaseUrl::new(base)?)
            }
            None => {
                let token = required_text(options, "token")?;
                if !stands_in_header(&token) {
                    return Err(ValidationError::new("token", Rule::Credential, ""));
                }
                (token, BaseUrl::new(&required_text(options, "baseUrl")?)?)
            }
        };
        let fetch = options.member("fetch").0.dyn_into::<Function>().ok();
        Ok(Self {
            project,
            sender: Rc::new(Sender::new(base, &credential, fetch)),
        })
    }

    /// One line an operation.
    fn prepare(&self, operation: &str, params: &Argument) -> Result<Prepared, ValidationError> {
        named::<CreateAgentJob>(operation, &self.project, params)
            .or_else(|| named::<GetAgentJob>(operation, &self.project, params))
            .or_else(|| named::<SendMessage>(operation, &self.project, params))
            .or_else(|| named::<ListPageViews>(operation, &self.project, params))
            .unwrap_or_else(|| Err(ValidationError::new("operation", Rule::Unknown, "")))
    }
}
