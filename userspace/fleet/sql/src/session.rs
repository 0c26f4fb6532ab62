//! A session: the tables, the functions, and limits of memory.

use crate::arguments::Limits;
use crate::functions;
use crate::table::Segments;
use anyhow::{Context, Result};
use datafusion::common::{JoinType, ScalarValue, TableReference};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::functions::expr_fn::coalesce;
use datafusion::functions_aggregate::expr_fn::max;
use datafusion::logical_expr::{col, lit};
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use rocescope_model::{
    FlowRow, LinkRow, OpcodeRow, PdcRow, ROLLUPS, Resolution, Row, SlaRow, SpreadRow, TABLES, Table, VerdictRow,
    WindowRow,
};
use rocescope_place::Place;
use std::sync::Arc;

/// Tables that a capture writes window by window. A window of them is complete if `windows` has it, whose row is written
/// last.
const WINDOWED: [&Table; 4] = [FlowRow::TABLE, OpcodeRow::TABLE, PdcRow::TABLE, SpreadRow::TABLE];
/// Tables with a row for each analysis of a window: the latest one counts, and it is complete if `sla` has it.
const REVISED: [&Table; 3] = [SlaRow::TABLE, VerdictRow::TABLE, LinkRow::TABLE];
/// What identifies a window.
const KEY: [&str; 2] = ["observer", "window_start_ns"];
/// The same in `windows`, while the two are joined.
const COMPLETE: [&str; 2] = ["complete_observer", "complete_start_ns"];

/// A row for each window with its Count-Min sketches: those that are stored, and those of windows that list all their flows.
const WINDOW_SKETCHES: &str = include_str!("window_sketches.sql");

/// Opens the tables of the datasets.
///
/// # Errors
/// A dataset cannot be opened, or the folder for spilled rows cannot be made.
pub(crate) async fn open(datasets: &[Place], limits: &Limits) -> Result<SessionContext> {
    // The columns of a table are in `information_schema.columns`; `SHOW TABLES` and `DESCRIBE` read it.
    let config = SessionConfig::new().with_information_schema(true);
    let mut runtime = RuntimeEnvBuilder::new()
        // Each operator that can spill gets an equal share.
        .with_memory_pool(Arc::new(FairSpillPool::new(limits.memory_bytes()?)));
    if let Some(folder) = &limits.spill {
        runtime = runtime.with_temp_file_path(folder);
    }
    let runtime = runtime.build_arc().context("cannot prepare to spill rows")?;
    let context = SessionContext::new_with_config_rt(config, runtime);
    for dataset in datasets {
        if dataset.directory.is_none() {
            context.register_object_store(&dataset.url, Arc::clone(&dataset.store));
        }
    }
    functions::register(&context);
    let roots: Vec<String> = datasets.iter().map(|dataset| dataset.url.to_string()).collect();
    register(&context, "public", &roots, limits).await?;
    for resolution in Resolution::ROLLED_UP {
        // Whether an object store has them would have to be asked.
        let has = |dataset: &&Place| match &dataset.directory {
            Some(root) => root.join(ROLLUPS).join(resolution.name()).is_dir(),
            None => true,
        };
        let roots = datasets.iter().filter(has);
        let roots: Vec<String> = roots
            .map(|dataset| format!("{}{ROLLUPS}/{resolution}/", dataset.url))
            .collect();
        if !roots.is_empty() {
            register(&context, resolution.name(), &roots, limits).await?;
        }
    }
    Ok(context)
}

/// Makes the tables of these roots known in a schema.
async fn register(context: &SessionContext, schema: &str, roots: &[String], limits: &Limits) -> Result<()> {
    context
        .sql(&format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\""))
        .await?;
    for table in TABLES {
        let mut rows = rows(context, table, roots, limits)?;
        if WINDOWED.contains(table) {
            let windows = self::rows(context, WindowRow::TABLE, roots, limits)?;
            let windows = windows.select(KEY.iter().zip(COMPLETE).map(|(key, name)| col(*key).alias(name)))?;
            rows = rows.join(windows, JoinType::LeftSemi, &KEY, &COMPLETE, None)?;
        }
        if REVISED.contains(table) {
            rows = latest(rows, self::rows(context, SlaRow::TABLE, roots, limits)?)?;
        }
        context.register_table(TableReference::partial(schema, table.name), rows.into_view())?;
    }
    context.sql(&WINDOW_SKETCHES.replace("SCHEMA", schema)).await?;
    Ok(())
}

/// The rows of the latest analysis of each window that `sla` has.
fn latest(rows: DataFrame, sla: DataFrame) -> Result<DataFrame> {
    let revision = || coalesce(vec![col("revision"), lit(0_i64)]);
    let windows = KEY.iter().zip(COMPLETE).map(|(key, name)| col(*key).alias(name));
    let last = sla.aggregate(windows.collect(), vec![max(revision()).alias("last_revision")])?;
    let is_last = revision().eq(col("last_revision"));
    Ok(rows.join(last, JoinType::LeftSemi, &KEY, &COMPLETE, Some(is_last))?)
}

/// The rows of a table within the requested time.
fn rows(context: &SessionContext, table: &'static Table, roots: &[String], limits: &Limits) -> Result<DataFrame> {
    let mut rows = context.read_table(Arc::new(Segments::open(table, roots)?))?;
    let Some(time) = table.partition_column().and_then(|at| table.columns.get(at)) else {
        return Ok(rows);
    };
    let at = |micros| lit(ScalarValue::TimestampMicrosecond(Some(micros), Some("UTC".into())));
    if let Some(from) = limits.from {
        rows = rows.filter(col(time.name).gt_eq(at(from.micros())))?;
    }
    if let Some(to) = limits.to {
        rows = rows.filter(col(time.name).lt(at(to.micros())))?;
    }
    Ok(rows)
}
