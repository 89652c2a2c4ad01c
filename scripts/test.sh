#!/bin/sh
# Checks everything: types, lint, format, build, all tests. Installs what is missing first.
# All steps run, also after a failure; each prints its duration. The last line is the sum of jest's counts: "N passed, N failed".
# The hermetic tests run on a newer Node, too, where there is one (scripts/newer-node.sh).
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

jest() {
  npm run --silent jest -- --json "$@"
}

# On this Node and, where there is one, on the newer one.
hermetic_tests() {
  status=0
  for folder in "$(dirname "$(command -v node)")" $(sh scripts/newer-node.sh); do
    version=$("$folder/node" --version)
    echo "on Node $version"
    PATH="$folder:$PATH" nice -n 19 npm run --silent jest -- --json --selectProjects hermetic --maxWorkers=2 \
      --outputFile="$results/hermetic-$version.json" || status=1
  done
  return "$status"
}

# Waits for a background job, and shows its output.
finished() {
  wait "$1"
  status=$?
  cat "$2"
  rm -f "$2"
  return "$status"
}

step setup sh scripts/setup.sh tests
if [ -z "$failed" ]; then
  typecheck_log=$(mktemp)
  npm run --silent typecheck >"$typecheck_log" 2>&1 </dev/null &
  typecheck=$!
  step lint npm run --silent lint
  step format npm run --silent format:check
  step typecheck finished "$typecheck" "$typecheck_log"
  step build npm run --silent build
  # These take what the others leave of the processors: kernel tests wait more than they work.
  hermetic_log=$(mktemp)
  hermetic_tests >"$hermetic_log" 2>&1 </dev/null &
  hermetic=$!
  step tests jest --selectProjects contained kernel package --maxWorkers=3 --outputFile="$results/tests.json"
  step 'hermetic tests' finished "$hermetic" "$hermetic_log"
  # These run alone, because they measure.
  step timed jest --selectProjects timed --runInBand --outputFile="$results/timed.json"
  step permissions node scripts/check-permissions.mjs "$RECORDED_PERMISSIONS"
fi

[ -z "$failed" ] || echo "failed:$failed" >&2
node scripts/test-summary.mjs "$results" || failed="$failed summary"
[ -z "$failed" ]
