#!/bin/sh
# node-release.sh MAJOR: prints the folder of a Node that `setup.sh tests` installs: 20 (20.19, the oldest that the program runs on), 24 or
# 26. Fails if it is not installed; prints nothing on platforms that npm has no Node for.
set -eu
case $(uname -sm) in
'Linux x86_64') platform=linux-x64 ;;
'Linux aarch64') platform=linux-arm64 ;;
*) exit 0 ;;
esac
cd "$(dirname "$0")/../test/node-releases"
folder=$PWD/node_modules/node-$1-$platform/bin
if [ ! -x "$folder/node" ]; then
  echo "Node $1 is not installed: run scripts/setup.sh tests" >&2
  exit 1
fi
echo "$folder"
