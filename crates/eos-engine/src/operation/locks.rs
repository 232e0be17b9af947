//! The locks of the components and hosts that an operation is about: in Consul where there is one, else files of the estate.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use eos_core::plan::Key;
use jiff::Timestamp;

use super::Stop;
use crate::component_lock::{ComponentLock, Holder};
use crate::consul::ConsulClient;
use crate::error::EngineError;
use crate::estate::Estate;
use crate::lock::{self, Lock, Patience, Target};
use crate::request::Terms;

/// How long others are waited for: longer than the lock of one that was killed lives.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

#[derive(Default)]
pub(super) struct Locks {
    held: BTreeSet<Key>,
    in_consul: Vec<ComponentLock>,
    /// Held until they are dropped.
    files: Vec<Lock>,
}

impl Locks {
    /// Takes the lock of everything that is not held yet; what an operation of the same name left is taken over.
    pub async fn take(
        &mut self,
        estate: &Estate,
        consul: Option<&ConsulClient>,
        operation: &str,
        who: &str,
        components: BTreeSet<Key>,
        waiting: &mut dyn FnMut(&EngineError) -> Patience,
    ) -> Result<(), EngineError> {
        let missing: BTreeSet<Key> = components.difference(&self.held).cloned().collect();
        if missing.is_empty() {
            return Ok(());
        }
        match consul {
            Some(consul) => {
                let holder = Holder {
                    operation: operation.to_owned(),
                    who: who.to_owned(),
                    since: Timestamp::now(),
                };
                let ttl = estate.settings.lock_ttl;
                let lock = ComponentLock::wait(consul, &missing, &holder, ttl, waiting).await?;
                self.in_consul.push(lock);
            }
            None => {
                // In the order of their names, which is the same for everybody.
                for key in &missing {
                    let (environment, component) = lock::place(key);
                    let target = Target::Component {
                        environment,
                        component,
                    };
                    let lock = Lock::wait(&estate.root, target, Some(operation), waiting).await?;
                    self.files.push(lock);
                }
            }
        }
        self.held.extend(missing);
        Ok(())
    }

    pub async fn still_held(&self) -> Result<(), EngineError> {
        for lock in &self.in_consul {
            lock.still_held().await?;
        }
        Ok(())
    }

    /// A lock that cannot be given back ends by itself, and is no failure of what was done under it.
    pub async fn release(&mut self) -> Vec<EngineError> {
        self.held.clear();
        self.files.clear();
        let mut kept = Vec::new();
        for lock in self.in_consul.drain(..) {
            kept.extend(lock.release().await.err());
        }
        kept
    }
}

/// Tells who is waited for, whenever that changes, and says when to stop.
pub(super) fn waiting<'w>(
    terms: Terms,
    stop: &'w Stop,
    mut tell: impl FnMut(&str) + 'w,
) -> impl FnMut(&EngineError) -> Patience + 'w {
    let ends = Instant::now() + PATIENCE;
    let mut told = String::new();
    move |error: &EngineError| {
        if terms.no_wait || stop.is_wanted() || Instant::now() > ends {
            return Patience::Over;
        }
        let words = format!("{}: {}", error.object, error.words);
        if words != told {
            tell(&words);
            told = words;
        }
        Patience::Left
    }
}
