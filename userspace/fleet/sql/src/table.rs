//! A table of a dataset, read from its segments.

use crate::pruning::{self, DATE, HOUR};
use crate::schema;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::datasource::TableType;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use rocescope_model::{Resolution, Table, Type};
use std::sync::Arc;

/// Rows of a batch that holds sketches: a Count-Min sketch of a window has half a megabyte, and a batch is in memory as a
/// whole.
const SKETCH_ROWS: usize = 16;

/// A table, as [`ListingTable`] with two additions: conditions on the time of a row select directories, and batches with
/// sketches are short.
#[derive(Debug)]
pub(crate) struct Segments {
    segments: ListingTable,
    table: &'static Table,
    /// The coarsest of the roots.
    resolution: Resolution,
}

impl Segments {
    /// Reads the segments of `table` in the datasets at `roots`, which end in `/`.
    ///
    /// # Errors
    /// A root is no URL of a directory.
    pub(crate) fn open(table: &'static Table, roots: &[String]) -> Result<Self> {
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
            .with_file_extension(".parquet")
            .with_table_partition_cols([DATE, HOUR].map(|name| (name.to_owned(), DataType::Utf8)).to_vec());
        let coarsest = roots.iter().map(|root| pruning::resolution(root)).max();
        let urls = roots
            .iter()
            .map(|root| ListingTableUrl::parse(format!("{root}{}/", table.name)));
        let config = ListingTableConfig::new_with_multi_paths(urls.collect::<Result<_>>()?)
            .with_listing_options(options)
            .with_schema(schema::of(table));
        Ok(Self {
            segments: ListingTable::try_new(config)?,
            table,
            resolution: coarsest.unwrap_or(Resolution::Captured),
        })
    }

    /// Whether a column of the projection holds sketches.
    fn has_sketches(&self, projection: Option<&Vec<usize>>) -> bool {
        let is_sketch = |at: usize| {
            self.table
                .columns
                .get(at)
                .is_some_and(|column| column.kind == Type::Bytes)
        };
        match projection {
            Some(columns) => columns.iter().any(|at| is_sketch(*at)),
            None => (0..self.table.columns.len()).any(is_sketch),
        }
    }
}

#[async_trait::async_trait]
impl TableProvider for Segments {
    fn schema(&self) -> SchemaRef {
        self.segments.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut filters = filters.to_vec();
        let time = self.table.partition_column().and_then(|at| self.table.columns.get(at));
        if let Some(time) = time {
            filters.extend(pruning::directories(&filters, time.name, self.resolution));
        }
        let plan = self.segments.scan(state, projection, &filters, limit).await?;
        Ok(match self.has_sketches(projection) {
            true => with_short_batches(plan),
            false => plan,
        })
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.segments.supports_filters_pushdown(filters)
    }
}

fn with_short_batches(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let scan = plan.downcast_ref::<DataSourceExec>();
    let Some(config) = scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>()) else {
        return plan;
    };
    let short = FileScanConfigBuilder::from(config.clone()).with_batch_size(Some(SKETCH_ROWS));
    DataSourceExec::from_data_source(short.build())
}
