#!/bin/sh
# Checks everything: types, lint, format, build, all tests. Installs what is missing first.
# All steps run, also after a failure; each prints its duration. The last line is the sum of jest's counts: "N passed, N failed".
# Everything runs on Node 24, whichever Node runs npm; tests of the whole program also on 20.19, the oldest, and 26, at night all that touch
# Node (scripts/node-api-tests.mjs).
# TEST_RESULTS: a folder that receives jest's results as JSON.
set -u
cd "$(dirname "$0")/.." || exit 1
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
export PATH

results=${TEST_RESULTS:-}
if [ -z "$results" ]; then
  results=$(mktemp -d)
  made_results=$results
fi
mkdir -p "$results"
failed=''
RECORDED_PERMISSIONS=$(mktemp -d)
export RECORDED_PERMISSIONS
trap 'rm -rf "$RECORDED_PERMISSIONS" ${made_results:-}' EXIT

step() {
  name=$1
  shift
  echo "== $name"
  began=$(date +%s)
  if "$@" </dev/null; then
    echo "== $name: ok ($(($(date +%s) - began)) s)"
  else
    echo "== $name: FAILED ($(($(date +%s) - began)) s)" >&2
    failed="$failed $name"
  fi
}

# Jest, as words of a command. A run that does not end within 40 minutes is a failure that names its files, not a build machine that waits.
jest='timeout --kill-after=30 2400 npm run --silent jest -- --json'

# What measures nothing, beside the timed tests. It takes what they leave of the processors, and not a moment that they want.
of_the_text() {
  for check in typecheck lint format:check site; do
    step "$check" idly npm run --silent "$check"
  done
  [ -z "$failed" ]
}

of_the_package() {
  step package idly $jest --selectProjects package --runInBand --outputFile="$results/package.json"
  [ -z "$failed" ]
}

idly() {
  chrt --idle 0 "$@"
}

# What needs no kernel. Hermetic tests take mostly what the kernel tests leave of the processors: those wait more than they work.
# At 19 instead of 5 there are minutes in which nothing is left, and what opens connections takes that for a server that hangs.
without_kernel() {
  hermetic "$(dirname "$(command -v node)")"
  for major in 20 26; do
    folder=$(sh scripts/node-release.sh "$major")
    # shellcheck disable=SC2046 # a list of files
    [ -z "$folder" ] || hermetic "$folder" --runTestsByPath $(node scripts/node-api-tests.mjs)
  done
  [ -z "$failed" ]
}

# Hermetic tests on the Node of a folder.
hermetic() {
  folder=$1
  shift
  version=$("$folder/node" --version)
  step "hermetic tests on Node $version" gently env PATH="$folder:$PATH" $jest \
    --selectProjects hermetic --maxWorkers=2 --outputFile="$results/hermetic-$version.json" "$@"
}

gently() {
  nice -n 5 "$@"
}

# Starts functions among those above in the background. What fails in them is their own.
beside() {
  logs=$(mktemp -d)
  others=''
  for work in "$@"; do
    (
      failed=''
      "$work"
    ) >"$logs/$work" 2>&1 &
    others="$others $work:$!"
  done
}

# Waits for them, and shows their output.
finished() {
  worst=0
  for work in $others; do
    wait "${work#*:}" || worst=$?
    cat "$logs/${work%:*}"
  done
  rm -rf "$logs"
  return "$worst"
}

step setup sh scripts/setup.sh tests
if [ -z "$failed" ]; then
  folder=$(sh scripts/node-release.sh 24)
  PATH=${folder:+$folder:}$PATH
  step build npm run --silent build
  beside without_kernel
  step 'simulated worlds' $jest --selectProjects worlds --outputFile="$results/worlds.json"
  step 'kernel tests' $jest --selectProjects contained kernel --maxWorkers=3 --outputFile="$results/tests.json"
  step 'tests without a kernel' finished
  # Other stories each night; those of the kernel tests are the same each time.
  for mode in ${NIGHTLY:+$(npm run --silent fuzz -- --modes)}; do
    step "fuzz in $mode mode" npm run --silent fuzz -- --mode "$mode" --minutes 30 --seed "$(date +%s)"
  done
  beside of_the_text of_the_package
  # Nothing that does not wait for an idle processor runs beside these, because they measure.
  step timed $jest --selectProjects timed --runInBand --outputFile="$results/timed.json"
  step 'beside the timed tests' finished
  # No test depends on this machine's speed: a guest has a clock of its own.
  [ -z "${NIGHTLY:-}" ] || step 'Debian kernels' npm run --silent test:kernels
  step permissions node scripts/check-permissions.mjs "$RECORDED_PERMISSIONS"
fi

[ -z "$failed" ] || echo "failed:$failed" >&2
node scripts/test-summary.mjs "$results" || failed="$failed summary"
[ -z "$failed" ]
