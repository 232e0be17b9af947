//! The estate's repository: locks that a killed git left there, what git cannot read, and a store that does not know what
//! the repository knows.

use std::time::Duration;

use super::files::quoted;
use super::{Area, Condition, Finding};
use crate::error::EngineError;
use crate::estate::Estate;
use crate::home;

/// How long git may read all of its objects.
const READING: Duration = Duration::from_secs(10);

/// Nothing where all is well, and where the estate is no repository of its own.
pub(super) async fn findings(estate: &Estate) -> Vec<Finding> {
    if estate.root.join(".git").symlink_metadata().is_err() {
        return Vec::new();
    }
    let (damage, lost) = tokio::join!(damage(estate), lost_store(estate));
    left_locks(estate).into_iter().chain(damage).chain(lost).collect()
}

/// The next commit of Eos clears them; git itself and other programs do not.
fn left_locks(estate: &Estate) -> Vec<Finding> {
    let left = estate.repository().left_locks().into_iter();
    left.map(|lock| {
        let words = format!("a git that is gone left {}", lock.display());
        let mend = format!("rm {}", quoted(&lock));
        Finding::not_ok(Area::Estate, "repository", Condition::Limited, words, mend)
    })
    .collect()
}

async fn damage(estate: &Estate) -> Option<Finding> {
    let fsck = format!("git -C {} fsck", quoted(&estate.root));
    let found = |condition, words: String| {
        Some(Finding::not_ok(
            Area::Estate,
            "repository",
            condition,
            words,
            fsck.clone(),
        ))
    };
    match tokio::time::timeout(READING, estate.repository().read_all()).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => found(Condition::Broken, words_and_hint(&error)),
        Err(_) => {
            let words = format!("git did not read all of it in {} s", READING.as_secs());
            found(Condition::Limited, words)
        }
    }
}

fn words_and_hint(error: &EngineError) -> String {
    let words = error.words.lines().next().unwrap_or_default();
    match &error.hint {
        Some(hint) => format!("{words}: {hint}"),
        None => words.to_owned(),
    }
}

/// `operations` tells of a store that cannot be read.
async fn lost_store(estate: &Estate) -> Option<Finding> {
    let store = estate.store_to_read().ok()?;
    let error = home::refuse_lost_store(estate, &store, None).await.err()?;
    Some(Finding::not_ok(
        Area::Estate,
        "store",
        Condition::Broken,
        error.words,
        "eos home take",
    ))
}
