# All development commands; `just --list` describes them. `just` is part of the development
# environment: `python3 scripts/environment.py --dev`, then `.venv/bin/just`.

set windows-shell := ["powershell.exe", "-NoLogo", "-Command"]

bin := if os_family() == "windows" { ".venv/Scripts" } else { ".venv/bin" }
python := bin / "python"
base_python := if os_family() == "windows" { "python" } else { "python3" }

# Run the linters, then the tests.
default: lint test

# Create or update the development environment.
setup:
    {{ base_python }} scripts/environment.py --dev

# Build the sdist and the wheel, and run the wheel from a new environment.
build:
    {{ python }} scripts/package.py

# Build the desktop bundle (.mcpb) into dist/.
mcpb *args:
    {{ python }} scripts/mcpb.py {{ args }}

# Build the components from source and write their lock.
wasm *args:
    {{ base_python }} scripts/build-wasm {{ args }}

# Build the components again and compare them with the committed ones.
rebuild:
    {{ python }} scripts/rebuild.py

# Build the example plugins in Python and JavaScript, and run their fixtures. Needs npm.
examples:
    {{ python }} scripts/examples.py

# Build the native parsers, which tests compare the sandbox with; `--optimised` for benchmarks. Needs Rust.
native *args:
    {{ base_python }} scripts/native.py {{ args }}

# Install the registries and clients that tests compare with; the first run takes 15 minutes.
peers *args:
    {{ base_python }} scripts/peers.py {{ args }}

# Run the default tests; `--all` runs all, other arguments are pytest's.
test *args:
    {{ base_python }} scripts/test.py {{ args }}

# Check style and formatting of Python.
lint:
    {{ bin }}/ruff check .
    {{ bin }}/ruff format --check .

# Format the code and apply automatic fixes, in Python and Rust.
fix:
    {{ bin }}/ruff check --fix .
    {{ bin }}/ruff format .
    cargo fmt --all

# Check types, strictly.
types:
    {{ bin }}/mypy

# Check style and formatting of Rust.
rust-lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked --quiet -- --deny warnings
    cd examples/extism-plugin && cargo fmt --all --check
    cd examples/extism-plugin && cargo clippy --all-targets --locked --quiet -- --deny warnings

# Run the tests of the Rust crates.
rust-test:
    cargo test --workspace --locked --quiet
    cd examples/extism-plugin && cargo test --locked --quiet

# Run everything that CI runs, with the installed toolchains.
check: lint types rust-lint rust-test native (wasm "--check") rebuild examples (wasmtime "--sample") build (bench "--quick") (test "--all" "--sample")

# Run the sandbox tests on several versions of wasmtime-py; `--sample` runs a sample, as CI does.
wasmtime *args:
    {{ python }} scripts/wasmtime_versions.py {{ args }}

# Query a source and record its responses: `just record arxiv_query id_list=2301.00001 --into DIR`.
record *args:
    {{ python }} -m carrel record {{ args }}

# Fuzz a parser: `just fuzz arxiv_feed`. Needs cargo-fuzz.
fuzz target *args:
    cargo +nightly fuzz run {{ target }} {{ args }}

# Check that documentation and code agree, and that snippets run.
docs:
    {{ python }} -m pytest tests/docs

# Start the server of this checkout.
serve *args:
    {{ python }} -m carrel serve {{ args }}

# Make the pictures of pages in the documentation: all, or `graph` or `page`.
pictures *args:
    {{ python }} scripts/screenshot.py {{ args }}

# Run the benchmarks, as ratios to counterparts in the same run.
bench *args:
    {{ python }} -m bench {{ args }}

# Regenerate constraints.txt; `just pin --upgrade` takes the newest versions.
pin *args:
    {{ bin }}/uv pip compile --quiet --universal --python-version 3.11 --group dev --all-extras \
        --no-annotate --custom-compile-command "just pin" {{ args }} \
        --output-file constraints.txt pyproject.toml

# Remove all build output and the environment.
clean:
    git clean -Xdfq -- .venv dist target .pytest_cache .mypy_cache .ruff_cache .hypothesis bench
