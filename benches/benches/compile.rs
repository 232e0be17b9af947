//! How long reading and compiling take in estates of 10, 100 and 1,000 components.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use eos_benches::Mix;
use eos_core::catalog::Catalog;
use eos_core::compile::compile;
use eos_core::pillar::Pillar;
use eos_core::profile::Profile;
use std::hint::black_box;

fn estates(criterion: &mut Criterion) {
    let catalog = Catalog::load(&[]).expect("the built-in recipes are sound");
    let mix = Mix::of(&catalog);
    let mut group = criterion.benchmark_group("estate");
    group.sample_size(10);
    for components in [10, 100, 1_000] {
        let files = mix.estate(components);
        let pillar = Pillar::read(&files).expect("a made-up pillar is sound");
        group.throughput(Throughput::Elements(components as u64));
        group.bench_with_input(BenchmarkId::new("read", components), &files, |bench, files| {
            bench.iter(|| Pillar::read(black_box(files)));
        });
        group.bench_with_input(
            BenchmarkId::new("compile", components),
            &pillar,
            |bench, pillar| {
                bench.iter(|| compile(black_box(pillar), &catalog, Profile::Solo));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, estates);
criterion_main!(benches);
