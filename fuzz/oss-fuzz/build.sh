#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz requires them. Each target has three files in $OUT: its
# program, its dictionary and its seed corpus.
#
# The image of OSS-Fuzz sets the variables, and selects a nightly toolchain by RUSTUP_TOOLCHAIN.
# `.ci/run oss-fuzz` sets the same.
cd "$SRC/spanwire/fuzz"

system=x86_64-unknown-linux-gnu
if [ "$SANITIZER" = coverage ]; then
    # The image replaces `cargo fuzz build` by a build without features, which has no targets.
    # Reports show sources by absolute paths. Build scripts do not count.
    export RUSTFLAGS="$RUSTFLAGS -C debug-assertions=no --remap-path-prefix targets=$PWD/targets"
    cargo build --bins --features libfuzzer --target "$system" --target-dir "$WORK/target"
    programs=$WORK/target/$system/debug
else
    # OSS-Fuzz expects a sanitizer in each program, although the code has no `unsafe`.
    cargo fuzz build --fuzz-dir . --features libfuzzer -O --debug-assertions \
        --target "$system" --target-dir "$WORK/target"
    programs=$WORK/target/$system/release
fi

for target in $(./run list); do
    cp "$programs/$target" "$OUT/"
    ./dictionary "$target" > "$OUT/$target.dict"
    rm -f "$OUT/${target}_seed_corpus.zip"
    zip --quiet --junk-paths --recurse-paths "$OUT/${target}_seed_corpus.zip" "corpus/$target"
done
