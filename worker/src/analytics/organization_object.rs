use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Promise;
use quillgate::RateLimitPolicy;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{DurableObject, Env, Request, Response, State, durable_object};

mod archive;
mod fetch;
mod writes;

use crate::analytics::analytics_settings::AnalyticsSettings;
use crate::analytics::archive::schedule::RunLock;
use crate::analytics::archive::store::ArchiveStore;
use crate::analytics::health::{OrganizationBudgets, OrganizationHealth};
use crate::analytics::organization_object::fetch::RunningFetches;
use crate::analytics::page_store::PageStore;
use crate::budget::limits::Limits;
use crate::budget::store::{
    BUDGET_TABLES, BudgetStore, CEILING_COLUMN, DROP_CLAIMS, DROP_TIME_INDEX, POLICY_INDEX,
    PROBE_TABLES,
};
use crate::runtime::{
    Database, HostError, HostResult, into_promise, now, read_settings, receive, send_back,
};
use crate::upstream::breaker::with_breakers;
use crate::upstream::connections::Connections;
use crate::upstream::upstream_settings::UpstreamSettings;

/// Never change or reorder released migrations: existing databases do not run a migration again.
const MIGRATIONS: [&str; 13] = [
    BUDGET_TABLES,
    include_str!("migrations/0002_pages.sql"),
    include_str!("migrations/0003_key_sets.sql"),
    CEILING_COLUMN,
    // The tag in the key prevents parts of different pages from mixing.
    include_str!("migrations/0005_page_parts.sql"),
    PROBE_TABLES,
    DROP_CLAIMS,
    include_str!("migrations/0008_untagged_pages.sql"),
    POLICY_INDEX,
    // Without the index, a query would read whole pages, because `totals` follows the JSON of a page.
    include_str!("migrations/0010_page_totals.sql"),
    // Isolates now fetch the key sets themselves.
    include_str!("migrations/0011_drop_key_sets.sql"),
    DROP_TIME_INDEX,
    writes::DEPLOYMENT_TABLE,
];

#[durable_object(fetch)]
pub struct OrganizationObject {
    /// The error of invalid settings or storage.
    organization: HostResult<Rc<Organization>>,
}

impl DurableObject for OrganizationObject {
    fn new(state: State, env: Env) -> Self {
        Self {
            organization: Organization::open(state, &env).map(Rc::new),
        }
    }

    async fn fetch(&self, _: Request) -> worker::Result<Response> {
        Err(HostError::new("this object has no address").into())
    }
}

#[wasm_bindgen]
impl OrganizationObject {
    pub fn report(&self, call: JsValue) -> Promise {
        let organization = self.organization.clone();
        into_promise(async move { send_back(&organization?.report(receive(call)?).await?) })
    }

    pub fn archive(&self) -> Promise {
        let organization = self.organization.clone();
        into_promise(async move {
            organization?.archive().await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    #[wasm_bindgen(js_name = reserveWrite)]
    pub fn reserve_write(&self, id: &str, request: JsValue) -> Result<JsValue, JsValue> {
        let organization = self.organization.clone()?;
        let reserved = organization.reserve_write(id, &receive(request)?)?;
        Ok(send_back(&reserved)?)
    }

    #[wasm_bindgen(js_name = concludeWrite)]
    pub fn conclude_write(&self, write: JsValue) -> Result<(), JsValue> {
        let organization = self.organization.clone()?;
        Ok(organization.conclude_write(&receive(write)?)?)
    }

    #[wasm_bindgen(js_name = findDeployment)]
    pub fn find_deployment(&self, id: &str) -> Result<Option<String>, JsValue> {
        Ok(self.organization.clone()?.find_deployment(id)?)
    }

    #[wasm_bindgen(js_name = liftBlock)]
    pub fn lift_block(&self, policy: JsValue) -> Result<(), JsValue> {
        let organization = self.organization.clone()?;
        Ok(organization.budget.lift_block(receive(policy)?)?)
    }

    pub fn health(&self) -> Result<JsValue, JsValue> {
        Ok(send_back(&self.organization.clone()?.health()?)?)
    }
}

#[cfg(feature = "trap-route")]
#[wasm_bindgen]
impl OrganizationObject {
    #[expect(
        clippy::unused_self,
        reason = "a method of the class that the entry calls"
    )]
    pub fn trap(&self) -> Promise {
        crate::runtime::trap::trap_later()
    }
}

struct Organization {
    state: State,
    settings: AnalyticsSettings,
    upstream: UpstreamSettings,
    database: Rc<Database>,
    budget: BudgetStore,
    pages: PageStore,
    connections: Connections,
    fetches: RunningFetches,
    archive: Option<ArchiveStore>,
    archive_lock: RefCell<RunLock>,
}

impl Organization {
    fn open(state: State, env: &Env) -> HostResult<Self> {
        let limits = read_settings(env, Limits::read)?;
        let upstream = read_settings(env, |variables| UpstreamSettings::read(variables, &limits))?;
        let settings = read_settings(env, |variables| AnalyticsSettings::read(variables, &limits))?;
        let database = Rc::new(Database::new(state.storage()));
        database.migrate(&MIGRATIONS)?;
        Ok(Self {
            budget: BudgetStore::open(Rc::clone(&database), limits, upstream.timeout)?,
            pages: PageStore::open(Rc::clone(&database))?,
            connections: Connections::default(),
            fetches: RunningFetches::default(),
            archive: ArchiveStore::open(env)?,
            archive_lock: RefCell::default(),
            state,
            settings,
            upstream,
            database,
        })
    }

    fn health(&self) -> HostResult<OrganizationHealth> {
        let policy = RateLimitPolicy::Analytics;
        Ok(OrganizationHealth {
            breaker: with_breakers(|breakers| breakers.state(&[policy], None, now())),
            budgets: OrganizationBudgets {
                analytics: self.budget.health(policy)?,
                create_deployment: self.budget.health(RateLimitPolicy::CreateDeployment)?,
                create_preview: self.budget.health(RateLimitPolicy::CreatePreview)?,
            },
            cached_pages: self.pages.count()?,
        })
    }
}
