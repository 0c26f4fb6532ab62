//! Connections for the protocol of operators: those whom the configuration names never wait for others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Connections of operators at once.
const MAX_OPERATORS: usize = 16;
/// Connections of other certificates at once, which may only ask.
const MAX_OTHERS: usize = 16;
/// Connections of one other certificate at once.
const MAX_OF_ONE: usize = 2;

/// Counts the connections that are open.
#[derive(Debug, Default)]
pub(super) struct Seats(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    operators: usize,
    others: HashMap<String, usize>,
}

/// A connection's seat, until it is dropped.
#[derive(Debug)]
pub(super) struct OperatorSeat {
    seats: Arc<Seats>,
    /// The name of a certificate that is no operator's.
    other: Option<String>,
}

impl Seats {
    /// Takes a seat for a certificate.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn take(self: &Arc<Self>, name: &str, is_operator: bool) -> Result<OperatorSeat, &'static str> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_operator {
            if taken.operators >= MAX_OPERATORS {
                return Err("too many operators are connected: try again");
            }
            taken.operators += 1;
        } else {
            let all: usize = taken.others.values().sum();
            let own = taken.others.get(name).copied().unwrap_or_default();
            if own >= MAX_OF_ONE {
                return Err("this certificate, which is no operator's, asks over too many connections at once");
            }
            if all >= MAX_OTHERS {
                return Err("too many certificates that are no operator's ask at once: try again");
            }
            taken.others.insert(name.to_owned(), own + 1);
        }
        drop(taken);
        Ok(OperatorSeat {
            seats: Arc::clone(self),
            other: (!is_operator).then(|| name.to_owned()),
        })
    }
}

impl Drop for OperatorSeat {
    fn drop(&mut self) {
        let mut taken = self.seats.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.other {
            None => taken.operators -= 1,
            Some(name) => {
                if let Some(own) = taken.others.get_mut(name) {
                    *own -= 1;
                }
                taken.others.retain(|_, own| *own > 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_OF_ONE, MAX_OPERATORS, MAX_OTHERS, OperatorSeat, Seats};
    use std::sync::Arc;

    /// One agent held all connections, and operators could neither ask nor change anything.
    #[test]
    fn others_take_no_seat_of_an_operator_and_one_of_them_few() {
        let seats = Arc::new(Seats::default());
        let own: Vec<OperatorSeat> = (0..MAX_OF_ONE).map(|_| seats.take("h0", false).unwrap()).collect();
        assert!(seats.take("h0", false).is_err());
        let others: Vec<OperatorSeat> = (MAX_OF_ONE..MAX_OTHERS)
            .map(|n| seats.take(&format!("x{n}"), false).unwrap())
            .collect();
        assert!(seats.take("h1", false).is_err());
        let operators: Vec<OperatorSeat> = (0..MAX_OPERATORS).map(|_| seats.take("ops", true).unwrap()).collect();
        assert!(seats.take("ops", true).is_err());
        drop((own, others, operators));
        let taken = seats.0.lock().unwrap();
        assert_eq!((taken.operators, taken.others.len()), (0, 0));
    }
}
