#!/bin/sh
# newer-node.sh MAJOR: prints the folder of a newer Node that `setup.sh tests` has installed, as of 26; nothing on platforms that
# it does not exist for.
cd "$(dirname "$0")/../test/newer-node" || exit 1
for folder in "$PWD/node_modules/node-$1-linux-"*/bin; do
  [ ! -x "$folder/node" ] || echo "$folder"
done
