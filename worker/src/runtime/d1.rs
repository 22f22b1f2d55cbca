//! D1, with rows as types. The crate's own wrapper reads rows by serde only.

use js_sys::{Array, Promise, Reflect};
use quillgate::Millis;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use worker::Env;
use worker::worker_sys::{D1Database as RawDatabase, D1PreparedStatement, D1Result};

use crate::runtime::error::{HostError, HostResult};
use crate::runtime::timer::limit_time;

/// The time limit of a call. D1 itself ends a query after 30 seconds; this one is for a call that D1
/// never answers.
const TIME_LIMIT: Millis = Millis::from_seconds(40);

/// The part of a result's metadata that the gateway uses.
#[derive(Deserialize)]
struct Meta {
    size_after: u64,
}

/// A database of D1.
#[derive(Clone)]
pub struct D1 {
    database: RawDatabase,
    time_limit: Millis,
}

/// A statement with its values.
pub type Statement = D1PreparedStatement;

impl D1 {
    /// The database of a binding; `None` without one.
    pub fn open(env: &Env, binding: &str) -> HostResult<Option<Self>> {
        let value = Reflect::get(env, &JsValue::from_str(binding))?;
        let is_bound = !value.is_undefined() && !value.is_null();
        Ok(is_bound.then(|| Self::new(value, TIME_LIMIT)))
    }

    /// The database behind a binding; each call fails after `time_limit`.
    pub(super) fn new(binding: JsValue, time_limit: Millis) -> Self {
        Self {
            database: binding.unchecked_into(),
            time_limit,
        }
    }

    /// Prepares a statement with values, as many as it has parameters.
    pub fn prepare(&self, query: &str, values: &[JsValue]) -> HostResult<Statement> {
        let values = values.iter().collect();
        Ok(self.database.prepare(query)?.bind(values)?)
    }

    /// The rows that a statement gives.
    pub async fn rows<T: DeserializeOwned>(&self, statement: &Statement) -> HostResult<Vec<T>> {
        let (rows, _) = self.rows_and_size(statement).await?;
        Ok(rows)
    }

    /// The rows that a statement gives, and how many bytes the database has.
    pub async fn rows_and_size<T: DeserializeOwned>(
        &self,
        statement: &Statement,
    ) -> HostResult<(Vec<T>, Option<u64>)> {
        let result: D1Result = self.wait_for(statement.all()?).await?.unchecked_into();
        let mut rows = Vec::new();
        for row in result.results()?.iter().flat_map(Array::iter) {
            rows.push(serde_wasm_bindgen::from_value(row)?);
        }
        let meta: Option<Meta> = serde_wasm_bindgen::from_value(result.meta()?.into()).ok();
        let size = meta.map(|meta| meta.size_after);
        Ok((rows, size))
    }

    /// Carries statements out, all or none.
    pub async fn batch(&self, statements: &[Statement]) -> HostResult<()> {
        let statements: Array = statements.iter().collect();
        self.wait_for(self.database.batch(statements)?).await?;
        Ok(())
    }

    async fn wait_for(&self, answer: Promise) -> HostResult<JsValue> {
        match limit_time(self.time_limit, JsFuture::from(answer)).await {
            Some(answer) => Ok(answer?),
            None => Err(HostError::new("D1 did not answer in time")),
        }
    }
}
