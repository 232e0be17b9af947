//! Who may change which component just now, across machines: keys that a session in Consul holds.
//!
//! An operation has one session for all its components. The session is renewed in the background; when the holder
//! dies, Consul ends the session after its time, and gives the keys to others after a delay.

use std::collections::BTreeSet;
use std::time::Duration;

use eos_core::plan::Key as Component;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::consul::{ConsulClient, KeyWork, TRANSACTION, Transaction};
use crate::error::{EngineError, ErrorKind, Layer};
use crate::lock::{self, Patience};
use crate::waiting;

/// How long an operation's session lives without being renewed: longer than an agent is down for an upgrade.
pub const TTL: Duration = Duration::from_secs(600);
/// The least and the most that Consul takes.
pub const LEAST_TTL: Duration = Duration::from_secs(10);
pub const LONGEST_TTL: Duration = Duration::from_secs(86_400);
/// How long the keys of a session that ended are held back, so that what its holder had asked for can end.
const LOCK_DELAY: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(250);
/// After a renewal that failed, the next one comes sooner.
const RENEW_AGAIN: Duration = Duration::from_secs(2);

/// What a holder writes into its keys, for others to read, and for the minion to check before Terraform applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub operation: String,
    pub who: String,
    pub since: Timestamp,
}

/// The lock of every component that an operation touches.
pub struct ComponentLock {
    consul: ConsulClient,
    session: String,
    keys: Vec<LockKey>,
    renewal: JoinHandle<()>,
    is_released: bool,
}

#[derive(Debug, Clone)]
struct LockKey {
    key: String,
    /// `environment/component`.
    component: String,
}

impl LockKey {
    fn new(key: &Component) -> Self {
        let (environment, component) = lock::place(key);
        LockKey {
            key: format!("terraform/{environment}/{component}/lock"),
            component: format!("{environment}/{component}"),
        }
    }

    fn error(&self, kind: ErrorKind, words: String) -> EngineError {
        EngineError::new(Layer::Consul, kind, format!("lock of {}", self.component), words)
    }
}

/// Who holds a key.
enum Held {
    Nobody,
    By { session: String, holder: Option<Holder> },
}

/// The lock of a component as Consul has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    pub environment: String,
    pub component: String,
    /// Nothing of a lock that something other than Eos holds.
    pub holder: Option<Holder>,
}

impl Locked {
    pub fn words(&self) -> String {
        by(self.holder.as_ref())
    }
}

/// Every lock of a component that is held now: one request, and one for each of them.
pub async fn all_held(consul: &ConsulClient) -> Result<Vec<Locked>, EngineError> {
    let mut all = Vec::new();
    for key in consul.keys("terraform/").await? {
        let parts: Vec<&str> = key.split('/').collect();
        let ["terraform", environment, component, "lock"] = parts[..] else {
            continue;
        };
        let component = (environment.to_owned(), component.to_owned());
        if let Held::By { holder, .. } = held(consul, &LockKey::new(&component)).await? {
            let (environment, component) = component;
            all.push(Locked {
                environment,
                component,
                holder,
            });
        }
    }
    Ok(all)
}

impl ComponentLock {
    /// Takes the locks of all components, or of none: then it says who holds one of them (`Conflict`).
    ///
    /// A lock that the same operation holds is taken over at once: an operation runs in one process at a time, by
    /// the lock of its estate, so the session is that of a process which was killed.
    pub async fn try_acquire(
        consul: &ConsulClient,
        components: &BTreeSet<Component>,
        holder: &Holder,
        ttl: Duration,
    ) -> Result<Self, EngineError> {
        ComponentLock::wait(consul, components, holder, ttl, &mut |_| Patience::Over).await
    }

    /// Takes the locks as soon as all are free. As long as one is held, `held` is told by whom, and says whether to go
    /// on waiting.
    pub async fn wait(
        consul: &ConsulClient,
        components: &BTreeSet<Component>,
        holder: &Holder,
        ttl: Duration,
        held: &mut dyn FnMut(&EngineError) -> Patience,
    ) -> Result<Self, EngineError> {
        if ttl < LEAST_TTL {
            let words = format!("a session lives for {} s at least", LEAST_TTL.as_secs());
            return Err(EngineError::new(Layer::Consul, ErrorKind::Invalid, "lock", words));
        }
        let name = format!("eos operation {}", holder.operation);
        let session = consul.create_session(&name, ttl, LOCK_DELAY).await?;
        let renewal = tokio::spawn(renew(consul.clone(), session.clone(), ttl));
        let mut lock = ComponentLock {
            consul: consul.clone(),
            session,
            keys: Vec::new(),
            renewal,
            is_released: false,
        };
        let keys: Vec<LockKey> = components.iter().map(LockKey::new).collect();
        // Taking one over is two operations. Mostly there is one chunk, and so all or none; with more the order is
        // the same for everybody, and what was taken is given back.
        for chunk in keys.chunks(TRANSACTION / 2) {
            loop {
                match lock.take(chunk, holder).await {
                    Ok(()) => break,
                    Err(error) if error.kind == ErrorKind::Conflict && held(&error) == Patience::Left => {}
                    Err(error) => {
                        // What went wrong first is what a person must know; a session that stays ends by itself.
                        lock.release().await.ok();
                        return Err(error);
                    }
                }
                waiting::on(tokio::time::sleep(LOOK)).await;
            }
            lock.keys.extend_from_slice(chunk);
        }
        Ok(lock)
    }

