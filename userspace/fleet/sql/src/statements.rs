//! Runs statements, one after the other.

use crate::output::Output;
use anyhow::{Result, anyhow};
use datafusion::error::DataFusionError;
use datafusion::execution::context::SQLOptions;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::DFParser;

/// Runs all statements of a text, and returns the number of rows. Statements that change data are refused: the dataset
/// belongs to its writers.
///
/// # Errors
/// A statement is wrong or fails; those before it have run.
pub(crate) async fn run(context: &SessionContext, text: &str, output: &mut Output) -> Result<usize> {
    let statements = DFParser::parse_sql(text).map_err(|error| explain(&error))?;
    let only_reads = SQLOptions::new().with_allow_dml(false);
    let mut count = 0;
    for statement in statements {
        let ran = async {
            let plan = context.state().statement_to_plan(statement).await?;
            only_reads.verify_plan(&plan)?;
            context.execute_logical_plan(plan).await?.execute_stream().await
        };
        let rows = ran.await.map_err(|error| explain(&error))?;
        count += output.write(rows).await?;
    }
    Ok(count)
}

/// The first line of what went wrong, without the names of the engine's layers.
pub(crate) fn explain(error: &DataFusionError) -> anyhow::Error {
    let root = error.find_root();
    let text = match root {
        DataFusionError::ResourcesExhausted(text) => format!("{text}; --memory allows more"),
        DataFusionError::Execution(text) | DataFusionError::Plan(text) => text.clone(),
        root => root.strip_backtrace(),
    };
    anyhow!("{}", text.lines().next().unwrap_or_default().to_owned())
}
