//! Writes rows into segments.
//!
//! A [`Writer`] has at most one open segment per table, for any time span of its rows: a capture file of many days
//! needs four file descriptors.

mod free_number;
mod numbered;
mod resume;

pub use numbered::Numbered;

use crate::compact::is_known_to_ship;
use crate::journal::Journal;
use crate::lock::ObserverLock;
use crate::marks::Marks;
use crate::name::{Observer, Partition, SegmentName, SegmentPaths};
use crate::parallel_seal::seal_in_parallel;
use crate::repair::repair_observer;
use crate::seal::seal_empty;
use crate::split::{Part, split};
use crate::{Error, Summary, encode, schema};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use free_number::free_number;
use resume::Unsealed;
use rocescope_model::{CAPTURE_TABLES, Cells, FORMAT_VERSION, Row, Table, Time, WindowRow, WindowRows, footer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Options of a writer.
#[derive(Debug, Clone)]
pub struct Options {
    /// Name of the observer. Only one running writer per observer and root.
    pub observer: String,
    /// Additional footer pairs with keys from [`footer`]; the writer adds format, table and observer.
    pub metadata: Vec<(String, String)>,
    /// Tables that get at least an empty segment: those of a capture.
    pub tables: &'static [&'static Table],
    /// Age of the first rows at which a segment is sealed: 60 s.
    pub max_age: Duration,
    /// Size of the journal at which a segment is sealed: 64 MiB.
    pub max_bytes: u64,
    /// Called between the steps of appending and sealing, which run different code: an agent releases memory. Default: nothing.
    pub between_steps: fn(),
}

impl Options {
    /// Returns the defaults for this observer.
    #[must_use]
    pub fn new(observer: impl Into<String>) -> Self {
        Self {
            observer: observer.into(),
            metadata: Vec::new(),
            tables: CAPTURE_TABLES,
            max_age: Duration::from_secs(60),
            max_bytes: 64 << 20,
            between_steps: || {},
        }
    }
}

/// Writes one observer's rows into a dataset.
///
/// Every [`append`](Self::append) passes its rows to the kernel before it returns: a later `kill -9` loses none of
/// them, and [`repair`](crate::repair()) or the next writer of the observer seals them. Dropping a writer seals what it
/// can without reporting errors; [`finish`](Self::finish) reports them.
#[derive(Debug)]
pub struct Writer {
    root: PathBuf,
    observer: Observer,
    options: Options,
    footer: Vec<(String, String)>,
    tables: Vec<Open>,
    summary: Summary,
    /// Time of the last row appended.
    last: Option<Time>,
    /// The error of the disk that stopped the writing, until [`Writer::resume`].
    stopped: Option<Error>,
    /// Journals that could not be sealed.
    unsealed: Vec<Unsealed>,
    lock: ObserverLock,
}

/// A table that got rows.
#[derive(Debug)]
struct Open {
    table: &'static Table,
    schema: SchemaRef,
    segment: Option<OpenSegment>,
    /// Whether its rows have numbers.
    numbered: bool,
    marks: Marks,
}

#[derive(Debug)]
struct OpenSegment {
    table: &'static Table,
    journal: Journal,
    partition: Partition,
    opened: Instant,
    /// Bytes and rows before the current append.
    mark: (u64, u64),
}

impl Writer {
    /// Creates the root if necessary, locks the observer, and seals the leftovers of its earlier writer.
    ///
    /// # Errors
    /// The root cannot be created or written, the observer is [`Error::Busy`], or leftovers cannot be sealed.
    pub fn create(root: &Path, options: Options) -> Result<Self, Error> {
        std::fs::create_dir_all(root).map_err(|source| match source.kind() {
            // A file has the name: `File exists` would hide what is wrong.
            std::io::ErrorKind::AlreadyExists => Error::NoDirectory { root: root.to_owned() },
            _ => Error::io("create", root, source),
        })?;
        let observer = Observer::new(&options.observer);
        let lock = ObserverLock::acquire(root, &observer)?.ok_or_else(|| Error::Busy {
            observer: observer.as_str().into(),
            root: root.to_owned(),
        })?;
        let repaired = repair_observer(root, &observer)?;
        let mut footer = vec![
            (footer::FORMAT.into(), FORMAT_VERSION.to_string()),
            (footer::OBSERVER.into(), options.observer.clone()),
        ];
        footer.extend(options.metadata.iter().cloned());
        Ok(Self {
            root: root.to_owned(),
            observer,
            options,
            footer,
            tables: Vec::new(),
            summary: Summary {
                repaired,
                ..Summary::default()
            },
            last: None,
            stopped: None,
            unsealed: Vec::new(),
            lock,
        })
    }