    /// All of the keys or none. Those of the same operation are moved from session to session in one transaction:
    /// to end the other session first would hold them back for the lock delay, and let others in between.
    async fn take(&self, keys: &[LockKey], holder: &Holder) -> Result<(), EngineError> {
        let value = serde_json::to_vec(holder).expect("a holder has a JSON form");
        let mut left = BTreeSet::new();
        let mut before = Vec::new();
        for key in keys {
            match held(&self.consul, key).await? {
                Held::By {
                    session,
                    holder: Some(found),
                } if found.operation == holder.operation => {
                    left.insert(session.clone());
                    before.push(Some(session));
                }
                _ => before.push(None),
            }
        }
        let mut work = Vec::new();
        for (LockKey { key, .. }, before) in keys.iter().zip(&before) {
            if let Some(session) = before {
                work.push(KeyWork::Unlock {
                    key,
                    session,
                    value: &value,
                });
            }
            work.push(KeyWork::Lock {
                key,
                session: &self.session,
                value: &value,
            });
        }
        match self.consul.transact("lock of components", &work).await? {
            Transaction::Done => {}
            Transaction::RolledBack { at, words } => {
                let key = keys
                    .iter()
                    .find(|key| Some(key.key.as_str()) == work.get(at).map(KeyWork::key));
                let Some(key) = key else {
                    let object = "lock of components";
                    return Err(EngineError::new(Layer::Consul, ErrorKind::Failed, object, words));
                };
                return Err(refusal(key, held(&self.consul, key).await?, &words));
            }
        }
        // They hold nothing any more; ended, they cannot be taken for alive.
        for session in left {
            self.consul.destroy_session(&session).await?;
        }
        Ok(())
    }

    /// Asks Consul whether every lock is still this one's; `Conflict` names the one that is not.
    pub async fn still_held(&self) -> Result<(), EngineError> {
        for keys in self.keys.chunks(TRANSACTION) {
            let work: Vec<KeyWork<'_>> = keys
                .iter()
                .map(|LockKey { key, .. }| KeyWork::CheckSession {
                    key,
                    session: &self.session,
                })
                .collect();
            let Transaction::RolledBack { at, words } =
                self.consul.transact("lock of components", &work).await?
            else {
                continue;
            };
            let Some(key) = keys.get(at) else {
                let object = "lock of components";
                return Err(EngineError::new(Layer::Consul, ErrorKind::Failed, object, words));
            };
            let now = match held(&self.consul, key).await? {
                Held::By { holder, .. } => format!("now {}", by(holder.as_ref())),
                Held::Nobody => "no operation holds it now".to_owned(),
            };
            return Err(key
                .error(ErrorKind::Conflict, format!("the operation lost it; {now}"))
                .with_hint("Its session expired or was ended; `eos resume` takes the lock again"));
        }
        Ok(())
    }

    /// Gives the locks back and ends the session.
    pub async fn release(mut self) -> Result<(), EngineError> {
        self.is_released = true;
        self.renewal.abort();
        release(&self.consul, &self.session, &self.keys).await
    }
}

impl Drop for ComponentLock {
    /// Without a runtime that goes on, the session ends by its time.
    fn drop(&mut self) {
        if self.is_released {
            return;
        }
        self.renewal.abort();
        if let Ok(runtime) = Handle::try_current() {
            let (consul, session) = (self.consul.clone(), std::mem::take(&mut self.session));
            let keys = std::mem::take(&mut self.keys);
            runtime.spawn(async move { release(&consul, &session, &keys).await });
        }
    }
}

/// The keys go first, each if it is still the session's: the end of a session would hold them back for a while.
async fn release(consul: &ConsulClient, session: &str, keys: &[LockKey]) -> Result<(), EngineError> {
    for LockKey { key, component } in keys {
        let work = [KeyWork::CheckSession { key, session }, KeyWork::Delete { key }];
        // Rolled back: somebody else's by now.
        consul.transact(&format!("lock of {component}"), &work).await?;
    }
    consul.destroy_session(session).await
}

/// Renews until the session is gone. Whether it is held is asked of Consul itself, before each step.
async fn renew(consul: ConsulClient, session: String, ttl: Duration) {
    let mut pause = ttl / 3;
    loop {
        tokio::time::sleep(pause).await;
        pause = match consul.renew_session(&session).await {
            Ok(()) => ttl / 3,
            Err(error) if error.kind == ErrorKind::NotFound => return,
            Err(_) => RENEW_AGAIN,
        };
    }
}

async fn held(consul: &ConsulClient, key: &LockKey) -> Result<Held, EngineError> {
    let found = consul.key(&key.key).await?;
    Ok(
        match found.and_then(|found| Some((found.session?, found.value))) {
            None => Held::Nobody,
            // A value that is no holder was written by something else; the session holds the key all the same.
            Some((session, value)) => Held::By {
                session,
                holder: serde_json::from_slice(&value).ok(),
            },
        },
    )
}

fn refusal(key: &LockKey, held: Held, words: &str) -> EngineError {
    match held {
        Held::By { holder, .. } => {
            let error = key.error(ErrorKind::Conflict, by(holder.as_ref()));
            match holder {
                Some(Holder { operation, .. }) => error.with_hint(format!(
                    "If it was killed, `eos resume {operation}` in its estate continues it at once; \
                     otherwise its lock expires by itself"
                )),
                None => error,
            }
        }
        Held::Nobody if words.contains("lock delay") => key.error(
            ErrorKind::Conflict,
            format!(
                "its holder ended a moment ago; Consul delays the next lock for {} s",
                LOCK_DELAY.as_secs()
            ),
        ),
        // It was given back between the attempt and the look.
        Held::Nobody => key.error(ErrorKind::Conflict, words.to_owned()),
    }
}

fn by(holder: Option<&Holder>) -> String {
    match holder {
        Some(Holder {
            operation,
            who,
            since,
        }) => format!("held by operation {operation} of {who}, since {since:.0}"),
        None => "held by something other than Eos".to_owned(),
    }
}
