//! How much of the time an engine was waited for: the union of all intervals in which at least one was.
//!
//! Several engines are asked at the same time, so what each of them took must not be added up. One count of what is
//! being waited for, and one sum, do for the whole program.

use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

static CLOCK: Mutex<Clock> = Mutex::new(Clock {
    waiting: 0,
    since: None,
    sum: Duration::ZERO,
});

struct Clock {
    /// How many are waited for just now.
    waiting: usize,
    /// When the first of them began.
    since: Option<Instant>,
    /// Of the intervals that are over.
    sum: Duration,
}

impl Clock {
    fn begin(&mut self, now: Instant) {
        self.waiting += 1;
        self.since.get_or_insert(now);
    }

    fn end(&mut self, now: Instant) {
        self.waiting -= 1;
        if self.waiting == 0
            && let Some(since) = self.since.take()
        {
            self.sum += now.duration_since(since);
        }
    }

    fn read(&self, now: Instant) -> Duration {
        self.sum
            + self
                .since
                .map_or(Duration::ZERO, |since| now.duration_since(since))
    }
}

fn clock() -> MutexGuard<'static, Clock> {
    // Nothing that panics runs while it is held, so even a poisoned one is right.
    CLOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As long as it lives, an engine is waited for.
#[must_use = "the waiting ends when it is dropped"]
pub struct Waiting(());

impl Waiting {
    pub fn begin() -> Self {
        clock().begin(Instant::now());
        Waiting(())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        clock().end(Instant::now());
    }
}

/// Has an engine do something, and waits for it.
pub async fn on<T>(engine: impl Future<Output = T>) -> T {
    let _waiting = Waiting::begin();
    engine.await
}

/// Time that passed, and what of it went into waiting for engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    pub took: Duration,
    pub waited: Duration,
}

impl Spent {
    /// What Eos needed for itself.
    pub fn own(&self) -> Duration {
        self.took.saturating_sub(self.waited)
    }
}

/// Measures from where it was started.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    started: Instant,
    waited: Duration,
}

impl Stopwatch {
    pub fn start() -> Self {
        let started = Instant::now();
        Stopwatch {
            started,
            waited: clock().read(started),
        }
    }

    pub fn read(&self) -> Spent {
        let now = Instant::now();
        Spent {
            took: now.duration_since(self.started),
            waited: clock().read(now).saturating_sub(self.waited),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_waited_for_at_the_same_time_counts_once() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut clock = Clock {
            waiting: 0,
            since: None,
            sum: Duration::ZERO,
        };
        clock.begin(at(100));
        clock.begin(at(200));
        clock.end(at(300));
        assert_eq!(clock.read(at(350)), Duration::from_millis(250));
        clock.end(at(400));
        assert_eq!(clock.read(at(900)), Duration::from_millis(300));
        clock.begin(at(1000));
        clock.end(at(1050));
        assert_eq!(clock.read(at(2000)), Duration::from_millis(350));
    }

    #[test]
    fn what_is_not_waiting_is_own() {
        let spent = Spent {
            took: Duration::from_millis(1200),
            waited: Duration::from_millis(900),
        };
        assert_eq!(spent.own(), Duration::from_millis(300));
    }

    #[tokio::test]
    async fn a_stopwatch_sees_a_wait_that_is_not_over() {
        let stopwatch = Stopwatch::start();
        let nap = Duration::from_millis(20);
        on(tokio::time::sleep(nap)).await;
        let _waiting = Waiting::begin();
        std::thread::sleep(nap);
        let spent = stopwatch.read();
        assert!(spent.waited >= nap * 2, "{spent:?}");
        assert!(spent.took >= spent.waited, "{spent:?}");
    }
}
