//! The incidents of links inside hosts: single faults of simulated hosts, and the slides.

use super::host::Host;
use super::{HOSTS, SHARES, SLIDES, diagnose, run};
use crate::incidents::judged::{Judged, Planted, Run};
use crate::table::Size;
use rocescope_diagnose::hostping::{Document, Matrix, measured, topology};
use rocescope_diagnose::incidents::{Incident, Wire, convert, join};
use rocescope_fabric::random::Draws;

pub(crate) fn runs(size: Size) -> Vec<Run> {
    let shares = size.choose(&SHARES[4..5], &SHARES[..]);
    let mut draws = Draws::new(1);
    let mut runs = Vec::new();
    for tree in HOSTS {
        let host = Host::healthy(topology::read(tree).unwrap());
        runs.push(planted("healthy".into(), &host, run(&host, &mut draws), None));
        for link in 0..host.capacity.len() {
            for share in shares {
                let sick = host.with(link, *share);
                let ends = host.topology.ends(link);
                let name = format!("{} – {} at {share}", ends.0, ends.1);
                runs.push(planted(name, &host, run(&sick, &mut draws), Some(ends)));
            }
        }
    }
    let host = Host::healthy(topology::read(HOSTS[0]).unwrap());
    for (at, (matrix, link)) in SLIDES.into_iter().enumerate() {
        let matrix = Matrix::of(&measured::read(matrix).unwrap(), &host.topology).unwrap();
        runs.push(planted(format!("slide {at}"), &host, matrix, link));
    }
    runs
}

fn planted(name: String, host: &Host, matrix: Matrix, link: Option<(&str, &str)>) -> Run {
    let (host, link) = (host.clone(), link.map(|(a, b)| (a.to_owned(), b.to_owned())));
    Run::new(name, move || {
        let link = link.as_ref().map(|(a, b)| (a.as_str(), b.as_str()));
        judge(&host, &matrix, link)
    })
}

fn judge(host: &Host, matrix: &Matrix, link: Option<(&str, &str)>) -> Judged {
    let document = Document::of(&host.topology, matrix, &diagnose(host, matrix));
    let causes = document.causes.iter();
    let found = causes.map(|cause| convert::loopback("h0", 0, cause, Default::default()));
    let planted: Vec<Planted<'_>> = link
        .map(|(a, b)| -> Planted<'_> {
            let name = format!("h0: {a} – {b}");
            let expected = name.clone();
            let is_it = move |one: &Incident| one.class == "loopback" && one.place.name == expected;
            (name, Box::new(is_it))
        })
        .into_iter()
        .collect();
    Judged::of(&planted, join(found.collect(), &Wire::default()))
}
