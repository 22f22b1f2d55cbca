use js_sys::{Array, Promise, Reflect};
use quillgate::Millis;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use worker::Env;
use worker::worker_sys::{D1Database as RawDatabase, D1PreparedStatement, D1Result};

use crate::runtime::error::{HostError, HostResult};
use crate::runtime::messages::send_back;
use crate::runtime::timer::limit_time;

/// D1 cancels a query after 30 s, but the response may never arrive.
const TIME_LIMIT: Millis = Millis::from_seconds(40);

#[derive(Deserialize)]
struct Meta {
    size_after: u64,
}

#[derive(Clone)]
pub struct D1 {
    database: RawDatabase,
    time_limit: Millis,
}

impl D1 {
    /// Returns `None` if the binding is absent.
    pub fn open(env: &Env, binding: &str) -> HostResult<Option<Self>> {
        let value = Reflect::get(env, &JsValue::from_str(binding))?;
        let is_bound = !value.is_undefined() && !value.is_null();
        Ok(is_bound.then(|| Self::new(value, TIME_LIMIT)))
    }

    pub(super) fn new(binding: JsValue, time_limit: Millis) -> Self {
        Self {
            database: binding.unchecked_into(),
            time_limit,
        }
    }

    /// The values are an array.
    fn prepare(&self, query: &str, values: &Value) -> HostResult<D1PreparedStatement> {
        let values = send_back(values)?.unchecked_into();
        Ok(self.database.prepare(query)?.bind(values)?)
    }

    pub async fn rows<T: DeserializeOwned>(
        &self,
        query: &str,
        values: &Value,
    ) -> HostResult<Vec<T>> {
        Ok(self.rows_and_size(query, values).await?.0)
    }

    /// Also returns the size of the database in bytes, if D1 reports it.
    pub async fn rows_and_size<T: DeserializeOwned>(
        &self,
        query: &str,
        values: &Value,
    ) -> HostResult<(Vec<T>, Option<u64>)> {
        let promise = self.prepare(query, values)?.all()?;
        let result: D1Result = self.wait_for(promise).await?.unchecked_into();
        let rows = result.results()?.unwrap_or_default();
        let rows: Result<_, _> = rows.iter().map(serde_wasm_bindgen::from_value).collect();
        let meta: Option<Meta> = serde_wasm_bindgen::from_value(result.meta()?.into()).ok();
        Ok((rows?, meta.map(|meta| meta.size_after)))
    }

    /// Each statement has an array of values.
    pub async fn batch(&self, statements: &[(&str, Value)]) -> HostResult<()> {
        let prepared = Array::new();
        for (statement, values) in statements {
            prepared.push(&self.prepare(statement, values)?.into());
        }
        self.wait_for(self.database.batch(prepared)?).await?;
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
