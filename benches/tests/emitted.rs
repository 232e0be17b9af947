//! Holds what is emitted, and what one creation reaches, to the bounds of `ratios.py` without a release build.

use eos_benches::{BYTES_PER_COMPONENT, FILES_OF_ONE_CREATE, Mix, is_of_another};
use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::intent::edit;
use eos_core::pillar::{Pillar, PillarFiles};
use eos_core::profile::Profile;
use std::collections::BTreeSet;
use std::sync::LazyLock;

const FEW: usize = 12;
const MANY: usize = 330;

static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| Catalog::load(&[]).expect("the built-in recipes are sound"));
/// Made once: it tries every option of every recipe.
static MIX: LazyLock<Mix<'static>> = LazyLock::new(|| Mix::of(&CATALOG));

fn compiled(files: &PillarFiles) -> Compilation {
    let pillar = Pillar::read(files).expect("a made-up pillar is sound");
    compile(&pillar, &CATALOG, Profile::Solo).expect("a made-up estate compiles")
}

/// What each further component adds, since the files of hosts are as large in any estate.
#[test]
fn a_component_emits_no_more_bytes_than_its_bound() {
    let [few, many] = [FEW, MANY].map(|components| compiled(&MIX.estate(components)));
    let bytes = |of: &Compilation| of.artifacts.values().map(Vec::len).sum::<usize>();
    let each = (bytes(&many) - bytes(&few)) / (many.components.len() - few.components.len());
    assert!(each <= BYTES_PER_COMPONENT, "{each} bytes a component");
}

#[test]
fn a_creation_writes_few_files_and_none_of_other_components() {
    let files = MIX.estate(FEW);
    let before = compiled(&files).artifacts;
    // One of each kind of recipe that is there many times.
    for number in 0..MIX.repeated() {
        let intent = MIX.creation(FEW, number);
        let edited = edit(&files, &CATALOG, &intent).expect("one more component is taken");
        let after = compiled(&edited).artifacts;
        let touched: BTreeSet<&String> = (edited.iter())
            .filter(|(path, bytes)| files.get(*path) != Some(bytes))
            .chain(
                after
                    .iter()
                    .filter(|(path, bytes)| before.get(*path) != Some(bytes)),
            )
            .map(|(path, _)| path)
            .chain(before.keys().filter(|path| !after.contains_key(*path)))
            .collect();
        let component = intent.sentence.component().expect("it creates a component");
        assert!(
            touched.iter().any(|path| path.contains(component)),
            "{component} is not written"
        );
        assert!(
            touched.len() <= FILES_OF_ONE_CREATE,
            "{component} writes {touched:#?}"
        );
        let foreign: Vec<_> = touched
            .iter()
            .filter(|path| is_of_another(path, component))
            .collect();
        assert!(foreign.is_empty(), "{component} writes {foreign:#?}");
    }
}
