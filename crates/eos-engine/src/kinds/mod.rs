//! Kinds: how each sort of thing is read back from the engine that owns it. One file a kind; this one sends each to its own.

mod file;
pub mod host;
mod job;
mod resource;
mod route;
mod rules;
mod secret;
mod volume;
mod workspace;

use eos_core::kinds::secret::Moved;
use eos_core::kinds::{Acted, Made, Proof, Unmade};
use eos_core::plan::Step;

use crate::error::EngineError;
use crate::steps::{Context, Progress, Verified};

pub(crate) async fn make(
    context: &Context<'_>,
    step: &Step,
    made: &Made,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    match made {
        Made::File(part) => file::make(context, step, part, progress).await,
        Made::Volume(part) => volume::make(context, step, part, progress).await,
        Made::Workspace(part) => workspace::make(context, step, part, progress).await,
        Made::Rules(_) => rules::make(context, step, progress).await,
    }
}

pub(crate) async fn unmake(
    context: &Context<'_>,
    step: &Step,
    unmade: &Unmade,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    match unmade {
        Unmade::File(part) => file::unmake(context, step, part, progress).await,
        Unmade::Volume(part) => volume::unmake(context, step, part, progress).await,
        Unmade::Workspace(part) => workspace::unmake(context, step, part, progress).await,
        Unmade::Rules(part) => rules::unmake(context, step, part, progress).await,
    }
}

pub(crate) async fn act(
    context: &Context<'_>,
    step: &Step,
    acted: &Acted,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    match acted {
        Acted::Job(acted) => job::act(context, step, acted, progress).await,
    }
}

pub(crate) async fn prove(
    context: &Context<'_>,
    step: &Step,
    proof: &Proof,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    match proof {
        Proof::Healthy(proof) => job::prove_healthy(context, step, proof, progress).await,
        Proof::Ended(proof) => job::prove_ended(context, step, proof, progress).await,
        Proof::Scheduled(proof) => job::prove_scheduled(context, step, proof).await,
        Proof::Stopped(proof) => job::prove_stopped(context, step, proof, progress).await,
        Proof::Gone(proof) => job::prove_gone(context, step, proof, progress).await,
        Proof::Kept(proof) => volume::prove_kept(context, proof).await,
        Proof::Host(proof) => host::prove(context, proof).await,
        Proof::Present(proof) => resource::prove_present(context, step, proof).await,
        Proof::Routed(proof) => route::prove_routed(context, step, proof, progress).await,
        Proof::Unwatched(proof) => rules::prove_unwatched(context, step, proof, progress).await,
    }
}

pub(crate) async fn move_secrets(
    context: &Context<'_>,
    step: &Step,
    moved: &Moved,
    progress: Progress<'_>,
) -> Result<Verified, EngineError> {
    secret::move_values(context, step, moved, progress).await
}
