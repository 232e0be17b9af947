//! The lock of components against a real Consul: held, lost, given back, and taken over from the dead.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::consul::{Consul, TOKEN, client};
use crate::process::{apart, engine_of};
use eos_engine::component_lock::{ComponentLock, Holder, TTL};
use eos_engine::lock::patience;
use eos_engine::{ConsulClient, EngineError, ErrorKind, Layer, env_names};
use jiff::Timestamp;

/// The least that Consul takes; it ends a session after one to two of them.
const SHORT: Duration = Duration::from_secs(10);
const AT_ONCE: Duration = Duration::from_secs(1);

pub fn components(names: &[&str]) -> BTreeSet<(String, String)> {
    names
        .iter()
        .map(|name| ("production".to_owned(), (*name).to_owned()))
        .collect()
}

pub fn holder(operation: &str) -> Holder {
    Holder {
        operation: operation.to_owned(),
        who: "ada".to_owned(),
        since: Timestamp::now(),
    }
}

async fn take(consul: &ConsulClient, operation: &str, names: &[&str]) -> Result<ComponentLock, EngineError> {
    ComponentLock::try_acquire(consul, &components(names), &holder(operation), TTL).await
}

async fn refused(consul: &ConsulClient, operation: &str, names: &[&str]) -> EngineError {
    match take(consul, operation, names).await {
        Ok(_) => panic!("{operation} got what another holds"),
        Err(error) => error,
    }
}

pub async fn session_of(consul: &ConsulClient, name: &str) -> Option<String> {
    let key = format!("terraform/production/{name}/lock");
    consul.key(&key).await.unwrap().and_then(|key| key.session)
}

/// What a process leaves that took the lock and was killed: its session, which nobody renews.
pub fn killed(address: &str, operation: &str, names: &[&str], ttl: Duration) {
    apart(async || {
        let consul = client(address, TOKEN);
        let (components, holder) = (components(names), holder(operation));
        let lock = ComponentLock::wait(
            &consul,
            &components,
            &holder,
            ttl,
            &mut patience(Duration::from_secs(8)),
        )
        .await;
        std::mem::forget(lock.unwrap());
    });
}

#[tokio::test]
async fn components_are_locked_across_machines() {
    let Some(program) = engine_of(env_names::TEST_CONSUL) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mut consul = Consul::start(&program, directory.path()).await;
    let whole = async {
        a_held_lock_names_its_holder_and_a_released_one_is_free(&consul.client).await;
        a_dropped_lock_is_free_too(&consul.client).await;
        a_lost_lock_is_noticed(&consul.client).await;
        the_same_operation_takes_over_at_once(&consul).await;
        another_operation_takes_over_when_the_dead_ones_time_is_over(&consul).await;
        let (grafana, first) = (components(&["grafana"]), holder("01A"));
        let too_short = Duration::from_secs(9);
        let refused = ComponentLock::try_acquire(&consul.client, &grafana, &first, too_short).await;
        assert_eq!(refused.err().unwrap().kind, ErrorKind::Invalid);
        let lock = take(&consul.client, "01A", &["grafana"]).await.unwrap();
        consul.agent.kill();
        let error = lock.still_held().await.unwrap_err();
        assert_eq!((error.layer, error.kind), (Layer::Consul, ErrorKind::Unreachable));
        assert_eq!(lock.release().await.unwrap_err().kind, ErrorKind::Unreachable);
    };
    tokio::time::timeout(Duration::from_secs(150), whole)
        .await
        .expect("the whole test has a time limit");
}

