//! Paths as texts: `/interfaces/interface[name=Ethernet1/1]/state`.

use super::message::{Path, PathElem};

/// Reads a path.
pub fn path(text: &str) -> Path {
    let mut elements: Vec<String> = vec![String::new()];
    let mut is_inside = false;
    for c in text.trim_start_matches('/').chars() {
        is_inside = (is_inside || c == '[') && c != ']';
        match c {
            '/' if !is_inside => elements.push(String::new()),
            c => elements.last_mut().unwrap().push(c),
        }
    }
    Path {
        elem: elements.iter().map(|text| element(text)).collect(),
        ..Path::default()
    }
}

fn element(text: &str) -> PathElem {
    let (name, keys) = text.split_once('[').unwrap_or((text, ""));
    let keys = keys.trim_end_matches(']').split("][").filter(|key| !key.is_empty());
    let key = keys.map(|key| key.split_once('=').unwrap());
    PathElem {
        name: name.to_owned(),
        key: key.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
    }
}

/// Whether a path is at or below one with wildcards; keys that are not given stand for any.
pub(super) fn is_below(path: &Path, top: &Path) -> bool {
    let fits = |(elem, wanted): (&PathElem, &PathElem)| {
        let has = |(key, value): (&String, &String)| value == "*" || elem.key.get(key) == Some(value);
        (wanted.name == "*" || wanted.name == elem.name) && wanted.key.iter().all(has)
    };
    path.elem.len() >= top.elem.len() && path.elem.iter().zip(&top.elem).all(fits)
}

#[cfg(test)]
mod tests {
    use super::{is_below, path};

    #[test]
    fn wildcards_stand_for_any_key() {
        let leaf = path("/a/b[name=1/1][x=2]/c");
        assert_eq!((leaf.elem.len(), &*leaf.elem[1].key["name"]), (3, "1/1"));
        for top in ["/a", "/a/b", "/a/b[name=*]/c", "/a/b[name=1/1][x=2]", "/a/*/c"] {
            assert!(is_below(&leaf, &path(top)), "{top}");
        }
        for top in ["/b", "/a/b[name=1]", "/a/b[y=*]/c/d", "/a/b/d"] {
            assert!(!is_below(&leaf, &path(top)), "{top}");
        }
    }
}
