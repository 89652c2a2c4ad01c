# Types lines into a shell on a terminal of its own, with Tab at the end of each, and prints what they are then, one a line.
# Arguments: the shell; a line that it gets first, after which Ctrl-X makes it print its line as <LINE> and empty it; the lines.
zmodload zsh/zpty

# Reads what the terminal shows, until something like this has been there.
await() {
  local all= part
  until [[ $all == *$~1* ]]; do
    zpty -r terminal part || exit 1
    all+=$part
  done
  REPLY=$all
}

zpty terminal $1
zpty -w terminal "$2; echo READ''Y" # as it is typed, it does not look so
await READY
for line in "${@[3,-1]}"; do
  zpty -w -n terminal "$line"$'\t\x18'
  await '<*>'
  print -r -- "${${REPLY##*<}%%>*}"
done
zpty -d terminal
