//! Generated files: in the estate, and in the release that Salt serves.

use super::{Difference, FileChange, FileSeen, Layer, Look, Object, Verdict};

pub fn verdicts(look: &Look<'_>) -> Vec<Object> {
    if !look.is_whole() {
        return Vec::new();
    }
    let key = look.platform();
    let mut objects: Vec<Object> = look
        .seen
        .estate
        .iter()
        .map(|file| verdict(look, file, "the estate"))
        .collect();
    match &look.seen.release {
        None => {}
        Some(Err(silent)) => {
            let mut object = look.object(&key, "file/salt/release", Layer::Files, Verdict::Unreachable);
            object.note = Some(silent.words.clone());
            objects.push(object);
        }
        Some(Ok(files)) => objects.extend(files.iter().map(|file| verdict(look, file, "the release"))),
    }
    objects
}

pub fn verdict(look: &Look<'_>, file: &FileSeen, place: &str) -> Object {
    let object = format!("file/{}", file.path);
    let kind = match file.how {
        FileChange::Changed => Verdict::Changed,
        FileChange::Missing => Verdict::Missing,
        FileChange::Strange => Verdict::Unowned,
    };
    let mut object = look.object(&look.platform(), object, Layer::Files, kind);
    object.place = Some(place.to_owned());
    if file.how == FileChange::Changed {
        object.attributes = vec![Difference::named("content")];
    }
    object
}