    /// Appends the rows of finished windows, all of them or none.
    ///
    /// `now` determines the age of segments; it must not go back.
    ///
    /// # Errors
    /// An error of the disk ([`Error::is_of_disk`]) ends writing until [`resume`](Self::resume): rows appended before are
    /// sealed if the disk permits, and later rows are rejected with the same error and counted in the [`Summary`]. If
    /// rows of this call belong to several segments of a table, some of them may be stored.
    pub fn append(&mut self, rows: &WindowRows, now: Instant) -> Result<(), Error> {
        let appended = self.append_all(&rows.tables(), now);
        if self.stopped.is_some() {
            self.summary.refused_windows += rows.windows.len() as u64;
        }
        appended
    }

    /// Appends rows of one table, all of them or none.
    ///
    /// # Errors
    /// Same as [`append`](Self::append); also if a value does not fit its column.
    pub fn append_cells(&mut self, cells: &dyn Cells, now: Instant) -> Result<(), Error> {
        self.append_all(&[cells], now)
    }

    /// Appends rows of several tables, all of them or none.
    ///
    /// # Errors
    /// Same as [`append_cells`](Self::append_cells).
    pub fn append_tables(&mut self, tables: &[&dyn Cells], now: Instant) -> Result<(), Error> {
        self.append_all(tables, now)
    }

    /// Seals the segments that are due by age, for an idle capture. Appending does it too.
    ///
    /// # Errors
    /// Same as [`append`](Self::append).
    pub fn rotate(&mut self, now: Instant) -> Result<(), Error> {
        let rotated = self.seal_where(|segment, options| segment.is_due(options, now));
        self.stop_if_failed(rotated)
    }

    /// Returns what is sealed so far.
    #[must_use]
    pub const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Seals every open segment and writes an empty one for each of [`Options::tables`] that had no rows.
    ///
    /// # Errors
    /// Returns the first error after it sealed all other segments; journals that could not be sealed remain for
    /// [`repair`](crate::repair()). An error of the disk that an append already reported is not an error here.
    pub fn finish(mut self) -> Result<Summary, Error> {
        let sealed = self.seal_where(|_, _| true);
        if let Err(error) = self.stop_if_failed(sealed) {
            // The last attempt. It also finds what is gone.
            match error.is_of_disk() {
                true => self.resume()?,
                false => return Err(error),
            }
        }
        self.seal_empty_tables()?;
        self.summary.unsealed = self.unsealed.drain(..).map(|journal| journal.path).collect();
        Ok(std::mem::take(&mut self.summary))
    }

    fn append_all(&mut self, tables: &[&dyn Cells], now: Instant) -> Result<(), Error> {
        self.refuse_if_stopped()?;
        let parts: Vec<Vec<Part>> = tables.iter().map(|cells| split(*cells)).collect();
        let earliest = parts.iter().flatten().map(|part| part.partition).min();
        // The hour ends for all tables at the same time, and they wait for the disk together.
        let rotated = self.seal_where(|segment, options| {
            segment.is_due(options, now) || earliest.is_some_and(|hour| segment.partition < hour)
        });
        self.stop_if_failed(rotated)?;
        for open in &mut self.tables {
            if let Some(segment) = &mut open.segment {
                segment.mark = segment.journal.position();
            }
        }
        let appended = tables
            .iter()
            .zip(&parts)
            .try_for_each(|(cells, parts)| self.append_table(*cells, parts, now));
        if appended.is_err() {
            self.undo();
        }
        self.stop_if_failed(appended)
    }

    fn append_table(&mut self, cells: &dyn Cells, parts: &[Part], now: Instant) -> Result<(), Error> {
        let index = self.open(cells.table(), false)?;
        for part in parts {
            self.seal_where(|segment, options| {
                let ends = segment.partition != part.partition || segment.is_due(options, now);
                segment.table == cells.table() && ends
            })?;
            self.append_part(index, cells, part, now)?;
            self.last = self.last.max(Some(part.start));
        }
        Ok(())
    }

    fn append_part(&mut self, index: usize, cells: &dyn Cells, part: &Part, now: Instant) -> Result<(), Error> {
        let batch = encode::batch(cells, &part.rows, &self.tables[index].schema)
            .map_err(|error| Error::content("encode rows for", &self.root, &error))?;
        (self.options.between_steps)();
        self.append_batch(index, &batch, (part.partition, part.start), now)
    }

    /// Appends a batch of one hour to the open segment of a table, a new one if it has none.
    fn append_batch(
        &mut self,
        index: usize,
        batch: &RecordBatch,
        (partition, start): (Partition, Time),
        now: Instant,
    ) -> Result<(), Error> {
        let open = &mut self.tables[index];
        let opened = match open.segment.take() {
            Some(segment) => segment,
            None => {
                let (table, schema) = (open.table, Arc::clone(&open.schema));
                let journal = Journal::create(self.free_place(table, start)?, &schema)?;
                (self.options.between_steps)();
                OpenSegment {
                    table,
                    mark: journal.position(),
                    journal,
                    partition,
                    opened: now,
                }
            }
        };
        let segment = self.tables[index].segment.insert(opened);
        segment.journal.append(batch)
    }

