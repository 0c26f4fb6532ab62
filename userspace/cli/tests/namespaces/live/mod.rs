//! Live captures, each in its own network namespace. A capture must count the frames on a veth pair as it counts their
//! file, and leave nothing behind.
//!
//! | module | what it holds |
//! |---|---|
//! | `namespace` | a namespace with a veth pair, removed after the test |
//! | `running` | the binary, capturing in a namespace |
//! | `replay` | frames of a capture file onto the other end |
//! | `connections` | queue pairs equal those of the file, CM included |
//! | `counters` | every counter of a connection equals that of the file |
//! | `reordered` | reordered traffic has the same counters over XDP and over packet sockets |
//! | `collectives` | steps of collectives equal those of the file |
//! | `totals` | native, generic and packet sockets count the frames of the file |
//! | `rows` | rows are whole, idle windows are rows, losses of a stopped capture are in the dataset |
//! | `full_disk` | a disk that is full for a while: stored and named gaps are all that was captured |
//! | `generate` | frames of the generator, counted on both ends |
//! | `lifecycle` | signals, `kill -9`, interfaces that vanish, XDP programs of others |
//! | `overload` | a capture that stops while runs arrive: reported, counted, and over when it resumes |
//! | `check` | findings of `--check` on good and bad ports |
//! | `port` | `doctor`, counters, renaming, queues, tags |
//! | `recorder` | the frames around events, tags and all |
//! | `uet` | packet delivery contexts of UET, as of their file |
//! | `frames` | `--count` and `--write` |
//! | `direction` | frames that arrive, that leave, or both |
//! | `metrics` | the metrics for Prometheus equal the summary |
//! | `privileges` | without capabilities, and with only the required ones |

mod check;
mod collectives;
mod connections;
mod counters;
mod direction;
mod frames;
mod full_disk;
mod generate;
mod lifecycle;

mod metrics;
mod namespace;
mod overload;
mod port;
mod privileges;
mod recorder;
mod reordered;
mod replay;
mod rows;
mod running;
mod totals;
mod uet;
