//! Reports a finished request: writes a log line, and a data point if an Analytics Engine dataset
//! is bound.

use worker::{AnalyticsEngineDataPointBuilder, Env};

use crate::app::isolate::with_dataset;
use crate::app::log::LogEntry;
use crate::http::problem_kind::ProblemKind;
use crate::json;
use crate::runtime::{log_error, log_for_operator, log_line};

/// Writes the log line and the data point.
///
/// | Data point | Values |
/// | --- | --- |
/// | index | project |
/// | blobs | route, problem, cache, subject |
/// | doubles | status, milliseconds, upstream milliseconds |
pub fn report(env: &Env, entry: &LogEntry<'_>) {
    let line = json::to_text(entry);
    if entry.operator.is_some() {
        log_error(&line);
    } else {
        log_line(&line);
    }
    with_dataset(env, |dataset| {
        let blobs = [
            entry.route,
            entry.problem.map(ProblemKind::as_str),
            entry.cache,
            entry.subject,
        ];
        let doubles = [
            f64::from(entry.status),
            double(entry.milliseconds),
            entry.upstream_milliseconds.map_or(0.0, double),
        ];
        let point = AnalyticsEngineDataPointBuilder::new()
            .indexes([entry.project.unwrap_or("none")])
            .blobs(blobs.map(|blob| blob.unwrap_or("")))
            .doubles(doubles)
            .build();
        if let Err(error) = dataset.write_data_point(&point) {
            log_for_operator(&error.to_string());
        }
    });
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
const fn double(number: u64) -> f64 {
    number as f64
}