    /// Returns the position of the open table for rows with or without numbers.
    fn open(&mut self, table: &'static Table, numbered: bool) -> Result<usize, Error> {
        let mut open = self.tables.iter();
        if let Some(found) = open.position(|o| o.table == table && o.numbered == numbered) {
            return Ok(found);
        }
        let schema = schema::arrow(table, &self.footer);
        let (schema, marks) = if numbered {
            let marks = Marks::load(&self.place(table, Time::default(), 0))?;
            (schema::numbered(&schema), marks)
        } else {
            (schema, Marks::default())
        };
        let open = Open {
            table,
            schema: Arc::new(schema),
            segment: None,
            numbered,
            marks,
        };
        self.tables.push(open);
        Ok(self.tables.len() - 1)
    }

    /// Removes the rows of the current append.
    fn undo(&mut self) {
        for segment in self.tables.iter_mut().filter_map(|o| o.segment.as_mut()) {
            let (whole, rows) = segment.mark;
            segment.journal.cut_to(whole, rows);
        }
    }

    /// Seals every open segment that is due; continues after an error and returns the first.
    fn seal_where(&mut self, due: impl Fn(&OpenSegment, &Options) -> bool) -> Result<(), Error> {
        let mut journals: [Vec<(&'static Table, Journal)>; 2] = Default::default();
        for open in &mut self.tables {
            if let Some(segment) = open.segment.take_if(|s| due(s, &self.options)) {
                let last = usize::from(open.table == WindowRow::TABLE);
                journals[last].push((open.table, segment.journal));
            }
        }
        // `windows` comes last: a reader that finds a sealed window finds its rows in every other table.
        let [others, windows] = journals;
        let first = self.seal(others);
        if first.is_err() {
            self.unsealed
                .extend(windows.iter().map(|(table, journal)| Unsealed::new(table, journal)));
            return first;
        }
        self.seal(windows)
    }

    fn seal(&mut self, journals: Vec<(&'static Table, Journal)>) -> Result<(), Error> {
        let (tables, journals): (Vec<&Table>, Vec<Journal>) = journals.into_iter().unzip();
        let mut first = Ok(());
        let results = seal_in_parallel(&journals, self.options.between_steps);
        for ((table, journal), result) in tables.into_iter().zip(journals).zip(results) {
            match result {
                Ok(closed) => {
                    if let Some(sealed) = &closed.sealed {
                        self.summary.count(table.name, sealed);
                    }
                    self.summary.damaged.extend(closed.damaged);
                }
                Err(error) => {
                    self.unsealed.push(Unsealed::new(table, &journal));
                    first = first.and(Err(error));
                }
            }
        }
        first
    }

    /// Without any segment, a query over the table would fail instead of returning no rows.
    fn seal_empty_tables(&mut self) -> Result<(), Error> {
        let Some(last) = self.last else {
            return Ok(());
        };
        for table in self.options.tables {
            if self.stopped.is_some() || self.summary.table(table.name).segments > 0 {
                continue;
            }
            let schema = Arc::new(schema::arrow(table, &self.footer));
            let sealed = seal_empty(&self.free_place(table, last)?, schema)?;
            self.summary.count(table.name, &sealed);
        }
        Ok(())
    }

    /// Returns unused paths for this table and start.
    fn free_place(&self, table: &Table, start: Time) -> Result<SegmentPaths, Error> {
        let at = |number| self.place(table, start, number);
        // A name that cannot be looked up may be taken: a repair would take the journal for what is left of that segment.
        let exists = |path: &Path| path.try_exists().map_err(|source| Error::io("look up", path, source));
        let number = free_number(|number| {
            let (sealed, journal) = (at(number).sealed(), at(number).journal());
            Ok(exists(&sealed)? || exists(&journal)? || is_known_to_ship(&self.root, &sealed))
        });
        Ok(at(number?))
    }

    fn place(&self, table: &Table, start: Time, seq: u32) -> SegmentPaths {
        SegmentPaths {
            root: self.root.clone(),
            table: table.name.into(),
            name: SegmentName::new(&self.observer, start, seq),
        }
    }
}

impl OpenSegment {
    fn is_due(&self, options: &Options, now: Instant) -> bool {
        let age = now.saturating_duration_since(self.opened);
        age >= options.max_age || self.journal.position().0 >= options.max_bytes
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = self.seal_where(|_, _| true);
        }
    }
}
