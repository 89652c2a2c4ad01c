#!/bin/sh
# Prints the folder of the newer Node that `setup.sh tests` has installed; nothing on platforms that it does not exist for.
cd "$(dirname "$0")/../test/newer-node" || exit 1
for folder in "$PWD"/node_modules/node-linux-*/bin; do
  [ ! -x "$folder/node" ] || echo "$folder"
done