async fn a_held_lock_names_its_holder_and_a_released_one_is_free(consul: &ConsulClient) {
    let lock = take(consul, "01A", &["grafana", "postgres"]).await.unwrap();
    lock.still_held().await.unwrap();
    let error = refused(consul, "01B", &["minio", "postgres"]).await;
    assert_eq!(
        (error.kind, error.object.as_str()),
        (ErrorKind::Conflict, "lock of production/postgres")
    );
    assert!(
        error.words.starts_with("held by operation 01A of ada, since "),
        "{error}"
    );
    assert!(error.hint.unwrap().contains("eos resume 01A"));
    // All or none: the one that was free is free.
    assert_eq!(session_of(consul, "minio").await, None);

    let wanted = components(&["postgres"]);
    let begun = Instant::now();
    let second = holder("01B");
    let mut long = patience(Duration::from_secs(20));
    let waiting = ComponentLock::wait(consul, &wanted, &second, TTL, &mut long);
    let release = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        lock.release().await.unwrap();
    };
    let (got, ()) = tokio::join!(waiting, release);
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    got.unwrap().release().await.unwrap();
    assert_eq!(
        consul.key("terraform/production/postgres/lock").await.unwrap(),
        None
    );
}

async fn a_dropped_lock_is_free_too(consul: &ConsulClient) {
    drop(take(consul, "01A", &["grafana"]).await.unwrap());
    let wanted = components(&["grafana"]);
    let begun = Instant::now();
    let lock = ComponentLock::wait(
        consul,
        &wanted,
        &holder("01B"),
        TTL,
        &mut patience(Duration::from_secs(20)),
    )
    .await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    lock.unwrap().release().await.unwrap();
}

async fn a_lost_lock_is_noticed(consul: &ConsulClient) {
    let lock = take(consul, "01A", &["grafana", "minio"]).await.unwrap();
    let session = session_of(consul, "minio").await.unwrap();
    consul.destroy_session(&session).await.unwrap();
    let error = lock.still_held().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert!(
        error
            .words
            .contains("the operation lost it; no operation holds it now"),
        "{error}"
    );
    // The end of a session holds its keys back for a while.
    let error = refused(consul, "01B", &["minio"]).await;
    assert!(
        error.words.contains("Consul delays the next lock for 5 s"),
        "{error}"
    );
    let wanted = components(&["minio"]);
    let other = ComponentLock::wait(
        consul,
        &wanted,
        &holder("01B"),
        TTL,
        &mut patience(Duration::from_secs(8)),
    )
    .await
    .unwrap();
    let error = take(consul, "01A", &["minio"]).await.err().unwrap();
    assert!(error.words.contains("operation 01B"), "{error}");
    // What was lost is not given back for the one who has it now.
    lock.release().await.unwrap();
    other.still_held().await.unwrap();
    other.release().await.unwrap();
}

async fn the_same_operation_takes_over_at_once(consul: &Consul) {
    killed(&consul.address, "01A", &["grafana", "postgres"], TTL);
    let old = session_of(&consul.client, "grafana").await.unwrap();
    assert_eq!(
        refused(&consul.client, "01B", &["grafana"]).await.kind,
        ErrorKind::Conflict
    );
    let begun = Instant::now();
    let lock = take(&consul.client, "01A", &["grafana", "minio", "postgres"])
        .await
        .unwrap();
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    lock.still_held().await.unwrap();
    let error = consul.client.renew_session(&old).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound, "the old session is ended");
    lock.release().await.unwrap();
}

/// Meanwhile another lock of as short a time is renewed, and stays.
async fn another_operation_takes_over_when_the_dead_ones_time_is_over(consul: &Consul) {
    let renewed = ComponentLock::try_acquire(&consul.client, &components(&["minio"]), &holder("01C"), SHORT)
        .await
        .unwrap();
    killed(&consul.address, "01A", &["grafana"], SHORT);
    let wanted = components(&["grafana"]);
    let begun = Instant::now();
    let lock = ComponentLock::wait(
        &consul.client,
        &wanted,
        &holder("01B"),
        TTL,
        &mut patience(Duration::from_secs(60)),
    )
    .await
    .unwrap();
    assert!(begun.elapsed() > SHORT, "{:?}", begun.elapsed());
    lock.release().await.unwrap();
    renewed.still_held().await.unwrap();
    renewed.release().await.unwrap();
}
