//! The client's engine: an address, a credential, a project, and what is done with them.

use std::rc::Rc;

use js_sys::{Function, Promise};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

use crate::agent_job::{CreateAgentJob, GetAgentJob, SendMessage};
use crate::credential::{AdminKey, BaseUrl, stands_in_header};
use crate::endpoint::{Endpoint, Request};
use crate::error::{Rule, ValidationError};
use crate::job_list::ListAgentJobs;
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

    /// A run through the pages of a list of page views. One through `everything` asks for
    /// the largest pages unless `limit` is given, and freezes an open `dateTo`.
    ///
    /// # Errors
    /// A `validation` fault.
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

    /// A wait for the job `{ id }` to come to its end, for at most `timeout` milliseconds.
    ///
    /// # Errors
    /// A `validation` fault.
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
        let (credential, base) = if let Some(key) = optional_text(options, "adminKey")? {
            let base = base.as_deref().unwrap_or(BaseUrl::UPSTREAM);
            let base = BaseUrl::for_admin_key(base)?;
            (AdminKey::new(key)?.expose().to_owned(), base)
        } else {
            let token = required_text(options, "token")?;
            if !stands_in_header(&token) {
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

    /// One line an operation.
    fn prepare(&self, operation: &str, params: &Argument) -> Result<Prepared, ValidationError> {
        named::<CreateAgentJob>(operation, &self.project, params)
            .or_else(|| named::<GetAgentJob>(operation, &self.project, params))
            .or_else(|| named::<SendMessage>(operation, &self.project, params))
            .or_else(|| named::<ListAgentJobs>(operation, &self.project, params))
            .or_else(|| named::<ListPageViews>(operation, &self.project, params))
            .unwrap_or_else(|| Err(ValidationError::new("operation", Rule::Unknown, "")))
    }
}
