//! What an address asks for.

use rocescope_model::filter::{Filter, Names};
use rocescope_model::hosts::Hosts;
use rocescope_model::{GroupBy, Time, units};
use rocescope_report::collect::OwnedBy;
use rocescope_report::html::page::Asked;
use rocescope_report::{Collector, Scope};
use rocescope_runtime::clock::instant_at;
use std::net::IpAddr;

/// The time that is shown when none is asked for, while rows come.
const DEFAULT_LAST: &str = "1m";
/// More of an address than a person types.
const MAX_TEXT: usize = 1_000;

/// The time that a view shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    /// This long up to the newest row.
    Last(i64),
    /// From one instant to another.
    Fixed(Option<Time>, Option<Time>),
}

/// What an address asks for.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// As text, which identifies the view.
    pub(crate) asked: Asked,
    pub(crate) span: Span,
    /// The request of the report, without its time.
    scope: Scope,
}

/// The view that an address asks for, and the row whose fields are open; or what is wrong with it, and the view without
/// what is wrong.
pub(crate) fn read(
    query: &str,
    names: &Hosts,
    now: Time,
    has_new_rows: bool,
) -> (View, Option<String>, Option<String>) {
    let mut asked = Asked::default();
    let mut row = None;
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let value: String = value.trim().chars().take(MAX_TEXT).collect();
        let place = match &*name {
            "last" => &mut asked.last,
            "from" => &mut asked.from,
            "to" => &mut asked.to,
            "q" => &mut asked.q,
            "by" => &mut asked.by,
            "observer" => &mut asked.observer,
            "row" => {
                row = Some(value).filter(|row| !row.is_empty());
                continue;
            }
            _ => continue,
        };
        *place = value;
    }
    if !asked.from.is_empty() || !asked.to.is_empty() {
        asked.last.clear();
    } else if asked.last.is_empty() {
        asked.last = if has_new_rows { DEFAULT_LAST } else { "all" }.into();
    }
    let mut errors = Vec::new();
    let mut scope = Scope::default();
    match filter(&asked.q, names) {
        Ok(filter) => scope.filter = filter,
        Err(error) => {
            errors.push(error);
            asked.q.clear();
        }
    }
    match by(&asked.by) {
        Ok((by, owned_by)) => (scope.by, scope.owned_by) = (by, owned_by),
        Err(error) => {
            errors.push(error);
            asked.by.clear();
        }
    }
    // Without a table that has the columns of the filter, it selects nothing.
    if let Err(error) = Collector::new(scope.clone()) {
        errors.push(format!("filter: {error}"));
        scope.filter = None;
        asked.q.clear();
    }
    scope.observer = Some(asked.observer.clone()).filter(|name| !name.is_empty());
    let span = span(&asked, now).unwrap_or_else(|error| {
        errors.push(error);
        Span::Fixed(None, None)
    });
    let error = (!errors.is_empty()).then(|| errors.join("; "));
    (View { asked, span, scope }, row, error)
}

fn span(asked: &Asked, now: Time) -> Result<Span, String> {
    let time = |text: &str, name: &str| match text.is_empty() {
        true => Ok(None),
        false => instant_at(text, now)
            .map(Some)
            .map_err(|error| format!("{name}: {error}")),
    };
    if asked.last == "all" {
        return Ok(Span::Fixed(None, None));
    }
    if !asked.last.is_empty() {
        let length = units::nanoseconds(&asked.last).and_then(|length| i64::try_from(length).ok());
        let length = length.filter(|length| *length > 0);
        return length
            .map(Span::Last)
            .ok_or_else(|| format!("last: expected a duration such as 5m, not {}", asked.last));
    }
    match (time(&asked.from, "from")?, time(&asked.to, "to")?) {
        (Some(from), Some(to)) if to <= from => {
            Err("the time ends before it begins: `from` must be before `to`".into())
        }
        (from, to) => Ok(Span::Fixed(from, to)),
    }
}

/// An address alone, a number of a queue pair, the name of a host, or an expression of the filter language.
fn filter(text: &str, names: &Hosts) -> Result<Option<Filter>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let named = || names.addresses(text).next().is_some();
    let expression = match text.parse::<IpAddr>().is_ok() || named() {
        true => format!("host {text}"),
        false if text.parse::<u32>().is_ok() => format!("qp {text}"),
        false => text.to_owned(),
    };
    let parsed = Filter::parse_with(&expression, Names::Of(names));
    parsed.map(Some).map_err(|error| format!("filter: {error}"))
}

fn by(text: &str) -> Result<(Option<GroupBy>, OwnedBy), String> {
    if text.is_empty() {
        return Ok((None, OwnedBy::default()));
    }
    match text.parse() {
        Ok(owned_by) => Ok((None, owned_by)),
        Err(_) => {
            let parsed: Result<GroupBy, String> = text.parse();
            parsed
                .map(|by| (Some(by), OwnedBy::default()))
                .map_err(|error| format!("group by: {error}"))
        }
    }
}

impl View {
    /// The request of a report of this time.
    pub(crate) fn scope(&self, from: Option<Time>, to: Option<Time>) -> Scope {
        Scope {
            from,
            to,
            ..self.scope.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> (View, Option<String>, Option<String>) {
        let names = Hosts::parse("10.0.0.7 gpu-7\n").unwrap();
        read(query, &names, Time(3_600_000_000_000), true)
    }

    #[test]
    fn an_address_states_time_filter_and_group() {
        let (view, row, error) = of("last=5m&q=host+10.0.0.1&by=src/24&row=flows.0.ab&sort=x");
        assert_eq!((row.as_deref(), error), (Some("flows.0.ab"), None));
        assert_eq!(view.span, Span::Last(300_000_000_000));
        let scope = view.scope(None, None);
        assert_eq!(scope.filter.unwrap().text(), "host 10.0.0.1");
        assert!(scope.by.is_some());
        assert_eq!(view.asked.address(), "?last=5m&q=host+10.0.0.1&by=src%2F24");
        assert_eq!(of("").0.span, Span::Last(60_000_000_000));
        assert_eq!(of("last=all").0.span, Span::Fixed(None, None));
        let (view, ..) = of("from=-10m&to=now&last=1m");
        assert_eq!(
            view.span,
            Span::Fixed(Some(Time(3_000_000_000_000)), Some(Time(3_600_000_000_000)))
        );
    }

    #[test]
    fn an_address_a_number_and_a_name_alone_are_filters() {
        for (query, text) in [
            ("10.0.0.1", "host 10.0.0.1"),
            ("17", "qp 17"),
            ("gpu-7", "host gpu-7"),
            ("qp 1 or qp 2", "qp 1 or qp 2"),
        ] {
            let query: String = form_urlencoded::Serializer::new(String::new())
                .append_pair("q", query)
                .finish();
            let (view, _, error) = of(&query);
            assert_eq!(error, None);
            assert_eq!(view.scope(None, None).filter.unwrap().text(), text);
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_left_out() {
        for (query, part) in [
            ("q=host+nowhere", "filter:"),
            ("q=((((", "filter:"),
            ("by=colour", "group by:"),
            ("last=soon", "last:"),
            ("from=later", "from:"),
            ("from=12:00&to=11:00", "before"),
        ] {
            let (view, _, error) = of(query);
            let error = error.unwrap();
            assert!(error.contains(part), "{query}: {error}");
            let scope = view.scope(None, None);
            assert!(scope.filter.is_none() && scope.by.is_none());
        }
    }
}
