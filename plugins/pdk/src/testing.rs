//! Support for plugins' tests: a fake host that records requests, mutated documents, fixtures in
//! folders, and invariants of results.

pub mod damage;
pub mod fixtures;
pub mod promises;
pub mod records;

use std::cell::RefCell;

use crate::fetch::{Failure, FailureKind, Host, Level, Request, Response};

/// The function that answers a [`FakeHost`]'s requests.
pub type Outcome = Result<Response, Failure>;

/// A fake host that answers each request with a function and records every batch of requests.
pub struct FakeHost<F: Fn(&Request) -> Outcome> {
    answer: F,
    batches: RefCell<Vec<Vec<Request>>>,
    progress: RefCell<Vec<(u64, u64)>>,
    discards: RefCell<Vec<Request>>,
}

impl<F: Fn(&Request) -> Outcome> FakeHost<F> {
    /// A host that answers with `answer`.
    pub fn new(answer: F) -> Self {
        Self {
            answer,
            batches: RefCell::default(),
            progress: RefCell::default(),
            discards: RefCell::default(),
        }
    }

    /// The requests so far, one list for each `fetch_all`.
    pub fn batches(&self) -> Vec<Vec<Request>> {
        self.batches.borrow().clone()
    }

    /// The requests so far in one list.
    pub fn requests(&self) -> Vec<Request> {
        self.batches.borrow().concat()
    }

    /// The requests so far whose answers were discarded, see [`discard`](crate::discard).
    pub fn discards(&self) -> Vec<Request> {
        self.discards.borrow().clone()
    }

    /// The progress reports so far: done and total.
    pub fn progress_reports(&self) -> Vec<(u64, u64)> {
        self.progress.borrow().clone()
    }
}

impl<F: Fn(&Request) -> Outcome> Host for FakeHost<F> {
    fn fetch_all(&self, requests: Vec<Request>) -> Vec<Outcome> {
        let outcomes = requests.iter().map(&self.answer).collect();
        self.batches.borrow_mut().push(requests);
        outcomes
    }

    fn log(&self, _level: Level, _message: &str) {}

    fn progress(&self, done: u64, total: u64, _message: &str) {
        self.progress.borrow_mut().push((done, total));
    }

    fn setting(&self, _key: &str) -> Option<String> {
        None
    }

    fn discarded(&self, request: &Request) {
        self.discards.borrow_mut().push(request.clone());
    }
}

/// An answer with `status` and `body`.
///
/// # Errors
///
/// Never; the type is that of [`FakeHost`]'s function.
pub fn answer(status: u16, body: impl Into<String>) -> Outcome {
    Ok(Response { status, url: String::new(), headers: Vec::new(), body: body.into() })
}

/// A failure of the kind `kind`.
///
/// # Errors
///
/// Always.
pub fn failure(kind: FailureKind, message: &str) -> Outcome {
    Err(Failure { url: String::new(), kind, message: message.to_owned() })
}
