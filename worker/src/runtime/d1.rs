//! D1 databases. [`D1`] deserializes rows, and limits the time of each call.

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

/// The timeout of a call: 40 s. D1 cancels a query after 30 s, but the response to a call may never
/// arrive.
const TIME_LIMIT: Millis = Millis::from_seconds(40);

/// The part of a result's metadata that the gateway uses.
#[derive(Deserialize)]
struct Meta {
    size_after: u64,
}

/// A D1 database whose calls have a time limit.
#[derive(Clone)]
pub struct D1 {
    database: RawDatabase,
    time_limit: Millis,
}

/// A statement with bound values.
pub type Statement = D1PreparedStatement;

impl D1 {
    /// Opens the database of a binding. Returns `None` if the binding is absent.
    pub fn open(env: &Env, binding: &str) -> HostResult<Option<Self>> {
        let value = Reflect::get(env, &JsValue::from_str(binding))?;
        let is_bound = !value.is_undefined() && !value.is_null();
        Ok(is_bound.then(|| Self::new(value, TIME_LIMIT)))
    }

    /// Wraps a binding. A call fails if no response arrives within `time_limit`.
    pub(super) fn new(binding: JsValue, time_limit: Millis) -> Self {
        Self {
            database: binding.unchecked_into(),
            time_limit,
        }
    }

    /// Prepares a statement and binds one value per parameter.
    pub fn prepare(&self, query: &str, values: &[JsValue]) -> HostResult<Statement> {
        let values = values.iter().collect();
        Ok(self.database.prepare(query)?.bind(values)?)
    }

    pub async fn rows<T: DeserializeOwned>(&self, statement: &Statement) -> HostResult<Vec<T>> {
        let (rows, _) = self.rows_and_size(statement).await?;
        Ok(rows)
    }

    /// Returns the rows of a statement, and the size of the database in bytes. The size is `None`
    /// if D1 does not report the size.
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

    /// Runs statements in one transaction, which is rolled back if any of them fails.
    pub async fn batch(&self, statements: &[Statement]) -> HostResult<()> {
        let statements: Array = statements.iter().collect();
        self.wait_for(self.database.batch(statements)?).await?;
        Ok(())
    }

    async fn wait_for(&self, response: Promise) -> HostResult<JsValue> {
        match limit_time(self.time_limit, JsFuture::from(response)).await {
            Some(response) => Ok(response?),
            None => Err(HostError::Unavailable(
                "D1 did not answer in time".to_owned(),
            )),
        }
    }
}
